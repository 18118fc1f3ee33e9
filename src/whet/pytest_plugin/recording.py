"""Where the run is told: keeps the desk, gathers the reports, records the run and says what came of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from whet.pytest_plugin.advice import Ran
from whet.pytest_plugin.closing import Story, closing_lines
from whet.pytest_plugin.line import DeskError, DeskProcess, Line
from whet.pytest_plugin.names import clean
from whet.pytest_plugin.options import Wishes, narrowed
from whet.pytest_plugin.timeline import Timeline

if TYPE_CHECKING:
    from whet.pytest_plugin.running import Running

_RECORD_SECONDS = 30.0
# A failure says at its end what it was; what comes after the first ones is mostly the same again.
_MOST_FAILURES, _FAILURE_CHARACTERS = 50, 6000
_CLOCK = (time.time,)


class Recording:
    def __init__(self, config: pytest.Config, wishes: Wishes) -> None:
        self._config = config
        self._desk: DeskProcess | None = None
        self._started_at = _CLOCK[0]()
        self._lines: dict[str, dict[str, list[int]]] = {}
        self._failures: dict[str, str] = {}
        self.story = Story(wishes, Timeline())

    @property
    def line(self) -> Line:
        if self._desk is None:
            raise DeskError("Whet's own process was not started")
        return self._desk.line

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        try:
            self._desk = DeskProcess(self._config.rootpath)
        except OSError as error:
            self.story.troubles.append(f"Whet's own process could not be started ({error})")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.story.broken_files += report.failed

    def pytest_runtest_logstart(self) -> None:
        self.story.timeline.start()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = getattr(report, "whet_id", None) or clean(report.nodeid)
        self.story.timeline.add(test, report)
        if report.failed and len(self._failures) < _MOST_FAILURES:
            self._failures.setdefault(test, _last_words(report))
        lines = getattr(report, "whet_lines", None)
        if lines:
            self._lines[test] = lines

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        running: Running = self._config.pluginmanager.getplugin("whet-running")
        self.story.troubles.extend(running.troubles)
        if self._desk is None or session.config.option.collectonly or _only_setup(session.config):
            return
        try:
            self.story.stopped = exitstatus not in (0, 1) or bool(session.shouldfail or session.shouldstop)
            self._end(running, interrupted=exitstatus not in (0, 1))
        except DeskError as error:
            self.story.troubles.append(f"this run was not recorded ({error})")

    def _end(self, running: Running, interrupted: bool) -> None:
        story = self.story
        story.advice = running.advice or self.line.ask("fetch", "advice")
        story.own, story.ours = running.orders or self.line.ask("fetch", "story") or ((), ())
        ended = story.timeline.ended()
        if not ended:
            return
        ran_all = not interrupted and not story.broken_files and all(test in ended for test in story.own)
        story.complete = ran_all and bool(story.own)
        ran = Ran(
            started_at=self._started_at,
            tests=list(ended),
            outcomes="".join(str(result.outcome) for result in ended.values()),
            seconds=[result.seconds for result in ended.values()],
            left_out=[test for test in story.own if test not in ended] if story.selecting else (),
            complete=story.complete and (story.advice.whole if story.advice else not narrowed(self._config)),
            lines=self._lines,
            failures={test: said for test, said in self._failures.items() if test in story.timeline.failures()},
        )
        story.learned = self.line.ask("record", ran, seconds=_RECORD_SECONDS)
        story.troubles.extend(note for note in story.learned.notes if note not in story.troubles)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._config.option.collectonly:
            return
        for line in closing_lines(self.story, self._config.option.verbose):
            terminalreporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        if self._desk is not None:
            self._desk.close()
            self._desk = None


def _last_words(report: pytest.TestReport) -> str:
    """Cut at the beginning of a line: half a secret would be found by no mask."""
    text = report.longreprtext
    return text if len(text) <= _FAILURE_CHARACTERS else text[-_FAILURE_CHARACTERS:].partition("\n")[2]


def _only_setup(config: pytest.Config) -> bool:
    return bool(getattr(config.option, "setuponly", False) or getattr(config.option, "setupplan", False))
