"""A look as people read it."""

from datetime import datetime, timedelta

from whet.core.candidates import Candidate, Stage
from whet.core.text import number_of
from whet.improvement.rollout.measured import Measured
from whet.improvement.rollout.plan import Plan


def standing(candidate: Candidate, seen: Measured | None, plan: Plan, now: datetime, then: str) -> str:
    """Where it stands, what was measured there, and what follows."""
    place = "in production" if candidate.stage is Stage.PRODUCTION else f"at {percent(candidate.share)}"
    age = now - candidate.since
    since = f" since {lasting(age)}" if age >= timedelta(0) else ""
    told = "" if seen is None else f": {_evidence(seen, plan)}"
    return f"candidate {candidate.number} is {place}{since}{told}; {then}"


def _evidence(seen: Measured, plan: Plan) -> str:
    decisions = number_of(seen.decisions, "decision")
    if seen.reward is None or seen.baseline_reward is None:
        return f"{decisions}, reward unknown"
    gain = f"{decisions}, {seen.reward - seen.baseline_reward:+.1f} reward"
    if seen.lower is None or seen.upper is None:
        return f"{gain} ({number_of(seen.units, 'run')} against {seen.baseline_units:,}: no interval yet)"
    return f"{gain} (always-valid {percent(plan.confidence)}: {seen.lower:+.1f} … {seen.upper:+.1f})"


def percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def lasting(time: timedelta) -> str:
    """Roughly, in the largest unit that makes two or more."""
    seconds = time.total_seconds()
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
