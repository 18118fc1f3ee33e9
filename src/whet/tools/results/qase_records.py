"""One record of Qase: its fields have other names in every export."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import isnan, nan
from typing import Any

from whet.core.text import printable
from whet.tools.results.documents import Document
from whet.tools.results.quantities import checked_seconds, moment_of, moment_of_epoch, seconds_of
from whet.tools.results.refusing import bad
from whet.tools.results.reported import Reported

NAMES = frozenset({"title", "test_name", "case_title", "case", "case_id", "testops_id", "signature"})
# A case's own status (actual, draft, deprecated) is no verdict, and neither is in_progress or untested.
_OUTCOMES = {"passed": "p", "failed": "f", "invalid": "e", "skipped": "s", "blocked": "s"}
# In milliseconds and in seconds; a `duration` whose unit no one states stays unknown.
_MILLISECONDS = ("time_spent_ms", "time_ms", "duration_ms")
_SECONDS = ("time_spent", "time", "duration_seconds")
_STARTS = ("start_time", "started_at")
_ENDS = ("end_time", "finished_at", "date", "created_at")


class Record:
    """`suites` stand above it in a test repository; `run` is the number of the run it was exported with."""

    def __init__(self, document: Document, fields: Mapping[str, Any], suites: tuple[str, ...], run: str) -> None:
        execution = fields.get("execution")
        self._document = document
        self._fields = fields
        self._execution: Mapping[str, Any] = execution if isinstance(execution, dict) else {}
        self._suites = suites
        self.run = str(fields.get("run_id") or run)

    @property
    def outcome(self) -> str | None:
        stated = self._execution.get("status") or self._fields.get("status") or self._fields.get("result")
        return _OUTCOMES.get(stated.strip().lower()) if isinstance(stated, str) else None

    @property
    def test(self) -> Reported:
        """By signature, which pytest's reporter makes from the node id; else by suites and title; else by number."""
        signature, title = self._text("signature"), self._title()
        if ".py::" in signature:
            return Reported("", signature + ("" if "[" in signature else self._arguments()))
        if title:
            return Reported(" / ".join(self._suites or self._own_suites()), title)
        number = self._fields.get("case_id") or self._fields.get("testops_id")
        if not number:
            raise bad(self._document.name, "has a result that names neither a test nor a case")
        return Reported("", f"case {number}")

    @property
    def seconds(self) -> float:
        try:
            return self._seconds()
        except (ValueError, OverflowError) as error:
            told = f"has a result of {printable(self.test.name, 80)!r} whose duration is no number of seconds"
            raise bad(self._document.name, told, "A duration is a number, not negative.") from error

    @property
    def at(self) -> datetime | None:
        for fields in (self._execution, self._fields):
            for name in _STARTS:
                if began := _moment(fields.get(name)):
                    return began
        ends = (_moment(self._execution.get("end_time")), *(_moment(self._fields.get(name)) for name in _ENDS))
        ended = next((end for end in ends if end), None)
        took = 0.0 if isnan(self.seconds) else self.seconds
        return ended - timedelta(seconds=took) if ended else None

    def _seconds(self) -> float:
        if (milliseconds := _number(self._execution.get("duration"))) is not None:
            return checked_seconds(milliseconds / 1000)
        for name in _MILLISECONDS:
            if (milliseconds := _number(self._fields.get(name))) is not None:
                return checked_seconds(milliseconds / 1000)
        stated = next((self._fields[name] for name in _SECONDS if self._fields.get(name) is not None), None)
        return nan if stated is None else seconds_of(str(stated))

    def _title(self) -> str:
        case = self._fields.get("case")
        nested = case.get("title") if isinstance(case, dict) else None
        titles = (self._text("test_name"), self._text("case_title"), self._text("title"), nested)
        return next((title for title in titles if isinstance(title, str) and title), "")

    def _own_suites(self) -> list[str]:
        relations = self._fields.get("relations")
        suite = relations.get("suite") if isinstance(relations, dict) else None
        data = suite.get("data") if isinstance(suite, dict) else None
        if isinstance(data, list):
            return [str(one["title"]) for one in data if isinstance(one, dict) and one.get("title")]
        return [named] if (named := self._text("suite") or self._text("suite_title")) else []

    def _arguments(self) -> str:
        given = self._fields.get("params")
        return f"[{'-'.join(map(str, given.values()))}]" if isinstance(given, dict) and given else ""

    def _text(self, name: str) -> str:
        value = self._fields.get(name)
        return value if isinstance(value, str) else ""


def _moment(value: object) -> datetime | None:
    number = _number(value) if not isinstance(value, str) or value.replace(".", "", 1).isdigit() else None
    if number is None:
        return moment_of(value) if isinstance(value, str) else None
    # Some write seconds, some milliseconds; seconds of that size lie beyond the year 5000.
    return moment_of_epoch(number / 1000 if number > 1e11 else number)


def _number(value: object) -> float | None:
    """Of JSON, or of a CSV cell. ValueError for text that is none."""
    if value is None or value == "" or isinstance(value, bool):
        return None
    if isinstance(value, int | float | str):
        return float(value)
    raise ValueError(value)
