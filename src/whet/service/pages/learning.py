"""Does it learn? What was lived, when it was trained and will be, curves, and whether learning has settled."""

import math
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, timedelta
from typing import NamedTuple

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import Response

from whet.bootstrap.drifting import Changes
from whet.core.feedback import PagedStore
from whet.core.learning_log import Batch
from whet.core.views import DayLine
from whet.improvement.convergence import WINDOW, Convergence, Limits, convergence
from whet.improvement.drift_record import Drift
from whet.improvement.intake.trigger import Due, Rule, due
from whet.service.desk import Desk, desk_of
from whet.service.pages import charts
from whet.service.pages.asking import Viewer
from whet.service.pages.drawing import page
from whet.service.pages.estimates import SURE, Period

router = APIRouter()
_DAYS = 90
_NEWEST_REFUSED = 5
_NEWEST_DRIFTS = 3


class Learner(NamedTuple):
    """One agent as the page shows it."""

    agent: str
    settled: Convergence
    decisions: int
    reward: float | None
    explored: float | None
    picture: Markup
    drifts: Sequence[Drift] | None  # newest first; None: it was not looked for yet
    doubting: bool  # what it learned before its last drift, and exploring again


class Awaited(NamedTuple):
    agent: str
    told: Due
    last: Batch | None


@router.get("/learning")
def learning(request: Request, _person: Viewer) -> Response:
    desk = desk_of(request)
    store, today = desk.store, desk.clock().astimezone(UTC).date()
    period = Period(today - timedelta(days=_DAYS - 1), today)
    lines = store.views.days(*period)
    totals = store.views.totals(None, today)
    return page(
        request,
        "learning.html.j2",
        "Learning",
        days=_DAYS,
        episodes=sum(total.runs for total in totals),
        experiences=sum(total.decisions for total in totals),
        learners=learners(desk, lines, period),
        training=desk.training.last(),
        awaited=[awaited(desk, agent) for agent in store.learning.agents_waiting()],
        batches=_newest_batches(store),
        refused=store.learning.refused(_NEWEST_REFUSED),
        enabled=desk.settings.learning,
    )


def learners(desk: Desk, lines: Sequence[DayLine], period: Period) -> list[Learner]:
    by_agent: dict[str, list[DayLine]] = defaultdict(list)
    for line in lines:
        by_agent[line.agent].append(line)
    names, drift = sorted({*by_agent, *desk.store.views.learners()}), desk.drifting.known()
    return [_learner(desk, name, by_agent[name], period, drift) for name in names]


def _learner(desk: Desk, agent: str, lines: Sequence[DayLine], period: Period, changes: Changes | None) -> Learner:
    asked = desk.settings.convergence
    limits = Limits(
        asked.q_value_change_threshold,
        asked.reward_variance_threshold,
        asked.min_success_rate,
        asked.min_exploration_rate,
    )
    decisions, judged = sum(line.decisions for line in lines), sum(line.judged for line in lines)
    return Learner(
        agent,
        convergence(agent, desk.store.views.learning(agent, WINDOW), limits),
        decisions,
        sum(line.reward for line in lines) / judged if judged else None,
        sum(line.explored for line in lines) / decisions if decisions else None,
        charts.lines(
            f"Average reward of {agent} by day", [charts.Line("reward", curve(lines, period))], "{:+.0f}", 150
        ),
        None
        if changes is None
        else [each for each in reversed(changes.drifts) if each.agent == agent][:_NEWEST_DRIFTS],
        changes is not None and agent in changes.reopened,
    )


def curve(lines: Sequence[DayLine], period: Period) -> list[charts.Point]:
    """By day, over all policies, with the error of the day's mean."""
    by_day: dict[object, list[DayLine]] = defaultdict(list)
    for line in lines:
        by_day[line.day].append(line)
    return [_point(charts.Point(day, None), by_day.get(day, [])) for day in period.days()]


def _point(empty: charts.Point, lines: Sequence[DayLine]) -> charts.Point:
    judged = sum(line.judged for line in lines)
    if not judged:
        return empty
    mean = sum(line.reward for line in lines) / judged
    if judged < 2:
        return empty._replace(value=mean)
    variance = max(sum(line.squares for line in lines) / judged - mean**2, 0.0) * judged / (judged - 1)
    error = SURE * math.sqrt(variance / judged)
    return charts.Point(empty.day, mean, mean - error, mean + error)


def awaited(desk: Desk, agent: str) -> Awaited:
    """When the agent is trained next."""
    log, learn = desk.store.learning, desk.settings.learn
    waiting, oldest = log.waiting(agent)
    last = next(iter(log.batches(agent)), None)
    closed = None if last is None else last.closed_at
    rule = Rule(learn.min_experiences, learn.min_hours)
    return Awaited(agent, due(waiting, oldest, closed, desk.clock(), rule), last)


def _newest_batches(store: PagedStore) -> list[Batch]:
    return store.learning.batches()[:WINDOW]
