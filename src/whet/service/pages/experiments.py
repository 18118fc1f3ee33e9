"""Canary against production: what was measured so far, with intervals that hold however often one looks."""

from collections import defaultdict
from datetime import UTC, timedelta
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import Response

from whet.core.candidates import Candidate, Stage
from whet.core.views import DayLine
from whet.improvement.rollout.assignment import policy_name
from whet.improvement.rollout.stepping import LOOK
from whet.service.desk import desk_of
from whet.service.pages import charts
from whet.service.pages.asking import Viewer
from whet.service.pages.drawing import page
from whet.service.pages.estimates import Period
from whet.service.pages.learning import curve

router = APIRouter()
_NEWEST = 50


class Experiment(NamedTuple):
    """`look` is the last one that `whet learn` took, as it kept it; None before the first."""

    candidate: Candidate
    look: dict[str, Any] | None
    interval: Markup
    picture: Markup


@router.get("/experiments")
def experiments(request: Request, _person: Viewer) -> Response:
    desk = desk_of(request)
    store, today = desk.store, desk.clock().astimezone(UTC).date()
    period = Period(today - timedelta(days=27), today)
    lines = store.views.days(*period)
    shown = [each for each in store.views.candidates(limit=_NEWEST).items if LOOK in each.evidence or _deciding(each)]
    return page(
        request, "experiments.html.j2", "Experiments", experiments=[_experiment(each, lines, period) for each in shown]
    )


def _deciding(candidate: Candidate) -> bool:
    return candidate.stage in (Stage.CANARY, Stage.PRODUCTION)


def _experiment(candidate: Candidate, lines: list[DayLine], period: Period) -> Experiment:
    look = candidate.evidence.get(LOOK)
    return Experiment(candidate, look, _interval(look), _picture(candidate, lines, period))


def _interval(look: dict[str, Any] | None) -> Markup:
    seen = (look or {}).get("seen") or {}
    low, value, high = (seen.get(name) for name in ("lower", "difference", "upper"))
    if low is None or value is None or high is None:
        return Markup("")
    widest = max(abs(low), abs(high)) * 1.15 or 1.0
    label = f"reward of the candidate minus production's: {value:+.2f}, between {low:+.2f} and {high:+.2f}"
    return charts.interval(low, value, high, charts.Scale(-widest, widest), label)


def _picture(candidate: Candidate, lines: list[DayLine], period: Period) -> Markup:
    """By day, what it earned and what everybody else did."""
    arms: dict[bool, list[DayLine]] = defaultdict(list)
    for line in lines:
        if line.agent == candidate.agent:
            arms[line.policy == policy_name(candidate.number)].append(line)
    if not arms[True]:
        return Markup("")
    drawn = [charts.Line(f"candidate {candidate.number}", curve(arms[True], period), 0)]
    if arms[False]:
        drawn.append(charts.Line("others", curve(arms[False], period), 1))
    return charts.lines(f"Average reward of {candidate.agent} by day", drawn, "{:+.0f}")
