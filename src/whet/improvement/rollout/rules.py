"""When a candidate goes back, and what keeps it from going on. Each answers with the reason, or None."""

from whet.improvement.rollout.measured import Measured
from whet.improvement.rollout.plan import Plan
from whet.improvement.rollout.sentences import percent

TOO_EARLY = "nothing can be concluded yet"


def worse(seen: Measured, plan: Plan) -> str | None:
    """Why it goes back. An alarm: the interval lies below zero and reaches a limit. A proof: it lies below zero."""
    return _earns_less(seen, plan) or _fails_more(seen, plan)


def _earns_less(seen: Measured, plan: Plan) -> str | None:
    drop, floor = seen.difference, seen.floor(plan.floor)
    if drop is None or floor is None or seen.alarm_lower is None or not _below(seen.alarm_upper):
        return None
    if drop <= -plan.reward_drop:
        return f"its reward is {-drop:.1f} lower, and {plan.reward_drop:g} is the limit"
    if seen.alarm_lower < max(floor, -plan.reward_drop):
        perhaps = "" if drop < floor else "perhaps "
        return f"its reward is lower, {perhaps}below {percent(plan.floor)} of the baseline's {seen.baseline_reward:.1f}"
    return f"its reward is lower with a confidence of {percent(plan.confidence)}" if _below(seen.upper) else None


def _fails_more(seen: Measured, plan: Plan) -> str | None:
    drop, lowest = seen.success_difference, seen.success_lower
    if drop is None or lowest is None or not _below(seen.success_upper) or lowest > -plan.success_drop:
        return None
    perhaps = "" if drop <= -plan.success_drop else ", perhaps more"
    return f"its success rate is {-drop:.2f} lower{perhaps}, and {plan.success_drop:g} is the limit"


def _below(bound: float | None) -> bool:
    return bound is not None and bound < 0.0


def perhaps_worse(seen: Measured, plan: Plan) -> str | None:
    """Why it must not get a larger share yet."""
    floor = seen.floor(plan.floor)
    if seen.difference is None or seen.lower is None or floor is None:
        return TOO_EARLY
    if seen.difference < 0.0:
        return "so far it earns less"
    return None if seen.lower > floor else f"it may be worse by more than {-floor:.1f}"


def not_better(seen: Measured) -> str | None:
    """Why it must not go to production yet."""
    if seen.lower is None:
        return TOO_EARLY
    return None if seen.lower > 0.0 else "it may be no better"
