"""Who works at the desk: answers in plain values what pytest asks, from the project's ordering."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from whet.bootstrap.choosing import Choice, choose
from whet.bootstrap.ordering import Standing, finite, open_ordering
from whet.core.sheets import FAILURES
from whet.pytest_plugin.advice import Advice, Learned, Placed, Question, Ran
from whet.skills.ordering import Ranked

_MAP_SECONDS, _MAP_SHARE = 2.0, 0.1
_NEAR = 0.5  # at least this near to a change: always run


class Clerk:
    def __init__(self, root: Path) -> None:
        self._stack = ExitStack()
        self._ordering = self._stack.enter_context(open_ordering(root))
        self._prefix = _prefix(root, self._ordering.root)

    def close(self) -> None:
        self._stack.close()

    def rerank(self, failed: list[str], passed: list[str], left: list[str]) -> list[str]:
        named = ([self._prefix + test for test in tests] for tests in (failed, passed, left))
        return [test.removeprefix(self._prefix) for test in self._ordering.orderer.after_failure(*named)]

    def record(self, ran: Ran) -> Learned:
        tests = [self._prefix + test for test in ran.tests]
        at = datetime.fromtimestamp(ran.started_at, UTC)
        seconds = [finite(value) for value in ran.seconds]
        self._ordering.record(self._ordering.sheet(at, tests, ran.outcomes, seconds, ran.complete))
        if ran.lines:
            self._ordering.map_tests({self._prefix + test: files for test, files in ran.lines.items()})
        quarantined = self._ordering.sheets.quarantined()
        failed = {t for t, outcome in zip(tests, ran.outcomes, strict=True) if outcome in FAILURES} - set(quarantined)
        flaky = tuple(test[len(self._prefix) :] for test in self._ordering.flaky(failed))
        return Learned(self._ordering.orderer.sheets, flaky, tuple(self._ordering.notes))

    def advise(self, question: Question) -> Advice:
        ordering = self._ordering
        tests = [self._prefix + test for test in question.tests]
        standing = ordering.rank(tests, question.whole)
        choice = self._choice(question, standing)
        left_out = [] if choice is None or choice.kept is None else [t for t in tests if t not in choice.kept]
        cut = len(self._prefix)
        known = sum(one.expected_seconds or 0.0 for one in standing.ranked)
        return Advice(
            ranking=tuple(Placed(one.test[cut:], *one[1:]) for one in standing.ranked),
            runs=ordering.orderer.sheets,
            left_out=frozenset(test[cut:] for test in left_out),
            selection=None if choice is None else choice.told,
            quarantined={test[cut:]: reason for test, reason in ordering.sheets.quarantined().items()},
            to_map=self._to_map(question, tests),
            map_seconds=max(_MAP_SECONDS, _MAP_SHARE * known),
            notes=tuple(ordering.notes),
        )

    def _choice(self, question: Question, standing: Standing) -> Choice | None:
        if question.budget_seconds is None and question.risk is None:
            return None
        always = [one.test for one in standing.ranked if _always(one, standing)]
        return choose(self._ordering.orderer, standing.ranked, always, question.budget_seconds, question.risk)

    def _to_map(self, question: Question, tests: list[str]) -> frozenset[str]:
        if question.map == "off":
            return frozenset()
        wanted = tests if question.map == "full" else self._ordering.unmapped(tests)
        return frozenset(test.removeprefix(self._prefix) for test in wanted)


def _always(one: Ranked, standing: Standing) -> bool:
    """New, never timed, lately failed, or near to what changed."""
    near = standing.near.get(one.test)
    changed = near is not None and near.value >= _NEAR
    new = one.likelihood is None or one.expected_seconds is None  # nearness gives even a new test a likelihood
    return changed or new or one.test in standing.failed_lately


def _prefix(rootdir: Path, project: Path) -> str:
    """pytest names tests from its own root, which without settings is where it was started."""
    if rootdir == project or not rootdir.is_relative_to(project):
        return ""
    return f"{rootdir.relative_to(project).as_posix()}/"
