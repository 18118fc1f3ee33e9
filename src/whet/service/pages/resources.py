"""What the fleet uses and costs. What cannot be measured here is unknown, and costs nobody priced are unknown."""

import os
import shutil
from datetime import UTC, date, timedelta
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import Response

from whet.core.views import DayTotal
from whet.service.desk import Desk, desk_of
from whet.service.pages import charts
from whet.service.pages.asking import Viewer
from whet.service.pages.drawing import page
from whet.service.pages.estimates import Period
from whet.settings.cost import Cost
from whet.tools.system import available_memory_mb, cpu_count

router = APIRouter()
_DAYS = 28
_HOUR = 3600.0
_GIGABYTE = 1e9


class Gauge(NamedTuple):
    """How much of something is used: `share` of 1, and in words. None: not known here."""

    name: str
    share: float | None
    told: str | None


class Spent(NamedTuple):
    """A month so far. `cost` is None without a price."""

    runs: int
    hours: float
    cost: float | None
    per_run: float | None
    of_budget: float | None


@router.get("/resources")
def resources(request: Request, _person: Viewer) -> Response:
    desk = desk_of(request)
    today = desk.clock().astimezone(UTC).date()
    period = Period(today - timedelta(days=_DAYS - 1), today)
    totals = desk.store.views.totals(min(period.first, _month_before(today)), today)
    price, months = desk.settings.cost, (today.replace(day=1), _month_before(today))
    spent = [(month, spent_in(month, totals, price)) for month in months]
    return page(
        request,
        "resources.html.j2",
        "Resources and cost",
        gauges=gauges(desk),
        spent=spent,
        price=price,
        alert=alert(spent[0][1], price),
        picture=_picture(totals, period),
        days=_DAYS,
    )


def gauges(desk: Desk) -> list[Gauge]:
    return [_processor(), _memory(), _disk(desk), Gauge("Graphics processor", None, None)]


def spent_in(month: date, totals: list[DayTotal], price: Cost) -> Spent:
    own = [total for total in totals if total.day.replace(day=1) == month]
    runs, hours = sum(total.runs for total in own), sum(total.seconds for total in own) / _HOUR
    cost = None if price.per_hour is None else hours * price.per_hour
    return Spent(
        runs,
        hours,
        cost,
        None if cost is None or not runs else cost / runs,
        None if cost is None or price.monthly_budget is None else cost / price.monthly_budget,
    )


def alert(spent: Spent, price: Cost) -> str | None:
    if spent.of_budget is None or spent.of_budget < price.warn_at:
        return None
    if spent.of_budget >= 1.0:
        return f"This month's budget is spent: {spent.cost:,.2f} of {price.monthly_budget:,.2f} {price.currency}."
    return f"{spent.of_budget:.0%} of this month's budget is spent."


def _processor() -> Gauge:
    try:
        load = os.getloadavg()[0]
    except OSError:
        return Gauge("Processor", None, None)
    cores = cpu_count()
    return Gauge("Processor", load / cores, f"{load:.1f} of {cores} cores busy, over a minute")


def _memory() -> Gauge:
    free, total = available_memory_mb(), _total_memory_mb()
    if free is None or total is None:
        return Gauge("Memory", None, None)
    return Gauge("Memory", 1.0 - free / total, f"{(total - free) / 1024:.1f} of {total / 1024:.1f} GiB in use")


def _total_memory_mb() -> float | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20
    except (ValueError, OSError, AttributeError):
        return None


def _disk(desk: Desk) -> Gauge:
    where: Path = desk.site.state_dir
    try:
        used = shutil.disk_usage(where)
    except OSError:
        return Gauge("Disk", None, None)
    share = used.used / (used.used + used.free)
    return Gauge("Disk", share, f"{used.free / _GIGABYTE:,.0f} GB free where the store is")


def _month_before(day: date) -> date:
    return (day.replace(day=1) - timedelta(days=1)).replace(day=1)


def _picture(totals: list[DayTotal], period: Period) -> Markup:
    by_day = {total.day: total.seconds / _HOUR for total in totals}
    known = [charts.Point(day, by_day.get(day)) for day in period.days()]
    return charts.lines("Hours of runs by day", [charts.Line("hours", known)], "{:.2f}")
