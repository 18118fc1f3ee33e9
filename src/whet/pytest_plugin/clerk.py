"""Who works at the desk: answers in plain values what pytest asks, from the project's ordering."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from whet.bootstrap.choosing import Choice, choose
from whet.bootstrap.ordering import Standing, finite, open_ordering
from whet.bootstrap.site import open_site
from whet.core.sheets import FAILURES, LEFT_OUT, Sheet
from whet.pytest_plugin.advice import Advice, Learned, Placed, Question, Ran
from whet.skills.ordering import Goal, Ranked
from whet.tools import git

_MAP_SECONDS, _MAP_SHARE = 2.0, 0.1
_STORE_SECONDS = 10.0  # tests do not wait longer for a store that others hold locked
_REMEMBERING = "whet.bootstrap.remembering_runs"
_NEAR = 0.5  # at least this near to a change: always run


class Clerk:
    def __init__(self, root: Path) -> None:
        self._stack = ExitStack()
        self._ordering = self._stack.enter_context(open_ordering(root, wait_seconds=_STORE_SECONDS))
        self._prefix = _prefix(root, self._ordering.root)
        self._around = self._ordering.look_around()
        self._work = git.changes(self._ordering.root)  # before tests write files of their own
        self._recorded = False

    def close(self) -> None:
        """The tests are over; whoever ends pytest waits for a few seconds."""
        with self._stack:
            if self._recorded:
                self._tend_memory()

    def rerank(self, failed: list[str], passed: list[str], left: list[str]) -> list[str]:
        named = ([self._prefix + test for test in tests] for tests in (failed, passed, left))
        return [test.removeprefix(self._prefix) for test in self._ordering.orderer.after_failure(*named)]

    def record(self, ran: Ran) -> Learned:
        tests = [self._prefix + test for test in ran.tests]
        sheet = self._sheet(ran, tests)
        self._ordering.record(sheet)
        if ran.lines:
            self._ordering.map_tests({self._prefix + test: files for test, files in ran.lines.items()})
        self._remember(sheet, ran)
        self._recorded = True
        quarantined = self._ordering.sheets.quarantined()
        failed = {t for t, outcome in zip(tests, ran.outcomes, strict=True) if outcome in FAILURES} - set(quarantined)
        flaky = tuple(test[len(self._prefix) :] for test in self._ordering.flaky(failed))
        return Learned(self._ordering.orderer.sheets, flaky, tuple(self._ordering.notes))

    def _sheet(self, ran: Ran, tests: list[str]) -> Sheet:
        at = datetime.fromtimestamp(ran.started_at, UTC)
        seconds = [finite(value) for value in ran.seconds]
        left = [self._prefix + test for test in ran.left_out]
        return self._ordering.sheet(
            at, [*tests, *left], ran.outcomes + LEFT_OUT * len(left), [*seconds, *[math.nan] * len(left)], ran.complete
        )

    def _remember(self, sheet: Sheet, ran: Ran) -> None:
        from whet.bootstrap.remembering_runs import Failure, changed_by, remember_run

        failures = [Failure(self._prefix + test, text) for test, text in ran.failures.items()]
        try:
            remember_run(self._ordering.site, self._ordering.store, sheet, changed_by(self._work), failures)
        except Exception as error:  # the run itself is recorded, and must be said to be
            self._ordering.notes.append(f"this run was not remembered ({type(error).__name__}: {error})")

    def _tend_memory(self) -> None:
        from whet.bootstrap.remembering import opened_memory

        if (memory := opened_memory(self._ordering.site, self._ordering.store)) is not None:
            memory.tend_beside_a_run()

    def advise(self, question: Question) -> Advice:
        ordering = self._ordering
        tests = [self._prefix + test for test in question.tests]
        whole = question.whole and not (question.named and self._leaves_files_out(tests))
        standing = ordering.rank(tests, whole, self._around, _goal(question))
        choice = self._choice(question, standing)
        left_out = [] if choice is None or choice.kept is None else [t for t in tests if t not in choice.kept]
        cut = len(self._prefix)
        known = sum(one.expected_seconds or 0.0 for one in standing.ranked)
        threading.Thread(target=import_module, args=[_REMEMBERING], daemon=True).start()  # while the tests run
        return Advice(
            ranking=tuple(Placed(one.test[cut:], *one[1:]) for one in standing.ranked),
            runs=ordering.orderer.sheets,
            left_out=frozenset(test[cut:] for test in left_out),
            selection=None if choice is None else choice.told,
            whole=whole,
            full=choice is not None and choice.full,
            quarantined=_named(ordering.sheets.quarantined(), self._prefix),
            to_map=self._to_map(question, tests, standing),
            map_seconds=max(_MAP_SECONDS, _MAP_SHARE * known),
            notes=tuple(ordering.notes),
        )

    def _leaves_files_out(self, tests: list[str]) -> bool:
        """A file that the last run of everything had, that is still there, and of which nothing was collected."""
        last = self._around.whole
        missing = {_file(test) for test in last.tests} - {_file(test) for test in tests} if last else set()
        return any((self._ordering.root / file).is_file() for file in missing)

    def _choice(self, question: Question, standing: Standing) -> Choice | None:
        if _goal(question) is Goal.WHOLE_RUN:
            return None
        always = [one.test for one in standing.ranked if _always(one, standing)]
        return choose(
            self._ordering.orderer, standing.ranked, always, question.budget_seconds, question.risk, question.workers
        )

    def _to_map(self, question: Question, tests: list[str], standing: Standing) -> frozenset[str]:
        if question.map == "off":
            return frozenset()
        wanted = tests if question.map == "full" else standing.around.unmapped(tests)
        return frozenset(test.removeprefix(self._prefix) for test in wanted)


def _file(test: str) -> str:
    return test.partition("::")[0]


def _goal(question: Question) -> Goal:
    everything = question.budget_seconds is None and question.risk is None
    return Goal.WHOLE_RUN if everything else Goal.BUDGET


def _always(one: Ranked, standing: Standing) -> bool:
    """New, never timed, lately failed, or near to what changed."""
    near = standing.near.get(one.test)
    changed = near is not None and near.value >= _NEAR
    new = one.likelihood is None or one.expected_seconds is None  # nearness gives even a new test a likelihood
    return changed or new or one.test in standing.failed_lately


def quarantined(root: Path) -> dict[str, str]:
    """From the store alone: what goes wrong while learning or ranking must not make a quarantined test count."""
    site = open_site(root)
    with site.store(_STORE_SECONDS) as store:
        return _named(store.sheets.quarantined(), _prefix(root, site.project.root))


def _named(tests: Mapping[str, str], prefix: str) -> dict[str, str]:
    """As pytest names them; without those it cannot see from its root."""
    return {test[len(prefix) :]: reason for test, reason in tests.items() if test.startswith(prefix)}


def _prefix(rootdir: Path, project: Path) -> str:
    """pytest names tests from its own root, which without settings is where it was started."""
    if rootdir == project or not rootdir.is_relative_to(project):
        return ""
    return f"{rootdir.relative_to(project).as_posix()}/"
