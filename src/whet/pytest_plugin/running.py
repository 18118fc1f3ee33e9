"""Where tests run: pytest's own process, or each worker of pytest-xdist. Orders, watches, asks again after failures."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import pytest

from whet.pytest_plugin.advice import Advice, Placed, Question
from whet.pytest_plugin.arranging import Arrangement, slow_in_time
from whet.pytest_plugin.clock import Deadline
from whet.pytest_plugin.disturbed import disturbed_by_tracing
from whet.pytest_plugin.garbage import without_collecting
from whet.pytest_plugin.line import DeskError, Line
from whet.pytest_plugin.mapping import Tracer
from whet.pytest_plugin.names import Names
from whet.pytest_plugin.options import Wishes, args_were_given, narrowed
from whet.pytest_plugin.quarantine import set_aside, torn_down_alone
from whet.pytest_plugin.scores import known_seconds

# A suite that fails everywhere is asked about now and then only.
_ASKED_AT_ONCE = 8
_PATIENCE_SECONDS = 30.0
_QUARANTINE_PATIENCE_SECONDS = 15.0  # longer than the desk waits for a locked store
_WORKERS_PATIENCE_SECONDS = 300.0  # long: workers must not end up with different orders


class Running:
    def __init__(self, config: pytest.Config, wishes: Wishes, line: Callable[[], Line]) -> None:
        self._config = config
        self._wishes = wishes
        self._line = line
        self._names = Names()
        self.advice: Advice | None = None
        self._quarantined: Mapping[str, str] = {}
        self._own_error: Exception | None = None  # a quarantined test's, when it was torn down
        self.orders: tuple[Sequence[str], Sequence[str]] | None = None  # the suite's own, and ours
        self._arrangement: Arrangement | None = None
        self._places: dict[str, int] = {}
        self._tracer: Tracer | None = None
        self._deadline = Deadline(None if wishes.shadow else wishes.budget_seconds)
        self._failed: list[str] = []
        self._passed: list[str] = []
        self._asked = 0
        self._time_is_up = False
        self._shortened = False
        self.troubles: list[str] = []
        worker = getattr(config, "workerinput", {})
        self._workers = int(worker.get("workercount", 1))
        self._dist = worker.get("whet_dist", "no")

    # What is collected.

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, Any, Any]:
        self._names.learn(items)
        collected = len(items)
        answer = yield
        self._names.learn(items)
        self._shortened = len(items) < collected  # by a plugin that splits the suite, say
        if items:
            with without_collecting():
                self._carefully(lambda: self._arrange(items), "the suite's own order was kept")
                self._carefully(self._learn_quarantine, "failures of quarantined tests count")
        return answer

    def _arrange(self, items: list[pytest.Item]) -> None:
        tests = tuple(dict.fromkeys(map(self._names.of, items)))
        whole = not narrowed(self._config) and not self._shortened
        asked = Question(
            tests, whole, self._wishes.budget_seconds, self._wishes.risk, self._wishes.map, self._workers,
            named=args_were_given(self._config),
        )  # fmt: skip
        patience = _PATIENCE_SECONDS if self._dist == "no" else _WORKERS_PATIENCE_SECONDS
        own = items[:]
        grouped: list[Arrangement] = []
        advice: Advice = self._line().ask(
            "advise", asked, seconds=patience, meanwhile=lambda: grouped.append(self._grouped(own))
        )
        kept = own if self._observing else [item for item in own if self._names.of(item) not in advice.left_out]
        arrangement = grouped[0] if len(kept) == len(own) else self._grouped(kept)
        names = [self._names.of(item) for item in kept]
        order = self._spread(arrangement, arrangement.order(advice.ranking), advice.ranking, names)
        self._arrangement = arrangement
        ours = [place for group in order for place in group]
        self.advice = advice
        if advice.full:
            self._deadline = Deadline(None)
        self._leave(tests, [names[place] for place in ours], [[kept[p].nodeid for p in group] for group in order])
        self._tracer = Tracer.if_possible(self._config, advice, [names[place] for place in ours], self._workers)
        if not self._observing:
            self._places = {name: place for place, name in enumerate(names)}
            items[:] = [kept[place] for place in ours]
            self._deselect(own, kept)

    def _learn_quarantine(self) -> None:
        """Without an order too, which tests do not count is to be known."""
        if self.advice is not None:
            self._quarantined = self.advice.quarantined
        elif not self._wishes.strict_quarantine:
            self._quarantined = self._line().ask("quarantined", seconds=_QUARANTINE_PATIENCE_SECONDS)

    def _grouped(self, items: list[pytest.Item]) -> Arrangement:
        return Arrangement(items, [self._names.of(item) for item in items])

    @property
    def _observing(self) -> bool:
        return self._wishes.shadow or self._wishes.own_order is not None

    def _spread(
        self, arrangement: Arrangement, order: list[int], ranking: tuple[Placed, ...], names: list[str]
    ) -> list[list[int]]:
        """With workers: slow tests not last; and where each gets one slice of the tests, the best ones dealt out."""
        groups = arrangement.groups(order)
        if self._workers == 1:
            return groups
        durations = known_seconds([placed.expected_seconds for placed in ranking])
        expected = dict(zip((placed.test for placed in ranking), durations, strict=True))
        seconds = {place: expected.get(names[place], 0.0) for place in order}
        groups = slow_in_time(groups, seconds, self._workers)
        if self._dist == "worksteal":
            return [group for first in range(self._workers) for group in groups[first :: self._workers]]
        return groups

    def _leave(self, own: tuple[str, ...], ours: list[str], groups: list[list[str]]) -> None:
        """For who tells the end of the story, and for who hands out the tests to workers."""
        self.orders = own, ours
        if self._dist != "no":
            self._line().ask("leave", "story", (own, ours))
            self._line().ask("leave", "advice", self.advice)
        if self._dist == "load":
            self._line().ask("leave", "groups", groups)

    def _deselect(self, own: list[pytest.Item], kept: list[pytest.Item]) -> None:
        staying = set(map(id, kept))
        gone = [item for item in own if id(item) not in staying]
        if gone:
            self._config.hook.pytest_deselected(items=gone)

    # What runs.

    @pytest.hookimpl(tryfirst=True, specname="pytest_runtest_protocol")
    def pytest_runtest_protocol_in_time(self) -> bool | None:
        """When the time is up, no more tests are started; none is cut short."""
        self._deadline.start()
        return True if self._time_is_up else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """The last test that runs ends what outlives it: there its errors are reported, after the tests by nobody."""
        if self._deadline.over():
            self._time_is_up = True
            item.session._setupstate.teardown_exact(None)

    @pytest.hookimpl(wrapper=True, trylast=True, specname="pytest_runtest_teardown")
    def pytest_runtest_teardown_apart(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """What outlives a quarantined test and ends after it is not in quarantine: its errors count."""
        self._own_error = torn_down_alone(item) if self._sets_aside(item) else None
        answer = yield
        if self._own_error is not None:
            raise self._own_error
        return answer

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
        known = len(self._failed)
        if self._tracer is not None:
            self._carefully(lambda: self._trace(item), "lines were not traced")
        answer = yield
        if len(self._failed) > known and nextitem is not None and self._dist == "no" and not self._observing:
            self._carefully(lambda: self._rerank(item, nextitem), "the order was not changed after a failure")
        return answer

    def _trace(self, item: pytest.Item) -> None:
        if self._tracer is not None and not disturbed_by_tracing(item):
            self._tracer.start(self._names.of(item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Generator[None, Any, Any]:
        report = yield
        name = self._names.of(item)
        report.whet_id = name
        if self._tracer is not None and report.when == "teardown":
            report.whet_lines = self._tracer.stop()
        if report.failed:
            self._failed.append(name)
        elif report.when == "call":
            self._passed.append(name)
        anothers = report.when == "teardown" and call.excinfo is not None and call.excinfo.value is not self._own_error
        if self._sets_aside(item) and not anothers:
            set_aside(report, self._quarantined[name])
        return report

    def _sets_aside(self, item: pytest.Item) -> bool:
        return self._names.of(item) in self._quarantined and not self._wishes.strict_quarantine

    def _rerank(self, item: pytest.Item, following: pytest.Item) -> None:
        """Changes what comes after the next test: that one was told to the fixtures of this one already."""
        self._asked += 1
        items = item.session.items
        done = next((n for n, other in enumerate(items) if other is following), len(items)) + 1
        often = self._asked > _ASKED_AT_ONCE and self._asked & (self._asked - 1)
        if self._arrangement is None or self.advice is None or often or len(items) - done < 2:
            return
        left = {self._places[self._names.of(other)]: other for other in items[done:]}
        if len(left) != len(items) - done:
            return  # tests of the same name: their places are not told apart
        tests = [self._names.of(other) for other in items[done:]]
        better = self._line().ask("rerank", self._failed, self._passed, tests)
        ranking, current = _reordered(self.advice.ranking, better), self._places[self._names.of(following)]
        order = self._arrangement.remaining(ranking, left, current)
        items[done:] = [left[place] for place in order]

    def _carefully(self, work: Callable[[], None], lost: str) -> None:
        """Whatever fails on our side must not touch the tests: it is told at the end of the run."""
        try:
            work()
        except Exception as error:
            kind = "" if isinstance(error, DeskError) else f"{type(error).__name__}: "
            told = f"{lost} ({kind}{error})"
            self.troubles += [told] if told not in self.troubles else []
            output = getattr(self._config, "workeroutput", None)
            if output is not None:
                output["whet_troubles"] = self.troubles


def _reordered(ranking: tuple[Placed, ...], better: list[str]) -> list[Placed]:
    """The tests in the new order; the chances of failing stay with the places, since only the order is known anew."""
    wanted = set(better)
    kept = [placed for placed in ranking if placed.test in wanted]
    seconds = {placed.test: placed.expected_seconds for placed in kept}
    chances = sorted((p.likelihood for p in kept if p.likelihood is not None), reverse=True)
    chances_by_place = [*chances, *[None] * (len(better) - len(chances))]
    return [Placed(t, "", c, seconds.get(t)) for t, c in zip(better, chances_by_place, strict=True)]
