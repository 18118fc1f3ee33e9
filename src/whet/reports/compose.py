"""From what is stored to what is told. Says only what was measured."""

from collections.abc import Mapping, Sequence

from whet import __version__
from whet.agents.catalogue import agent_named
from whet.agents.coverage import CoverageOutcome
from whet.agents.flaky import FlakyOutcome
from whet.agents.risk import RiskOutcome
from whet.core.ports import RunRecord, Store, TestRecord
from whet.core.records import Alternative, Decision, Experience, Finding, Outcome, Review
from whet.reports.highlights import highlights
from whet.reports.model import CoverageLine, FlakyLine, FoundLine, RiskLine, RunReport, StepLine, TestLine, VisitLine
from whet.reports.words import percent
from whet.tools.python import Python

EARLIER_VISITS = 20


def compose(
    store: Store, run: RunRecord, new: frozenset[str], records: Mapping[str, TestRecord], python: Python, exit_code: int
) -> RunReport:
    """The report of one run. `new` holds the fingerprints of findings first seen in it."""
    lived = list(reversed(store.experiences.recent(limit=1000, run_id=run.id)))
    outcomes = [(e, read_outcome(e)) for e in lived]
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
        findings=tuple(FoundLine(finding=f, new=f.fingerprint() in new) for f in settled(store, run.id)),
        steps=tuple(_step(e, o, run) for e, o in outcomes),
        coverage=_coverage(outcomes),
        flaky=_flaky(outcomes),
        risks=_risks(outcomes),
        what_changed=tuple(_used(e) for e, _ in outcomes if _used(e)) if len(store.runs.recent(2)) > 1 else (),
        learning=_visits(store),
        exit_code=exit_code,
    )


def settled(store: Store, run_id: str) -> list[Finding]:
    """The run's findings; a test that turned out flaky is no longer called failing."""
    found = store.runs.findings(run_id)
    flaky = {f.test for f in found if f.kind == "flaky-test"}
    return [f for f in found if f.kind != "failing-test" or f.test not in flaky]


def read_outcome(experience: Experience) -> Outcome:
    return agent_named(experience.agent).outcome_type.model_validate(experience.outcome)


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
            "the safe default ran and the proposal waits for review"
        )
    if len(decision.alternatives) == 1:
        return "the only action that makes sense here"
    if decision.confidence is None:
        return f"settings put {decision.policy} in charge of this agent"
    if wanted is None or wanted.value is None:
        return "nothing is known of it here yet, so it was worth a try"
    if decision.explored:
        best = max((a for a in decision.alternatives if a.value is not None), key=lambda a: a.value or 0.0)
        return f"{_worth(wanted)}; tried again although {best.action} promises more ({best.value:+.1f})"
    return f"{_worth(wanted)}, the most of {len(decision.alternatives)} actions"


def _worth(alternative: Alternative) -> str:
    where = {
        "individual": f"from {alternative.visits} earlier time(s) in this state",
        "abstract": "from similar states of its own",
        "category": "from agents of its category",
        "fleet": "from the rest of the fleet",
    }.get(alternative.source, "")
    return f"expected to earn {alternative.value:+.1f} {where}".rstrip()


def _used(experience: Experience) -> str:
    """A sentence when the decision rests on earlier visits, else nothing."""
    decision = experience.decision
    chosen = _alternative(decision, decision.action)
    if experience.agent == "fleet-commander" or decision.decided_by != "policy" or chosen is None:
        return ""
    if len(decision.alternatives) < 2 or chosen.source not in ("individual", "abstract"):
        return ""
    others = [a for a in decision.alternatives if a.action != chosen.action and a.value is not None]
    beaten = max(others, key=lambda a: a.value or 0.0, default=None)
    told = f"{experience.agent} ran {decision.action}: {_worth(chosen)}"
    return told + (f"; next best {beaten.action} ({beaten.value:+.1f})." if beaten else ".")


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


def _step(experience: Experience, outcome: Outcome, run: RunRecord) -> StepLine:
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
        highlights=highlights(outcome),
    )


def _coverage(outcomes: Sequence[tuple[Experience, Outcome]]) -> tuple[CoverageLine, ...] | None:
    measured = [o for _, o in outcomes if isinstance(o, CoverageOutcome) and o.files]
    if not measured:
        return None
    gaps: dict[str, set[int]] = {}
    for gap in measured[-1].top_gaps:
        gaps.setdefault(gap.file, set()).update(gap.lines)
    return tuple(
        CoverageLine(path=f.file, percent=f.percent, missing=tuple(sorted(gaps.get(f.file, ()))))
        for f in measured[-1].files
    )


def _flaky(outcomes: Sequence[tuple[Experience, Outcome]]) -> tuple[FlakyLine, ...]:
    hunts = [o for _, o in outcomes if isinstance(o, FlakyOutcome)]
    found = hunts[-1].verdicts if hunts else ()
    return tuple(
        FlakyLine(
            test=v.test,
            probability=v.probability,
            failures=v.failures,
            executions=v.executions,
            causes=tuple(f"{h.cause}: {h.because}" for h in v.hints),
        )
        for v in found
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
