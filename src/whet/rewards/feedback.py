"""What people said of an outcome, as part of what it is worth."""

from collections.abc import Mapping

from whet.core.records import Measures, Part, Severities, Valuation
from whet.rewards.specialists import people


def heard(valuation: Valuation, false_alarms: Mapping[str, int], stars: int | None) -> Valuation:
    """The valuation after people spoke: findings that were none are no bugs found, and cost what an alarm costs.

    Profiles read the measures. The terms of people come on top, so that their word counts under every profile.
    """
    wrong = sum(false_alarms.values())
    if not wrong and stars is None:
        return valuation
    measures = valuation.measures
    told = {
        "bugs_found": _without(measures.bugs_found, false_alarms),
        "false_positives": (measures.false_positives or 0) + wrong if wrong else measures.false_positives,
        "user_rating": measures.user_rating if stars is None else float(stars),
    }
    own = people(false_alarms=wrong or None, stars=stars)
    corrected = Measures.model_validate(measures.model_dump() | told)
    return valuation.model_copy(update={"measures": corrected, "own": valuation.own + _said(own)})


def _without(found: Severities | None, false_alarms: Mapping[str, int]) -> dict[str, int] | None:
    if found is None:
        return None
    return {severity: max(0, count - false_alarms.get(severity, 0)) for severity, count in found.items()}


def _said(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(part for part in parts if part.points is not None)
