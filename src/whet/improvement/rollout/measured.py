"""The numbers of one look: both arms and their difference, per run."""

from collections.abc import Sequence
from math import fsum

from whet.core.records import Count, Record
from whet.improvement.proving.fixed import fixed_test
from whet.improvement.proving.sequences import compare, compare_shares
from whet.improvement.rollout.arms import Arms
from whet.improvement.rollout.plan import Plan


class Measured(Record):
    """None: not known, or too few runs to tell. Bounds are always-valid: one may look as often as one likes."""

    units: Count
    decisions: Count
    baseline_units: Count
    reward: float | None
    baseline_reward: float | None
    success: float | None
    baseline_success: float | None
    difference: float | None = None
    lower: float | None = None
    upper: float | None = None
    alarm_lower: float | None = None
    alarm_upper: float | None = None
    success_difference: float | None = None
    success_lower: float | None = None
    success_upper: float | None = None
    t_test_p: float | None = None  # valid for one look only, as is Cohen's d; shown, never decided by
    cohens_d: float | None = None

    def floor(self, of_baseline: float) -> float | None:
        """The difference at which the reward is this much of the baseline's; as far below it if that is negative."""
        return None if self.baseline_reward is None else -(1.0 - of_baseline) * abs(self.baseline_reward)


def measured(arms: Arms, plan: Plan) -> Measured:
    rewards, baseline = [each.reward for each in arms.candidate], [each.reward for each in arms.baseline]
    successes, usual = [each.success for each in arms.candidate], [each.success for each in arms.baseline]
    known = Measured(
        units=len(rewards),
        decisions=sum(each.decisions for each in arms.candidate),
        baseline_units=len(baseline),
        reward=_mean(rewards),
        baseline_reward=_mean(baseline),
        success=_mean(successes),
        baseline_success=_mean(usual),
    )
    if min(known.units, known.baseline_units) < plan.judged_from:
        return known
    return known.model_copy(update=_rewards(rewards, baseline, plan) | _successes(successes, usual, plan))


def _rewards(candidate: Sequence[float], baseline: Sequence[float], plan: Plan) -> dict[str, float | None]:
    sure, alarm = compare(candidate, baseline, plan.confidence), compare(candidate, baseline, plan.alarm)
    shown = fixed_test(candidate, baseline)
    return {
        "difference": sure.difference,
        "lower": sure.lower,
        "upper": sure.upper,
        "alarm_lower": alarm.lower,
        "alarm_upper": alarm.upper,
        "t_test_p": shown.p,
        "cohens_d": shown.cohens_d,
    }


def _successes(candidate: Sequence[float], baseline: Sequence[float], plan: Plan) -> dict[str, float | None]:
    found = compare_shares(candidate, baseline, plan.alarm)
    return {"success_difference": found.difference, "success_lower": found.lower, "success_upper": found.upper}


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None
