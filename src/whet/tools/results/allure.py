"""Allure results: one JSON file per execution of a test."""

from collections.abc import Mapping
from datetime import datetime
from math import nan
from typing import Any

from whet.tools.results.documents import Document
from whet.tools.results.quantities import checked_seconds, moment_of_epoch
from whet.tools.results.refusing import bad
from whet.tools.results.reported import Part, Reported

SOURCE = "allure"
NO_VERDICT = "without a verdict"
_OUTCOMES = {"passed": "p", "failed": "f", "broken": "e", "skipped": "s"}


def is_result(data: object) -> bool:
    return isinstance(data, dict) and "status" in data and ("historyId" in data or {"uuid", "start"} <= data.keys())


def read(document: Document, data: Mapping[str, Any], names: dict[str, Reported]) -> Part | None:
    """One execution; None when it has no verdict. Results with one `historyId` are of one test, which `names` keeps."""
    outcome = _outcome(data)
    if outcome is None:
        return None
    test = _test(document, data)
    began, seconds = _when(document, data)
    part = Part(SOURCE, document.name, began or document.modified, dated_by_file=began is None)
    part.add(names.setdefault(str(data.get("historyId") or test), test), outcome, seconds)
    return part


def _outcome(data: Mapping[str, Any]) -> str | None:
    outcome = _OUTCOMES.get(str(data["status"]))
    details = data.get("statusDetails")
    message = details.get("message") if isinstance(details, dict) else None
    # allure-pytest reports an expected failure as skipped, an unexpected pass as passed.
    if isinstance(message, str) and message.startswith(("XFAIL", "XPASS")):
        return {"s": "x", "p": "X"}.get(outcome or "", outcome)
    return outcome


def _when(document: Document, data: Mapping[str, Any]) -> tuple[datetime | None, float]:
    start, stop = (data.get(key) for key in ("start", "stop"))
    if not isinstance(start, int | float):
        return None, nan
    if not isinstance(stop, int | float):
        return moment_of_epoch(start / 1000), nan
    try:
        return moment_of_epoch(start / 1000), checked_seconds((stop - start) / 1000)
    except (ValueError, OverflowError) as error:
        told = "says that its test stopped before it started, or years after"
        raise bad(document.name, told) from error


def _test(document: Document, data: Mapping[str, Any]) -> Reported:
    """allure-pytest: `tests.test_cart.TestCart#test_add`; Java: the labels testClass and testMethod."""
    full, name = _text(data.get("fullName")), _text(data.get("name"))
    if not full and not name:
        raise bad(document.name, "does not name its test")
    labels = {str(label.get("name")): _text(label.get("value")) for label in _objects(data.get("labels"))}
    classname, found, method = full.rpartition("#")
    if not found:
        classname, method = labels.get("testClass", ""), labels.get("testMethod", "")
    if not method:
        return Reported("", full or name)
    return Reported(classname, name if name.startswith(f"{method}[") else method + _arguments(data))


def _arguments(data: Mapping[str, Any]) -> str:
    """A title of its own hides the parameters from the name; they stand beside it."""
    given = [p for p in _objects(data.get("parameters")) if not p.get("excluded")]
    values = "-".join(_text(p.get("value")).strip("'\"") for p in given)
    return f"[{values}]" if given else ""


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
