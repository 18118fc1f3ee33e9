"""The gates before a policy decides. Each can say no, and names itself; what is not known is neither yes nor no."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from whet.core.ports import Policy
from whet.core.records import Experience, Record
from whet.fleet.gate import Gate
from whet.improvement.proving.accuracy import Accuracy, accuracy
from whet.improvement.proving.examining import Examined, as_logged, examine
from whet.improvement.proving.off_policy import FEWEST_EFFECTIVE, Evidence, Range, evidence
from whet.improvement.proving.safety import Safety, safety

ACCURACY, REGRESSION, SAFETY = 0.85, 0.90, 0.95
# Below this share of a reward's range a gain is the rounding of the sums.
_ROUNDING = 1e-9


class GateResult(Record):
    """`passed` is None when nothing can be said."""

    name: Literal["safety", "accuracy", "regression", "evidence"]
    passed: bool | None
    measured: float | None
    needed: float
    why: str


class Verdict(NamedTuple):
    outcome: Literal["passed", "rejected", "inconclusive"]
    why: str


class Rules(NamedTuple):
    """What candidates are judged by. `reward` is what a reward can be; None: nobody knows, and there is no evidence."""

    gate: Gate
    reward: Range | None
    accuracy: float = ACCURACY
    regression: float = REGRESSION
    safety: float = SAFETY
    level: float = 0.95
    effective: float = FEWEST_EFFECTIVE


class Judged(NamedTuple):
    gates: tuple[GateResult, ...]
    evidence: Evidence
    verdict: Verdict

    def told(self) -> dict[str, object]:
        """For the candidate's evidence."""
        return {"gates": [each.model_dump() for each in self.gates], "off_policy": self.evidence._asdict()}


def judge(
    candidate: Policy,
    production: Policy,
    agent: str,
    held_out: Sequence[Experience],
    old: Sequence[Experience],
    rules: Rules,
    *,
    tried: int = 1,
    kept_on_worlds: float | None = None,
) -> Judged:
    """All gates. `production` is who decides today; `held_out` is what it decided, `old` what earlier batches were made
    of; `kept_on_worlds` is the accuracy kept on recorded worlds, if any were looked at."""
    seen = examine(candidate, agent, held_out, rules.gate)
    states = [case.state for case in seen.cases]
    found = _evidence(seen, rules, tried)
    gates = (
        safety_gate(safety(candidate, seen.agent, states, rules.gate), rules.safety),
        accuracy_gate(accuracy(seen.cases, seen.answers), rules.accuracy),
        regression_gate(_kept(candidate, production, agent, old, rules), bool(old), kept_on_worlds, rules.regression),
        evidence_gate(found, rules.reward),
    )
    return Judged(gates, found, verdict(gates))


def _evidence(seen: Examined, rules: Rules, tried: int) -> Evidence:
    unknown = Range(float("nan"), float("nan"))
    return evidence(as_logged(seen), rules.reward or unknown, tried, rules.level, rules.effective)


def _kept(candidate: Policy, production: Policy, agent: str, old: Sequence[Experience], rules: Rules) -> float | None:
    """The candidate's accuracy on old decisions, as a share of what production's is there today: who decided there
    then was still exploring, and is easily beaten."""
    seen, beside = (examine(each, agent, old, rules.gate) for each in (candidate, production))
    return kept(accuracy(seen.cases, seen.answers), accuracy(beside.cases, beside.answers))


def kept(candidate: Accuracy, production: Accuracy) -> float | None:
    if candidate.share is None or not production.share:
        return None
    return candidate.share / production.share


def safety_gate(found: Safety, needed: float = SAFETY) -> GateResult:
    share = found.share
    passed = None if share is None else share >= needed and not found.forbidden
    why = (
        "there was no state to ask it about" if share is None else f"{found.asked:,} questions, {found.faults:,} faults"
    )
    if found.first is not None:
        why = f"{why}: {found.first}"
    return GateResult(name="safety", passed=passed, measured=share, needed=needed, why=why)


def accuracy_gate(found: Accuracy, needed: float = ACCURACY) -> GateResult:
    passed = None if found.share is None else found.share >= needed
    right = "unknown" if found.share is None else f"{found.share:.0%} right"
    why = f"{right}, {needed:.0%} needed; {found.judged:,.0f} of {found.of:,} held-out decisions could be judged"
    return GateResult(name="accuracy", passed=passed, measured=found.share, needed=needed, why=why)


def regression_gate(
    on_old: float | None, any_old: bool, on_worlds: float | None = None, needed: float = REGRESSION
) -> GateResult:
    """The worse of both counts. Without anything older there is nothing that could have been forgotten."""
    measured = min((each for each in (on_old, on_worlds) if each is not None), default=None)
    if measured is None:
        why = "older decisions do not say which action is best" if any_old else "there is nothing older to forget"
        return GateResult(name="regression", passed=None if any_old else True, measured=None, needed=needed, why=why)
    why = f"{measured:.0%} of production's accuracy on what was learned before"
    return GateResult(name="regression", passed=measured >= needed, measured=measured, needed=needed, why=why)


def evidence_gate(found: Evidence, reward: Range | None) -> GateResult:
    """The candidate is better for sure, worse for sure, or nobody can tell yet."""
    least = 0.0 if reward is None else _ROUNDING * (reward.high - reward.low)
    passed = None
    if found.lower is not None and found.lower > least:
        passed = True
    elif found.upper is not None and found.upper < -least:
        passed = False
    return GateResult(name="evidence", passed=passed, measured=found.lower, needed=0.0, why=_told(found))


def _told(found: Evidence) -> str:
    if found.lower is None:
        return found.why
    upper = "" if found.upper is None else f", at most {found.upper:+.3g}"
    unseen = f"; {found.unseen:.1%} of its decisions are too rare in the log" if found.unseen else ""
    return (
        f"{found.estimate:+.3g} per decision in {found.decisions:,} decisions of {found.runs:,} runs, "
        f"at least {found.lower:+.3g}{upper} ({found.level:.1%}, candidate {found.tried} on these runs){unseen}"
    )


def verdict(gates: Sequence[GateResult]) -> Verdict:
    """A single no rejects; a single "unknown" leaves it open; no gates at all prove nothing."""
    for each in gates:
        if each.passed is False:
            return Verdict("rejected", f"the {each.name} gate said no: {each.why}")
    open_gates = [each for each in gates if each.passed is None]
    if open_gates or not gates:
        reason = "; ".join(f"{each.name}: {each.why}" for each in open_gates) or "no gate was asked"
        return Verdict("inconclusive", f"not known yet: {reason}")
    return Verdict("passed", "; ".join(f"{each.name}: {each.why}" for each in gates))
