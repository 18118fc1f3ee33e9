"""What the probe sees and says. Part of `whet_probe`."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time

from .selection import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MESSAGE_LENGTH = 4000
TEXT_LENGTH = 6000
_NETWORKS = (socket.AF_INET, socket.AF_INET6)
# Inside a tuple, because libraries that fake the time replace module attributes.
_CLOCK = (time.time,)


def wall_clock() -> float:
    return _CLOCK[0]()


class Events:
    """Appends to the events file; a process forked by a test says nothing."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._pid = os.getpid()

    def say(self, **event: object) -> None:
        if os.getpid() != self._pid:
            return
        # Opened each time: a test may close every descriptor there is.
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, (json.dumps(event) + "\n").encode())
        finally:
            os.close(descriptor)


class Senses:
    """What the running test does that its report does not tell: network traffic and sleep.

    Interpreters before 3.13 do not tell of sleep; then it stays unknown.
    """

    def __init__(self) -> None:
        self._network = False
        self._slept_seconds = 0.0
        self._hears_sleep = False
        self._thread = threading.get_ident()
        sys.addaudithook(self._hear)
        time.sleep(0)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "time.sleep":
            self._hears_sleep = True
            if threading.get_ident() == self._thread:
                self._slept_seconds += float(arguments[0])
        elif event in ("socket.connect", "socket.sendto") and arguments[0].family in _NETWORKS:
            self._network = True

    def reset(self) -> None:
        self._thread = threading.get_ident()
        self._network = False
        self._slept_seconds = 0.0

    def facts(self) -> dict[str, object]:
        return {"network": self._network, "slept_seconds": self._slept_seconds if self._hears_sleep else None}


class Verdict:
    """One test's reports of setup, call and teardown, put together."""

    def __init__(self) -> None:
        self.outcome: str | None = None
        self.message = self.text = ""
        self.duration_seconds = 0.0
        self.retries = 0
        self._again = False

    def add(self, report: Any) -> None:
        if report.when == "setup":
            self._again = False
        if not hasattr(report, "context"):  # subtests lie within the test's own time
            self.duration_seconds += getattr(report, "duration", 0.0) or 0.0
        if report.outcome == "rerun":
            self.retries += 1
            self._again = True
            return
        outcome = outcome_of(report)
        if outcome is not None and self.outcome not in ("failed", "error") and not self._again:
            self.outcome = outcome
            self.message = message_of(report)
            self.text = text_of(report) if report.failed else ""

    def complete(self, report: Any) -> bool:
        """Whether `report` was the last one of its test.

        Retry plugins make another attempt after a teardown: pytest-rerunfailures says so in a report,
        flaky keeps the failed call to itself.
        """
        if report.when in ("setup", "call") or self._again:
            return False
        if self.outcome is None:
            self.retries += 1
        return self.outcome is not None


def outcome_of(report: Any) -> str | None:
    """What this phase says about the whole test; None when it leaves that to the other phases."""
    if report.failed:
        return "failed" if report.when in ("call", "???") else "error"  # ???: xdist lost the worker
    expected_failure = hasattr(report, "wasxfail")
    if report.skipped:
        return "xfailed" if expected_failure else "skipped"
    if report.when == "call":
        return "xpassed" if expected_failure else "passed"
    return None


def message_of(report: Any) -> str:
    """The exception's own message, the reason of a skip, or else the last lines of the traceback."""
    longrepr = report.longrepr
    if longrepr is None:
        return ""
    if isinstance(longrepr, tuple):
        return clean(str(longrepr[-1]))[:MESSAGE_LENGTH]
    crash = getattr(getattr(longrepr, "reprcrash", None), "message", None)
    if crash:
        return clean(str(crash))[:MESSAGE_LENGTH]
    return clean(str(longrepr)).rstrip()[-MESSAGE_LENGTH:]


def text_of(report: Any) -> str:
    """A failure as pytest prints it: its end, which says what it was, from the beginning of a line."""
    text = clean(report.longreprtext)
    return text if len(text) <= TEXT_LENGTH else text[-TEXT_LENGTH:].partition("\n")[2]
