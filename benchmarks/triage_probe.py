"""A pytest plugin that tells how each failing test failed, as pytest prints it, and which lines each test executed.

Runs inside the recorded project's own pytest (`-p triage_probe`), so it imports nothing of Whet.
TRIAGE_PLAN names a JSON file: where to write, the files whose lines are wanted, and which tests to run (null: all).
"""

import faulthandler
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import coverage
import pytest

LONGEST_TEXT = 100_000
LONGEST_TEST_SECONDS = 15  # then the process ends and tells nothing: a mutant that hangs fails no test


class Lines:
    """Says whose lines are executed."""

    def __init__(self, cover: coverage.Coverage) -> None:
        self.cover = cover

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self.cover.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self.cover.switch_context("")


class Probe:
    def __init__(self, plan: dict[str, Any], config: pytest.Config) -> None:
        self.out = Path(plan["out"])
        self.root = plan["root"]
        self.chosen = None if plan["tests"] is None else set(plan["tests"])
        self.broken: list[str] = []  # could not be collected
        self.failed: dict[str, dict[str, str]] = {}
        self.cover = coverage.Coverage(data_file=None, include=plan["cover"], config_file=False)
        if plan["cover"]:
            self.cover.start()
            config.pluginmanager.register(Lines(self.cover))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.chosen is not None:
            items[:] = [item for item in items if item.nodeid in self.chosen]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Any:
        faulthandler.dump_traceback_later(LONGEST_TEST_SECONDS, exit=True)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and report.nodeid not in self.failed:
            crash = getattr(getattr(report.longrepr, "reprcrash", None), "message", None)
            self.failed[report.nodeid] = {
                "text": report.longreprtext[:LONGEST_TEXT],
                "message": str(crash or "")[:4000],
            }

    def pytest_sessionfinish(self) -> None:
        self.cover.stop()
        told = {"broken": self.broken, "failed": self.failed, "executed": self._executed()}
        self.out.write_text(json.dumps(told))

    def _executed(self) -> dict[str, dict[str, list[int]]]:
        data = self.cover.get_data()
        executed: dict[str, dict[str, list[int]]] = defaultdict(dict)
        for file in data.measured_files():
            by_test: dict[str, list[int]] = defaultdict(list)
            for line, tests in data.contexts_by_lineno(file).items():
                for test in tests:
                    by_test[test].append(line)
            for test, lines in by_test.items():
                executed[test][os.path.relpath(file, self.root)] = sorted(lines)
        return executed


def pytest_configure(config: pytest.Config) -> None:
    plan = json.loads(Path(os.environ["TRIAGE_PLAN"]).read_text())
    config.pluginmanager.register(Probe(plan, config))
