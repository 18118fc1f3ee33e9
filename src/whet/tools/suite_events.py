"""Reads what the probe wrote, also while it is still writing."""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from whet.tools.suite_records import Place, TestResult


class EventLog:
    """Follows the events file. Lines that are not the probe's are passed over: tests can write there too."""

    def __init__(self, path: Path) -> None:
        self.tests: list[TestResult] = []
        self.collected: int | None = None
        self.places: dict[str, Place] = {}
        self.ids: tuple[str, ...] = ()
        self.collection_errors: list[str] = []
        self.running: dict[str, None] = {}
        self.finished = False
        self._path = path
        self._position = 0

    def catch_up(self) -> list[TestResult]:
        """Read what was added since; the tests that finished meanwhile."""
        known = len(self.tests)
        for line in self._new_lines():
            try:
                self._take(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError, ValidationError):
                continue
        return self.tests[known:]

    def first_failure_seconds(self) -> float | None:
        return min((test.ended_seconds for test in self.tests if test.bad()), default=None)

    def _new_lines(self) -> list[bytes]:
        try:
            with self._path.open("rb") as events:
                events.seek(self._position)
                text = events.read()
        except FileNotFoundError:
            return []
        whole = text[: text.rfind(b"\n") + 1]
        self._position += len(whole)
        return whole.splitlines()

    def _take(self, event: dict[str, Any]) -> None:
        kind = event.pop("event")
        if kind == "started":
            self.running[event["id"]] = None
        elif kind == "finished":
            self.tests.append(TestResult(**event))
            self.running.pop(event["id"], None)
        elif kind == "collected":
            self.collected = event["total"]
            self.ids = tuple(test for test, _, _ in event["tests"])
            self.places = {test: Place(file=file, line=line) for test, file, line in event["tests"]}
        elif kind == "collection_error":
            self.collection_errors.append(event["message"])
        elif kind == "ended":
            self.finished = True
