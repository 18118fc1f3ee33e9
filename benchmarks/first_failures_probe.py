"""A pytest plugin that tells what was collected, what ran, in which order, with which verdict and for how long.

Runs inside the recorded project's own pytest (`-p first_failures_probe`), so it imports nothing of Whet.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest


class Probe:
    def __init__(self, out: Path) -> None:
        self.out = out
        self.collected: list[str] = []
        self.broken: list[str] = []  # could not be collected
        self.ran: dict[str, tuple[str, float]] = {}

    # Last, so that selected and reordered is what is told.
    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.collected = [item.nodeid for item in session.items]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        letter, seconds = self.ran.pop(report.nodeid, ("p", 0.0))
        self.ran[report.nodeid] = (_worse(letter, _letter(report)), seconds + report.duration)

    def pytest_sessionfinish(self) -> None:
        ran = {test: [letter, round(seconds, 6)] for test, (letter, seconds) in self.ran.items()}
        told: dict[str, Any] = {"collected": self.collected, "broken": self.broken, "ran": ran}
        self.out.write_text(json.dumps(told))


def _letter(report: pytest.TestReport) -> str:
    if report.failed:
        return "f" if report.when == "call" else "e"
    if report.skipped:
        return "x" if hasattr(report, "wasxfail") else "s"
    return "X" if hasattr(report, "wasxfail") else "p"


def _worse(before: str, now: str) -> str:
    return min(before, now, key="fesxXp".index)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Probe(Path(os.environ["FIRST_FAILURES_OUT"])))
