"""Qase: exported results and test cases, as JSON or CSV, and the reports its reporters write."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from whet.tools.results.documents import Document, whole
from whet.tools.results.qase_records import NAMES, Record
from whet.tools.results.refusing import bad
from whet.tools.results.reported import Part

SOURCE = "qase"
NOTHING_TO_LEARN = "of Qase without a verdict: names, but nothing to learn from"
_MARKS = frozenset({"status", "result", "execution", "steps", "preconditions", "steps_actions", "time_spent_ms"})
# Where exports, pages of the API and test repositories keep their records.
_SHELVES = ("results", "entities", "cases", "tests", "test_cases", "data", "runs", "suites", "result")
_RUN_SHELVES = ("results", "entities")

_LONGEST_CELL = 131_072


def is_export(data: object) -> bool:
    return next(records(data), None) is not None


def claims_csv(head: bytes) -> bool:
    """Whether the first line has the columns of an export."""
    first = head.decode("utf-8-sig", "replace").splitlines()[:1]
    return _is_record(dict.fromkeys(_columns(next(csv.reader(first), []))))


def read(document: Document, data: Any, left_out: Counter[str]) -> Iterator[tuple[str, Part]]:
    """Each result with what it is of one run with: the run's number, else the file; a file of one record is of one
    run with its neighbours."""
    found = [Record(document, fields, suites, run) for fields, suites, run in records(data)]
    for record in found:
        if record.outcome is None:
            left_out[NOTHING_TO_LEARN] += 1
        else:
            yield record.run or (document.name if len(found) > 1 else ""), _part(document, record, record.outcome)


def rows(document: Document) -> list[dict[str, str]]:
    """A CSV file's records by column; lines without a title continue the one above, or hold a suite alone."""
    content = whole(document)
    if b"\0" in content:
        raise bad(document.name, "holds null bytes", "Save it as UTF-8.")
    try:
        lines = map(_sized, csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))
        columns = _columns(next(lines, []))
        return [row for line in lines if NAMES & (row := _filled(columns, line)).keys()]
    except UnicodeDecodeError as error:
        raise bad(document.name, "is not UTF-8 text", "Save it as UTF-8.") from error
    except csv.Error as error:
        raise bad(document.name, f"is no valid CSV or is cut off: {error}") from error


def _sized(cells: list[str]) -> list[str]:
    """Refuses giants by ourselves: the limit of the csv module is the whole process's, and others may lift it."""
    if any(len(cell) > _LONGEST_CELL for cell in cells):
        raise csv.Error(f"a cell has more than {_LONGEST_CELL} characters")
    return cells


def _part(document: Document, record: Record, outcome: str) -> Part:
    at = record.at
    part = Part(SOURCE, document.name, at or document.modified, dated_by_file=at is None)
    part.add(record.test, outcome, record.seconds)
    return part


def records(data: object) -> Iterator[tuple[dict[str, Any], tuple[str, ...], str]]:
    """Every record, with the suites above it and the run it is of; without recursion, files may nest deeply."""
    pending: list[tuple[object, tuple[str, ...], str]] = [(data, (), "")]
    while pending:
        item, suites, run = pending.pop()
        if isinstance(item, list):
            pending.extend((inner, suites, run) for inner in reversed(item))
        elif isinstance(item, dict):
            shelves = [name for name in _SHELVES if isinstance(item.get(name), list | dict)]
            if not shelves and _is_record(item):
                yield item, suites, run
            pending.extend((item[name], *_inside(item, name, suites, run)) for name in reversed(shelves))


def _inside(item: dict[str, Any], shelf: str, suites: tuple[str, ...], run: str) -> tuple[tuple[str, ...], str]:
    title = item.get("title")
    if shelf in _RUN_SHELVES:
        return suites, str(item.get("run_id") or item.get("id") or run)
    return ((*suites, title) if isinstance(title, str) else suites), run


def _is_record(data: dict[str, Any]) -> bool:
    return bool(NAMES & data.keys()) and bool(_MARKS & data.keys())


def _columns(line: list[str]) -> list[str]:
    """`Case ID` as `case_id`."""
    return [re.sub(r"\W+", "_", name.strip().lower()).strip("_") for name in line]


def _filled(columns: list[str], line: list[str]) -> dict[str, str]:
    return {name: value for name, value in zip(columns, line, strict=False) if value}
