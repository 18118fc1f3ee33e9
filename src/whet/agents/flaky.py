"""flaky-test-hunter: run tests again under varied conditions until it is settled which of them cannot be trusted."""

import ast
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from whet.core.agent import Agent
from whet.core.keys import Atom
from whet.core.ports import TestHistory
from whet.core.records import (
    Action,
    ActionKind,
    Count,
    Finding,
    Measures,
    Outcome,
    Probability,
    Seconds,
    State,
    Valuation,
)
from whet.rewards import specialists
from whet.skills.flakiness import Traits, Verdict, divergence, entropy, flaky_probability, verdicts
from whet.tools.project import Project
from whet.tools.suite import SuitePlan, SuiteRun
from whet.tools.system import cpu_count
from whet.tools.workplace import Workplace

MOST_SUSPECTS = 20
_TIME_WORDS = frozenset(
    {"time", "datetime", "sleep", "monotonic", "perf_counter", "Timer", "timeout", "deadline", "wait"}
)
_RANDOM_WORDS = frozenset({"random", "shuffle", "choice", "randint", "uuid4", "uuid", "secrets", "urandom", "sample"})
Condition = Literal["own-order", "shuffled", "reversed", "isolated", "reseeded", "loaded"]


class FlakyState(State):
    """S2 §1.2, of the test that is most in doubt."""

    test_failure_rate: Probability | None
    failure_pattern: Literal["none", "intermittent", "environmental", "timing"]
    num_executions: Count
    execution_variance_ms: float | None
    avg_execution_time_ms: float | None
    depends_on_network: bool | None
    depends_on_external_service: bool | None
    has_timing_dependency: bool | None
    confidence_level: Probability = Field(description="how settled the most doubtful test is: 1 − its doubt in bits")
    suspects: Count
    known_flaky: Count
    expected_seconds: Seconds | None

    def discrete(self) -> tuple[Atom, ...]:
        return (
            None if self.test_failure_rate is None else int(self.test_failure_rate * 10),
            self.failure_pattern,
            bool(self.depends_on_network or self.depends_on_external_service),
            int(self.confidence_level * 10),
            min(self.num_executions, 20) // 5,
            self.suspects > 0,
        )


class FlakyOutcome(Outcome):
    executions: Count
    tests_examined: Count
    confirmed_new: Count
    known_flaky: Count
    doubt_before_bits: float
    doubt_after_bits: float
    information_bits: float = Field(ge=0, description="how far the verdicts moved, whichever way: Σ KL(after ‖ before)")
    expected_seconds: Seconds | None
    verdicts: tuple[Verdict, ...] = ()


class FlakyHunter(Agent[FlakyState, FlakyOutcome, Workplace]):
    name = "flaky-test-hunter"
    category = "advanced-testing"
    state_type = FlakyState
    outcome_type = FlakyOutcome
    actions = (
        Action(name="trust_history", kind=ActionKind.RECALLED, summary="judge from the executions there are"),
        Action(name="rerun_suite", kind=ActionKind.REPEATED, summary="the whole suite twice more, in its own order"),
        Action(
            name="rerun_suspects", kind=ActionKind.FOCUSED, summary="doubtful tests ten times more, in fresh processes"
        ),
        Action(name="isolate_suspects", kind=ActionKind.FOCUSED, summary="each doubtful test alone in a process"),
        Action(name="shuffle_order", kind=ActionKind.REPEATED, summary="the whole suite in three random orders"),
        Action(name="reverse_order", kind=ActionKind.REPEATED, summary="the whole suite backwards, twice"),
        Action(name="reseed", kind=ActionKind.REPEATED, summary="the whole suite with three random and hash seeds"),
        Action(name="under_load", kind=ActionKind.DEEPER, summary="the whole suite twice with every core kept busy"),
    )

    def observe(self, workplace: Workplace) -> FlakyState:
        known = _verdicts(workplace)
        doubtful = _suspects(known.values())
        worst = doubtful[0] if doubtful else None
        record = workplace.records().get(worst.test) if worst else None
        causes = {hint.cause for hint in worst.hints} if worst else set()
        return FlakyState(
            situation=workplace.situation(),
            test_failure_rate=worst.failures / worst.executions if worst and worst.executions else None,
            failure_pattern=_pattern(worst, causes),
            num_executions=min((v.executions for v in known.values()), default=0),
            execution_variance_ms=None,
            avg_execution_time_ms=None if record is None else record.mean_seconds * 1000,
            depends_on_network="network" in causes if worst else None,
            depends_on_external_service=None,
            has_timing_dependency="time" in causes if worst else None,
            confidence_level=1.0 - entropy(worst.probability) if worst else 1.0,
            suspects=len(doubtful),
            known_flaky=sum(v.flaky for v in known.values()),
            expected_seconds=workplace.suite_seconds(),
        )

    def allowed(self, state: FlakyState) -> tuple[Action, ...]:
        focused = state.suspects > 0
        return tuple(
            a
            for a in self.actions
            if (a.kind is not ActionKind.FOCUSED or focused)
            and (a.kind is not ActionKind.RECALLED or state.num_executions > 1)
        )

    def safe_default(self, state: FlakyState) -> Action:
        return self.action("rerun_suspects" if state.suspects else "rerun_suite")

    def act(self, state: FlakyState, action: Action, workplace: Workplace) -> FlakyOutcome:
        started = time.monotonic()
        before = _verdicts(workplace)
        runs = [
            workplace.run(self.name, plan, condition, "hunting flaky tests")
            for plan, condition in _plans(action.name, before, workplace)
            if workplace.budget.left() > 0
        ]
        after = _verdicts(workplace)
        flaky_before = {t for t, v in before.items() if v.flaky}
        flaky = [v for v in after.values() if v.flaky]
        return FlakyOutcome(
            duration_seconds=time.monotonic() - started,
            peak_memory_mb=max((r.peak_memory_mb for r in runs if r.peak_memory_mb is not None), default=None),
            failed=_problem(runs),
            findings=tuple(_finding(v, workplace) for v in flaky),
            executions=sum(len(r.tests) for r in runs),
            tests_examined=len({t.id for r in runs for t in r.tests}),
            confirmed_new=len({v.test for v in flaky} - flaky_before),
            known_flaky=len(flaky),
            doubt_before_bits=_doubt(before, workplace),
            doubt_after_bits=_doubt(after, workplace),
            information_bits=_information(before, after),
            expected_seconds=state.expected_seconds,
            verdicts=tuple(sorted(_notable(after.values()), key=lambda v: -v.probability)),
        )

    def value(self, state: FlakyState, action: Action, outcome: FlakyOutcome) -> Valuation:
        doubt = outcome.doubt_before_bits
        gained = min(1.0, outcome.information_bits / doubt) if doubt > 0 else 0.0
        measures = Measures(
            expected_seconds=outcome.expected_seconds,
            # What ran nothing has no speed to be praised for.
            actual_seconds=outcome.duration_seconds if outcome.executions else None,
            task_failed=outcome.failed is not None,
        )
        own = specialists.flaky_evidence(confirmed_new=outcome.confirmed_new, evidence_gained=gained)
        return Valuation(measures=measures, own=own)


def _plans(action: str, known: dict[str, Verdict], workplace: Workplace) -> Iterable[tuple[SuitePlan, Condition]]:
    rng = workplace.rng(action)
    seeds = [rng.randrange(1, 2**31) for _ in range(3)]
    suspects = tuple(v.test for v in _suspects(known.values()))
    own = None if workplace.project.configured_workers() else 0  # as the project runs its tests, workers or not
    match action:
        case "rerun_suite":
            return [(SuitePlan(workers=own), "own-order")] * 2
        case "rerun_suspects":
            return [(SuitePlan(select=suspects, workers=own), "own-order")] * 10
        case "isolate_suspects":
            return [(SuitePlan(select=(test,), workers=0), "isolated") for test in suspects]
        case "shuffle_order":
            return [(SuitePlan(order="shuffled", seed=seed, workers=own), "shuffled") for seed in seeds]
        case "reverse_order":
            return [(SuitePlan(order="reversed", workers=own), "reversed")] * 2
        case "reseed":
            return [(SuitePlan(seed=s, hash_seed=s % 4294967295, workers=own), "reseeded") for s in seeds]
        case "under_load":
            return [(SuitePlan(load_processes=2 * cpu_count(), workers=own), "loaded")] * 2
    return []


def _verdicts(workplace: Workplace) -> dict[str, Verdict]:
    return verdicts_of(workplace.history, workplace.project, workplace.code_version)


def verdicts_of(history: TestHistory, project: Project, code_version: str) -> dict[str, Verdict]:
    """Everything known of the flakiness of tests on one version of the code.

    A project that does not use workers is not judged by how its tests get on beside some.
    """
    own = project.configured_workers()
    counts = [c for c in history.conditions(code_version) if own or c.condition != "parallel"]
    root = project.root
    traits = history.traits()
    mixed = {c.test for c in counts if c.failures}
    return verdicts(
        counts,
        Traits(
            network={test: network for test, (network, _) in traits.items()},
            slept={test: slept for test, (_, slept) in traits.items()},
            mentions={test: _mentions(test, root) for test in mixed},
        ),
    )


def _mentions(test: str, root: Path) -> frozenset[str]:
    """Which causes the test's own source speaks of. Unreadable source speaks of nothing."""
    path, _, rest = test.partition("::")
    name = rest.split("::")[-1].split("[", 1)[0]
    try:
        tree = ast.parse((root / path).read_text(errors="replace"))
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            words = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            words |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
            said = {"time": words & _TIME_WORDS, "random": words & _RANDOM_WORDS}
            return frozenset(cause for cause, found in said.items() if found)
    return frozenset()


def _suspects(known: Iterable[Verdict]) -> list[Verdict]:
    """Tests that failed on this code, the most doubtful first. Settled ones are no longer suspects."""
    doubtful = [v for v in known if v.failures and entropy(v.probability) > 0.02]
    return sorted(doubtful, key=lambda v: (-entropy(v.probability), v.test))[:MOST_SUSPECTS]


def _notable(known: Iterable[Verdict]) -> list[Verdict]:
    return [v for v in known if v.failures]


def _pattern(worst: Verdict | None, causes: set[str]) -> str:
    if worst is None or not worst.failures:
        return "none"
    if "time" in causes:
        return "timing"
    return "environmental" if causes & {"network", "order"} else "intermittent"


def _doubt(known: dict[str, Verdict], workplace: Workplace) -> float:
    """Summed over the suite; a test never run on this code has the doubt of the prior."""
    unseen = max(0, len(workplace.collection.ids) - len(known))
    return sum(entropy(v.probability) for v in known.values()) + unseen * entropy(flaky_probability(0, 0))


def _information(before: dict[str, Verdict], after: dict[str, Verdict]) -> float:
    """A first failure raises the doubt about a test; that too is news, so movement counts, not what doubt is left."""
    unseen = flaky_probability(0, 0)
    return sum(divergence(v.probability, before[t].probability if t in before else unseen) for t, v in after.items())


def _problem(runs: Sequence[SuiteRun]) -> str | None:
    return next((p for run in runs if (p := run.problem())), None)


def _finding(verdict: Verdict, workplace: Workplace) -> Finding:
    hints = "; ".join(f"{h.cause}: {h.because}" for h in verdict.hints) or "no cause stands out yet"
    place = workplace.collection.places.get(verdict.test)
    return Finding(
        kind="flaky-test",
        title=f"{verdict.test} is flaky",
        severity="medium",
        evidence=f"Failed {verdict.failures} of {verdict.executions} times on unchanged code. Hints: {hints}.",
        reproduce=f"for i in $(seq 20); do {workplace.reproduce(verdict.test)}; done",
        file=place.file if place else None,
        line=place.line if place else None,
        test=verdict.test,
        probability=verdict.probability,
    )
