"""From what is stored to what is told. Says only what was measured."""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import ValidationError

from whet import __version__
from whet.agents.catalogue import agent_named
from whet.agents.coverage import CoverageOutcome
from whet.agents.risk import RiskOutcome
from whet.core.ports import RunRecord, Store, TestRecord
from whet.core.records import Alternative, Decision, Experience, Finding, Outcome, Review
from whet.reports.highlights import highlights
from whet.reports.model import CoverageLine, FlakyLine, FoundLine, RiskLine, RunReport, StepLine, TestLine, VisitLine
from whet.reports.recalled import looked_up
from whet.reports.words import percent
from whet.skills.flakiness import Verdict
from whet.tools.python import Python

EARLIER_VISITS = 20
KNOWN_SHOWN = 3


def compose(
    store: Store,
    run: RunRecord,
    new: frozenset[str],
    records: Mapping[str, TestRecord],
    verdicts: Iterable[Verdict],
    python: Python,
    exit_code: int,
) -> RunReport:
    """The report of one run. `new` holds the fingerprints of findings first seen in it."""
    lived = list(reversed(store.experiences.recent(limit=1000, run_id=run.id)))
    outcomes = [(e, o) for e in lived if (o := read_outcome(e)) is not None]
    return RunReport(
        project=run.project,
        run_id=run.id,
        started_at=run.started_at,
        ended_at=run.ended_at,
        seed=run.seed,
        budget_seconds=run.budget_seconds,
        used_seconds=run.summary.get("used_seconds"),
        status=run.status,
        python_path=str(python.path),
        python_version=python.version,
        whet_version=__version__,
        tests=tuple(_test(record) for record in records.values()),
        findings=tuple(_found(f, f.fingerprint() in new, store) for f in settled(store, run)),
        steps=tuple(_step(e, o, run, store) for e, o in outcomes),
        coverage=_coverage(_same_code(store, run, "coverage-analyzer")),
        flaky=_flaky(verdicts),
        risks=_risks(outcomes),
        what_changed=tuple(_used(e) for e, _ in outcomes if _used(e)) if len(store.runs.recent(2)) > 1 else (),
        learning=_visits(store),
        exit_code=exit_code,
    )


def settled(store: Store, run: RunRecord) -> list[Finding]:
    """The run's findings, and those of earlier runs that still hold because the code is the same.

    Failing tests are run anew each time; a test that turned out flaky is no longer called failing.
    """
    earlier = [r for r in store.runs.recent(EARLIER_VISITS) if r.code_version == run.code_version and r.id != run.id]
    lasting = [f for r in earlier for f in store.runs.findings(r.id) if f.kind in ("coverage-gap", "flaky-test")]
    by_print = {f.fingerprint(): f for f in (*reversed(lasting), *reversed(store.runs.findings(run.id)))}
    found = list(reversed(by_print.values()))
    flaky = {f.test for f in found if f.kind == "flaky-test"}
    return [f for f in found if f.kind != "failing-test" or f.test not in flaky]


def read_outcome(experience: Experience) -> Outcome | None:
    """None when another version of Whet recorded it in a form that is not known here."""
    try:
        return agent_named(experience.agent).outcome_type.model_validate(experience.outcome)
    except ValidationError:
        return None


def why(decision: Decision) -> str:
    """Why this action ran, in a sentence."""
    wanted = _alternative(decision, decision.proposed)
    if decision.decided_by == "person":
        return f"a person {decision.review} {decision.action} for this state"
    if decision.decided_by == "safe-default" and decision.policy.startswith("always-"):
        return f"{decision.policy} is set, but that action cannot run here: the safe default did"
    if decision.decided_by == "safe-default" and decision.review == Review.NOT_NEEDED:
        return "nothing is known here yet: the safe default is the baseline"
    if decision.decided_by == "safe-default":
        return (
            f"{decision.proposed} was proposed with confidence {percent(decision.confidence)}, which is too little; "
            "the safe default runs instead, and the proposal waits for review"
        )
    if len(decision.alternatives) == 1:
        return "the only action that makes sense here"
    if decision.confidence is None:
        return f"settings put {decision.policy} in charge of this agent"
    if wanted is not None and wanted.value is None and wanted.source == "network":
        return "preferred by what it was trained on"
    if wanted is None or wanted.value is None:
        return "nothing is known of it here yet, so it was worth a try"
    if decision.explored:
        best = max((a for a in decision.alternatives if a.value is not None), key=lambda a: a.value or 0.0)
        again = "tried again" if wanted.visits else "worth a try"
        return f"{_worth(wanted)}; {again} although {best.action} promises more ({best.value:+.1f})"
    return f"{_worth(wanted)}, the most of {len(decision.alternatives)} actions"


def _worth(alternative: Alternative) -> str:
    where = {
        "individual": f"from {alternative.visits} earlier time(s) in this state",
        "abstract": "from similar states of its own",
        "category": "from agents of its category",
        "fleet": "from the rest of the fleet",
        "memory": "by what states like this one earned",
        "network": "from training",
    }.get(alternative.source, "")
    return f"expected to earn {alternative.value:+.1f} {where}".rstrip()


def _used(experience: Experience) -> str:
    """What the agent knew of its own when it decided, and what it made of it; nothing when it knew nothing."""
    decision = experience.decision
    known = [
        a for a in decision.alternatives if a.source in ("individual", "abstract", "memory") and a.value is not None
    ]
    if experience.agent == "fleet-commander" or not known:
        return ""
    best = sorted(known, key=lambda a: -(a.value or 0.0))[:KNOWN_SHOWN]
    told = ", ".join(f"{a.action} {a.value:+.1f}" for a in best)
    return f"{experience.agent} knew {told}; it ran {decision.action}: {why(decision)}."


def _alternative(decision: Decision, action: str) -> Alternative | None:
    return next((a for a in decision.alternatives if a.action == action), None)


def _test(record: TestRecord) -> TestLine:
    return TestLine(
        id=record.test,
        last_outcome=record.last_outcome,
        mean_seconds=record.mean_seconds,
        executions=record.executions,
        failures=record.failures,
    )


def _found(finding: Finding, new: bool, store: Store) -> FoundLine:
    told = {
        name: looked_up(some, store.memories)
        for name, some in (("memories", finding.memories), ("known", finding.known))
    }
    return FoundLine(finding=finding.model_copy(update=told), new=new)


def _step(experience: Experience, outcome: Outcome, run: RunRecord, store: Store) -> StepLine:
    decision, reward = experience.decision, experience.reward
    return StepLine(
        agent=experience.agent,
        action=decision.action,
        action_summary=agent_named(experience.agent).action(decision.action).summary,
        decided_by=decision.decided_by,
        explored=decision.explored,
        confidence=decision.confidence,
        probability=decision.probability,
        reward_raw=reward.raw,
        reward_shaped=reward.shaped,
        reward_credited=reward.credited,
        parts=reward.parts,
        started_seconds=max(0.0, (decision.at - run.started_at).total_seconds()),
        duration_seconds=outcome.duration_seconds,
        why=why(decision),
        memories=looked_up(decision.memories, store.memories),
        highlights=highlights(outcome),
    )


def _coverage(outcomes: Sequence[tuple[Experience, Outcome]]) -> tuple[CoverageLine, ...] | None:
    measured = [o for _, o in outcomes if isinstance(o, CoverageOutcome) and o.files and not o.lower_bound]
    if not measured:
        return None
    return tuple(CoverageLine(path=f.file, percent=f.percent, missing=f.missing) for f in measured[-1].files)


def _same_code(store: Store, run: RunRecord, agent: str) -> list[tuple[Experience, Outcome]]:
    """What an agent lived on this version of the code, oldest first."""
    same = {r.id for r in store.runs.recent(EARLIER_VISITS) if r.code_version == run.code_version}
    lived = [e for e in reversed(store.experiences.recent(agent, 100)) if e.run_id in same]
    return [(e, o) for e in lived if (o := read_outcome(e)) is not None]


def _flaky(verdicts: Iterable[Verdict]) -> tuple[FlakyLine, ...]:
    return tuple(
        FlakyLine(
            test=v.test,
            probability=v.probability,
            failures=v.failures,
            executions=v.executions,
            causes=tuple(f"{h.cause}: {h.because}" for h in v.hints),
        )
        for v in sorted(verdicts, key=lambda v: -v.probability)
        if 0 < v.failures < v.executions
    )


def _risks(outcomes: Sequence[tuple[Experience, Outcome]]) -> tuple[RiskLine, ...]:
    assessed = [o for _, o in outcomes if isinstance(o, RiskOutcome)]
    return tuple(RiskLine(test=r.test, risk=r.risk, reason=r.because) for r in (assessed[-1].top if assessed else ()))


def _visits(store: Store) -> tuple[VisitLine, ...]:
    runs = list(reversed(store.runs.recent(EARLIER_VISITS)))
    return tuple(_visit(store, run, number) for number, run in enumerate(runs, start=1))


def _visit(store: Store, run: RunRecord, number: int) -> VisitLine:
    lived = store.experiences.recent(limit=1000, run_id=run.id)
    return VisitLine(
        number=number,
        started_at=run.started_at,
        credited=sum(e.reward.credited for e in lived) if lived else None,
        seconds_used=run.summary.get("used_seconds"),
        findings=len(store.runs.findings(run.id)),
    )
