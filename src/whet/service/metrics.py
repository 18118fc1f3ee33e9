"""What Prometheus reads at /metrics. What is not known is absent, never 0."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import Response

from whet.core.candidates import SINGULAR
from whet.core.people import Person, Role
from whet.core.views import DayLine
from whet.service.access import require
from whet.service.desk import Desk, desk_of

router = APIRouter(include_in_schema=False)
# Rewards and success rates are of this many days, so that a change shows within a week or two.
WINDOW_DAYS: Final = 7
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Meters:
    """What this process itself counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        self.seconds = Histogram(
            "whet_request_seconds",
            "Time to answer a request.",
            ("method", "route", "status"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.predictions = Counter(
            "whet_predictions", "Decisions made through /predict.", ("agent", "policy"), registry=self.registry
        )

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        self.seconds.labels(method, route, str(status)).observe(seconds)


class Standing:
    """What the store knows; read when it is asked for."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def collect(self) -> Iterator[Metric]:
        today = self._desk.clock().date()
        lines = self._desk.store.views.days(today - timedelta(days=WINDOW_DAYS - 1), today)
        yield from _earned(lines)
        yield from self._found()
        yield from self._learning()
        yield from self._candidates()

    def _found(self) -> Iterator[Metric]:
        today = self._desk.clock().date()
        found: defaultdict[str, int] = defaultdict(int)
        for each in self._desk.store.views.found(today - timedelta(days=WINDOW_DAYS - 1), today):
            found[each.severity] += each.new
        metric = GaugeMetricFamily("whet_findings_new", "New findings of the last 7 days.", labels=("severity",))
        for severity, number in sorted(found.items()):
            metric.add_metric((severity,), number)
        yield metric

    def _learning(self) -> Iterator[Metric]:
        learning = self._desk.store.learning
        unread = GaugeMetricFamily("whet_learning_unread", "Experiences that learning has not looked at yet.")
        unread.add_metric((), learning.backlog())
        yield unread
        waiting = GaugeMetricFamily(
            "whet_learning_waiting", "Experiences that wait to be trained with.", labels=("agent",)
        )
        for agent in learning.agents_waiting():
            waiting.add_metric((agent,), learning.waiting(agent)[0])
        yield waiting
        trail = CounterMetricFamily("whet_audit_entries", "Entries of the audit trail.")
        trail.add_metric((), self._desk.store.views.head())
        yield trail

    def _candidates(self) -> Iterator[Metric]:
        share = GaugeMetricFamily(
            "whet_candidate_share", "Share of the runs a candidate decides.", labels=("agent", "candidate", "stage")
        )
        for candidate in self._desk.store.candidates.all():
            if candidate.stage in SINGULAR:
                share.add_metric((candidate.agent, str(candidate.number), candidate.stage.value), candidate.share)
        yield share


@router.get("/metrics")
def metrics(request: Request, _person: Annotated[Person, Depends(require(Role.METRICS))]) -> Response:
    meters: Meters = request.app.state.meters
    standing = CollectorRegistry()
    standing.register(Standing(desk_of(request)))
    return Response(generate_latest(standing) + generate_latest(meters.registry), media_type=CONTENT_TYPE_LATEST)


def _earned(lines: Iterable[DayLine]) -> Iterator[Metric]:
    by_agent: defaultdict[str, list[DayLine]] = defaultdict(list)
    for line in lines:
        by_agent[line.agent].append(line)
    reward = GaugeMetricFamily("rl_average_reward", "Mean credited reward of the last 7 days.", labels=("agent",))
    success = GaugeMetricFamily("rl_success_rate", "Share of decisions whose tool did its job.", labels=("agent",))
    explored = GaugeMetricFamily("rl_exploration_rate", "Share of decisions that tried something.", labels=("agent",))
    decided = GaugeMetricFamily("rl_decisions", "Decisions of the last 7 days.", labels=("agent", "policy"))
    for agent, found in sorted(by_agent.items()):
        judged, made = sum(each.judged for each in found), sum(each.decisions for each in found)
        if judged:
            reward.add_metric((agent,), sum(each.reward for each in found) / judged)
            success.add_metric((agent,), sum(each.successes for each in found) / judged)
        if made:
            explored.add_metric((agent,), sum(each.explored for each in found) / made)
        for policy in sorted({each.policy for each in found}):
            decided.add_metric((agent, policy), sum(each.decisions for each in found if each.policy == policy))
    yield from (reward, success, explored, decided)
