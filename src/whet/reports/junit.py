"""JUnit XML in pytest's xunit2 dialect, for every CI that reads it."""

import re
from collections.abc import Collection, Iterable
from datetime import datetime
from xml.etree import ElementTree

from whet.core.ports import TestVerdict

# What XML 1.0 cannot hold even as a reference; pytest writes such characters as #x1B.
_ILLEGAL = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010fffd]")


def render_junit(
    results: Iterable[TestVerdict],
    suite: str = "whet",
    flaky: Collection[str] = (),
    started_at: datetime | None = None,
) -> str:
    """One testcase per test, its last verdict; tests in `flaky` carry the property flaky=true."""
    last = {verdict.test: verdict for verdict in results}
    root = ElementTree.Element("testsuites", name="whet tests")
    box = ElementTree.SubElement(root, "testsuite", _totals(suite, list(last.values()), started_at))
    for verdict in last.values():
        box.append(_case(verdict, verdict.test in flaky))
    return '<?xml version="1.0" encoding="utf-8"?>' + ElementTree.tostring(root, encoding="unicode")


def _totals(suite: str, verdicts: list[TestVerdict], started_at: datetime | None) -> dict[str, str]:
    outcomes = [verdict.outcome for verdict in verdicts]
    totals = {
        "name": legal(suite),
        "errors": str(outcomes.count("error")),
        "failures": str(outcomes.count("failed")),
        "skipped": str(outcomes.count("skipped") + outcomes.count("xfailed")),
        "tests": str(len(outcomes)),
        "time": f"{sum(verdict.duration_seconds for verdict in verdicts):.3f}",
    }
    return totals if started_at is None else {**totals, "timestamp": started_at.isoformat()}


def _case(verdict: TestVerdict, is_flaky: bool) -> ElementTree.Element:
    classname, name = names(verdict.test)
    attributes = {"classname": classname, "name": name, "time": f"{verdict.duration_seconds:.3f}"}
    case = ElementTree.Element("testcase", attributes)
    if is_flaky:
        properties = ElementTree.SubElement(case, "properties")
        ElementTree.SubElement(properties, "property", name="flaky", value="true")
    _add_result(case, verdict)
    return case


def _add_result(case: ElementTree.Element, verdict: TestVerdict) -> None:
    text = legal(verdict.message)
    short = text.split("\n", 1)[0]
    match verdict.outcome:
        case "failed" | "error" as outcome:
            element = ElementTree.SubElement(case, "failure" if outcome == "failed" else "error", message=short)
            element.text = text
        case "skipped":
            ElementTree.SubElement(case, "skipped", type="pytest.skip", message=short)
        case "xfailed":
            ElementTree.SubElement(case, "skipped", type="pytest.xfail", message=short)
        case "passed" | "xpassed":
            pass


def names(test: str) -> tuple[str, str]:
    """tests/test_a.py::Box::test_b[x::y] → ("tests.test_a.Box", "test_b[x::y]"), as pytest does."""
    head, bracket, parameters = test.partition("[")
    *path, name = head.split("::")
    if path:
        path[0] = path[0].removesuffix(".py").replace("/", ".")
    return legal(".".join(path)), legal(name + bracket + parameters)


def legal(text: str) -> str:
    return _ILLEGAL.sub(_written_out, text)


def _written_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"#x{code:02X}" if code <= 0xFF else f"#x{code:04X}"
