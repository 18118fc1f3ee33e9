"""Is the fleet getting better? Four numbers, each against the period before, with how sure they are."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Query, Request
from markupsafe import Markup
from starlette.responses import Response

from whet.core.feedback import PagedStore
from whet.core.views import DayTotal
from whet.reports.words import SEVERITIES
from whet.service.desk import desk_of
from whet.service.pages import charts
from whet.service.pages.asking import Viewer
from whet.service.pages.drawing import page
from whet.service.pages.estimates import Estimate, Period, Trend, count, mean_reward, stars, success_rate

router = APIRouter()
_RECENT = 5


class Figure(NamedTuple):
    """One number as the page shows it."""

    name: str
    trend: Trend
    form: str
    unit: str
    more_is: Literal["better", "worse", "neither"]
    counted: str
    picture: Markup
    advice: str  # when it is unknown


@router.get("/")
def overview(
    request: Request, _person: Viewer, asked: Annotated[Literal["7", "28", "90"], Query(alias="days")] = "28"
) -> Response:
    days = int(asked)
    desk = desk_of(request)
    store, today = desk.store, desk.clock().astimezone(UTC).date()
    period = Period(today - timedelta(days=days - 1), today)
    totals = store.views.totals(period.before().first, today)
    return page(
        request,
        "overview.html.j2",
        "Overview",
        period=period,
        days=days,
        figures=figures(store, totals, period),
        reward_picture=reward_picture(totals, period),
        found_picture=found_picture(store, period),
        runs=store.views.runs(limit=_RECENT).items,
        waiting=store.views.waiting(limit=_RECENT).items,
    )


def figures(store: PagedStore, totals: Sequence[DayTotal], period: Period) -> list[Figure]:
    now, before = _within(totals, period), _within(totals, period.before())
    rated = rated_trend(store, period)
    reward, success = (Trend(of(now), of(before)) for of in (mean_reward, success_rate))
    return [
        Figure(
            "Average reward",
            reward,
            "{:+.2f}",
            "",
            "better",
            "runs",
            _spark(totals, period, mean_reward),
            "No run earned anything in this period. Start one: whet run",
        ),
        Figure(
            "Success rate",
            success,
            "{:.1%}",
            "",
            "better",
            "runs",
            _spark(totals, period, success_rate),
            "No run was judged in this period. Start one: whet run",
        ),
        Figure(
            "New findings",
            found_trend(store, totals, period),
            "{:.0f}",
            "",
            "neither",
            "runs",
            _found_spark(store, period),
            "Nobody looked in this period. Start a run: whet run",
        ),
        Figure(
            "Satisfaction",
            rated,
            "{:.1f}",
            " of 5",
            "better",
            "ratings",
            _stars(rated),
            "Nobody rated a run in this period. Open a run and rate it.",
        ),
    ]


def found_trend(store: PagedStore, totals: Sequence[DayTotal], period: Period) -> Trend:
    def counted(within: Period) -> Estimate:
        new = sum(each.new for each in store.views.found(*within))
        return count(new, sum(total.runs for total in _within(totals, within)))

    return Trend(counted(period), counted(period.before()))


def rated_trend(store: PagedStore, period: Period) -> Trend:
    def rated(within: Period) -> Estimate:
        first, last = (datetime.combine(day, time(), UTC) for day in within)
        return stars(store.feedback.rated(first, last + timedelta(days=1)))

    return Trend(rated(period), rated(period.before()))


def reward_picture(totals: Sequence[DayTotal], period: Period) -> Markup:
    return charts.lines(
        "Average reward per decision, by day",
        [charts.Line("reward", _points(totals, period, mean_reward))],
        "{:+.1f}",
        220,
    )


def found_picture(store: PagedStore, period: Period) -> Markup:
    stacks: dict[date, list[tuple[str, int]]] = {}
    for each in sorted(store.views.found(*period), key=lambda found: SEVERITIES.index(found.severity)):
        stacks.setdefault(each.day, []).append((each.severity, each.new))
    return charts.columns("New findings by day and severity", period.days(), stacks, 220)


def _stars(rated: Trend) -> Markup:
    mean = rated.now.value
    return Markup("") if mean is None else charts.bar(mean / 5, f"{mean:.1f} of 5 stars")


def _within(totals: Iterable[DayTotal], period: Period) -> list[DayTotal]:
    return [total for total in totals if period.holds(total.day)]


_Of = Callable[[Iterable[DayTotal]], Estimate]


def _points(totals: Sequence[DayTotal], period: Period, of: _Of) -> list[charts.Point]:
    by_day = {total.day: of([total]) for total in totals}
    known = {day: by_day.get(day) for day in period.days()}
    return [
        charts.Point(day, None) if e is None else charts.Point(day, e.value, e.low, e.high) for day, e in known.items()
    ]


def _spark(totals: Sequence[DayTotal], period: Period, of: _Of) -> Markup:
    return charts.spark("by day", [point._replace(low=None, high=None) for point in _points(totals, period, of)])


def _found_spark(store: PagedStore, period: Period) -> Markup:
    by_day: dict[date, int] = {}
    for each in store.views.found(*period):
        by_day[each.day] = by_day.get(each.day, 0) + each.new
    return charts.spark(
        "by day", [charts.Point(day, float(by_day.get(day, 0))) for day in period.days()] if by_day else []
    )
