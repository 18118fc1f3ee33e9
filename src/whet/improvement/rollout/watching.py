"""What to do with a candidate: a function of what was measured, and of nothing else."""

from datetime import datetime, timedelta
from enum import StrEnum
from math import isfinite

from whet.core.candidates import Candidate, Stage
from whet.core.records import Count, Record
from whet.improvement.rollout.arms import Arms
from whet.improvement.rollout.measured import Measured, measured
from whet.improvement.rollout.plan import Plan
from whet.improvement.rollout.rules import not_better, perhaps_worse, worse
from whet.improvement.rollout.sentences import lasting, percent, standing

# Clocks of several machines differ by so much without anything being wrong.
SKEW = timedelta(minutes=5)


class Verdict(StrEnum):
    ROLL_BACK = "roll back"
    NEXT_SHARE = "next share"
    PROMOTE = "promote"
    WAIT = "wait"
    PAUSE = "pause for a person"
    BEGIN_AGAIN = "begin the step again"
    SETTLED = "settled"


class Look(Record):
    """One look at one candidate. The sentence says where it stands, what was measured and what follows."""

    number: Count
    verdict: Verdict
    sentence: str
    seen: Measured | None = None


_Conclusion = tuple[Verdict, str]


def watch(candidate: Candidate, arms: Arms, plan: Plan, now: datetime) -> Look:
    """At most one step, whatever the clock says: every step asks for runs measured since it began."""
    broken = _unreadable(arms)
    seen = None if broken else measured(arms, plan)
    if candidate.since > now + SKEW:
        verdict, then = Verdict.BEGIN_AGAIN, "the clock was set back, so this step begins again"
    elif seen is None:
        verdict, then = _held(candidate, str(broken))
    else:
        verdict, then = _concluded(candidate, seen, arms.trouble, plan, now)
    return Look(
        number=candidate.number, verdict=verdict, sentence=standing(candidate, seen, plan, now, then), seen=seen
    )


def _concluded(candidate: Candidate, seen: Measured, trouble: str | None, plan: Plan, now: datetime) -> _Conclusion:
    """Going back comes first: neither a pause nor missing results keep a candidate that is worse."""
    reason = worse(seen, plan)
    if reason is not None:
        return Verdict.ROLL_BACK, f"rolled back: {reason}"
    if candidate.paused or trouble is not None:
        return _held(candidate, trouble)
    if candidate.stage is Stage.PRODUCTION:
        return _on_probation(candidate, seen, plan, now)
    return _forward(candidate, seen, plan, now)


def _held(candidate: Candidate, trouble: str | None) -> _Conclusion:
    """Pausing what is paused would fill the audit trail with one thing."""
    if candidate.paused:
        return Verdict.WAIT, "it is paused until a person lets it go on" + (f" ({trouble})" if trouble else "")
    return Verdict.PAUSE, f"paused for a person: {trouble}"


def _forward(candidate: Candidate, seen: Measured, plan: Plan, now: datetime) -> _Conclusion:
    wanting = _wanting(candidate, seen, plan, plan.fewest_hours, now)
    if wanting is not None:
        return Verdict.WAIT, f"next step {wanting}"
    share = plan.after(candidate.share)
    doubt = not_better(seen) if share is None else perhaps_worse(seen, plan)
    if doubt is None:
        return _step(share)
    if seen.units >= plan.most_units:
        return Verdict.PAUSE, f"paused for a person: inconclusive after {seen.units:,} runs, {doubt}"
    return Verdict.WAIT, f"no next step yet: {doubt}"


def _step(share: float | None) -> _Conclusion:
    if share is None:
        return Verdict.PROMOTE, "it is better and goes to production"
    return Verdict.NEXT_SHARE, f"it is not worse and goes to {percent(share)}"


def _on_probation(candidate: Candidate, seen: Measured, plan: Plan, now: datetime) -> _Conclusion:
    wanting = _wanting(candidate, seen, plan, plan.probation_hours, now)
    if wanting is not None:
        return Verdict.WAIT, f"its probation ends {wanting}"
    return Verdict.SETTLED, "its probation is over"


def _wanting(candidate: Candidate, seen: Measured, plan: Plan, hours: float, now: datetime) -> str | None:
    """What has to come before it can leave this step: decisions, runs and time, all of this step."""
    fewest = max(plan.fewest_units, plan.judged_from)
    left = candidate.since + timedelta(hours=hours) - now
    if seen.decisions < plan.fewest_decisions:
        return f"at {plan.fewest_decisions:,}"
    if seen.units < fewest:
        return f"at {fewest:,} runs (of {seen.units:,})"
    if seen.baseline_units < plan.judged_from and candidate.stage is Stage.CANARY:
        return f"at {plan.judged_from:,} runs of the baseline (of {seen.baseline_units:,})"
    return f"in {lasting(left)}" if left > timedelta(0) else None


def _unreadable(arms: Arms) -> str | None:
    """Numbers that are none fail every check."""
    for whose, arm in (("its", arms.candidate), ("the baseline's", arms.baseline)):
        bad = sum(not (isfinite(each.reward) and isfinite(each.success)) for each in arm)
        if bad:
            return f"{bad:,} of {whose} {len(arm):,} results are not numbers"
    return None
