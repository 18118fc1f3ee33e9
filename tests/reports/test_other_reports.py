import io
import json
import re
from datetime import UTC, datetime
from typing import Literal
from xml.etree import ElementTree

import pytest
from rich.console import Console

from whet.core.ports import TestVerdict
from whet.core.records import Finding
from whet.reports.github import annotations, plain, step_summary
from whet.reports.jsonout import as_json
from whet.reports.junit import names, render_junit
from whet.reports.model import FoundLine, RunReport
from whet.reports.terminal import print_report
from whet.reports.words import headline, line_ranges, percent, percentage, seconds

HOSTILE = "<script>|`x`|\x1b[2J\n::error::[bold]@someone [a](b)"
Outcome = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]


def verdict(test: str, outcome: Outcome, message: str = "") -> TestVerdict:
    return TestVerdict(test=test, outcome=outcome, duration_seconds=0.25, condition="own-order", message=message)


def junit(*verdicts: TestVerdict, flaky: tuple[str, ...] = ()) -> ElementTree.Element:
    text = render_junit(verdicts, flaky=flaky, started_at=datetime(2026, 3, 2, tzinfo=UTC))
    suite = ElementTree.fromstring(text.encode()).find("testsuite")  # noqa: S314 - our own text
    assert suite is not None
    return suite


def test_junit_counts_and_results() -> None:
    suite = junit(
        verdict("tests/test_a.py::test_one", "passed"),
        verdict("tests/test_a.py::test_two", "failed", "assert 1 == 2\nlong"),
        verdict("tests/test_a.py::test_three", "error", "fixture"),
        verdict("tests/test_a.py::test_four", "skipped", "not today"),
        verdict("tests/test_a.py::test_five", "xfailed"),
    )
    totals = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped", "time")}
    assert totals == {"tests": "5", "failures": "1", "errors": "1", "skipped": "2", "time": "1.250"}
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert (failure.get("message"), failure.text) == ("assert 1 == 2", "assert 1 == 2\nlong")
    assert [child.tag for case in suite for child in case] == ["failure", "error", "skipped", "skipped"]


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("tests/test_a.py::test_b", ("tests.test_a", "test_b")),
        ("tests/test_a.py::Box::test_b[x::y/z]", ("tests.test_a.Box", "test_b[x::y/z]")),
        ("test_b", ("", "test_b")),
    ],
)
def test_junit_names_are_those_of_pytest(test: str, expected: tuple[str, str]) -> None:
    assert names(test) == expected


def test_junit_writes_out_what_xml_cannot_hold() -> None:
    case = junit(verdict("a.py::t[\x1b\ufffe<&\ud800]", "failed", "\x00bad"))[0]
    assert case.get("name") == "t[#x1B#xFFFE<&#xD800]"
    assert case[0].text == "#x00bad"


def test_junit_marks_flaky_tests_and_keeps_the_last_verdict() -> None:
    suite = junit(verdict("a.py::t", "failed"), verdict("a.py::t", "passed"), flaky=("a.py::t",))
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")
    mark = suite.find("testcase/properties/property")
    assert mark is not None
    assert mark.attrib == {"name": "flaky", "value": "true"}


def many(severity: Literal["high", "low"], amount: int) -> tuple[FoundLine, ...]:
    finding = Finding(kind="failing-test", title="t", severity=severity, evidence="e")
    return tuple(FoundLine(finding=finding, new=False) for _ in range(amount))


def test_annotations_are_escaped_and_ordered(report: RunReport) -> None:
    finding = Finding(
        kind="failing-test",
        title="100%: a,b",
        severity="critical",
        evidence="first\nsecond 50%\r\x1b",
        file="a,b:c.py",
        line=3,
        reproduce="pytest",
    )
    first = annotations(
        report.model_copy(update={"findings": (*report.findings, FoundLine(finding=finding, new=True))})
    )
    assert first[0] == (
        "::error file=a%2Cb%3Ac.py,line=3,title=Whet%3A 100%25%3A a%2Cb"
        "::first%0Asecond 50%25%0A\\x1b%0AReproduce: pytest"
    )
    assert [line.split(" ")[0] for line in first[1:]] == ["::error", "::warning", "::notice"]


def test_annotations_stop_at_ten_of_a_level(report: RunReport) -> None:
    lines = annotations(report.model_copy(update={"findings": many("low", 14) + many("high", 12)}))
    assert [line[:6] for line in lines] == ["::erro"] * 10 + ["::noti"] * 10


def test_annotations_cannot_be_forged(report: RunReport) -> None:
    finding = Finding(kind="failing-test", title=HOSTILE, severity="high", evidence=HOSTILE, file=HOSTILE)
    (line,) = annotations(report.model_copy(update={"findings": (FoundLine(finding=finding, new=True),)}))
    assert len(line.splitlines()) == 1


def test_summary_tells_the_run(report: RunReport) -> None:
    text = step_summary(report)
    assert "## Whet: 1 failing test, 1 flaky test and 1 coverage gap" in text
    assert text.count("| unknown |") >= 2
    assert all(line.count("|") == 6 for line in text.splitlines() if line.startswith("| test&#45;executor"))


def test_summary_neutralises_names(report: RunReport) -> None:
    finding = Finding(kind="failing-test", title=HOSTILE, severity="high", evidence="", reproduce=HOSTILE, file=HOSTILE)
    text = step_summary(
        report.model_copy(update={"findings": (FoundLine(finding=finding, new=True),), "project": HOSTILE})
    )
    (row,) = [line for line in text.splitlines() if "script" in line]
    assert row.count("|") == 5
    assert not re.search(r"<script|@someone|\]\(|`|\x1b", text)
    assert plain("a_b*c") == "a&#95;b&#42;c"


def test_summary_says_when_coverage_is_unknown(report: RunReport) -> None:
    assert "Not measured in this run." in step_summary(report.model_copy(update={"coverage": None}))


def test_json_keeps_null_and_round_trips(report: RunReport) -> None:
    data = json.loads(json.dumps(as_json(report), allow_nan=False))
    assert data["schema_version"] == 1
    assert data["steps"][2]["confidence"] is None
    assert data["learning"][1]["credited"] is None
    assert data["findings"][0]["new"] is True
    assert data["findings"][0]["fingerprint"] == report.findings[2].finding.fingerprint()
    assert as_json(report.model_copy(update={"coverage": None}))["coverage"] is None


def test_json_keys_are_the_documented_ones(report: RunReport) -> None:
    own = {"schema_version", "headline", "advice"}
    assert set(as_json(report)) == own | set(RunReport.model_fields)


def printed(report: RunReport, width: int = 80, terminal: bool = False) -> str:
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=width, force_terminal=terminal, highlight=False))
    return stream.getvalue()


def test_terminal_tells_the_run(report: RunReport) -> None:
    text = printed(report)
    for part in ("1 failing test", "see it again: python -m pytest", "between 28 % and 65 %", "This visit used"):
        assert part in text
    assert "\x1b" not in text


def test_terminal_never_wraps_commands(report: RunReport) -> None:
    command = "python -m pytest " + "tests/very/deep/" * 20 + "test_a.py"
    finding = report.findings[0].finding.model_copy(update={"reproduce": command})
    changed = report.model_copy(update={"findings": (FoundLine(finding=finding, new=True),)})
    assert any(line.endswith(command) for line in printed(changed, width=60).splitlines())


def test_terminal_shows_hostile_names_as_text(report: RunReport) -> None:
    finding = Finding(kind="failing-test", title=HOSTILE, severity="high", evidence=HOSTILE, reproduce=HOSTILE)
    steps = tuple(step.model_copy(update={"agent": HOSTILE, "why": HOSTILE}) for step in report.steps)
    changed = {"findings": (FoundLine(finding=finding, new=True),), "steps": steps, "what_changed": (HOSTILE,)}
    text = printed(report.model_copy(update=changed), terminal=True, width=200)
    assert "\x1b[2J" not in text
    assert "\\x1b[2J\\n::error::[bold]@someone" in text


def test_terminal_is_honest_about_the_unknown(report: RunReport) -> None:
    bare = {
        "coverage": None,
        "findings": (),
        "flaky": report.flaky[2:],
        "steps": report.steps[2:],
        "used_seconds": None,
    }
    text = printed(report.model_copy(update=bare))
    assert "Coverage is unknown" in text
    assert "unknown used of 60 s" in text
    assert "0 %" not in text


@pytest.mark.parametrize(("colour", "escapes"), [({"NO_COLOR": "1"}, False), ({}, True)])
def test_terminal_respects_no_color(report: RunReport, colour: dict[str, str], escapes: bool) -> None:
    stream = io.StringIO()
    environment = {"TERM": "xterm-256color", **colour}
    print_report(report, Console(file=stream, force_terminal=True, _environ=environment))
    assert ("\x1b[31m" in stream.getvalue()) is escapes


@pytest.mark.parametrize(
    ("status", "tests", "sentence"),
    [
        ("finished", True, "Nothing wrong was found."),
        ("finished", False, "No test was executed."),
        (
            "interrupted",
            True,
            "The run was interrupted; what follows is what was known by then. Nothing wrong was found.",
        ),
    ],
)
def test_headline_without_findings(report: RunReport, status: str, tests: bool, sentence: str) -> None:
    update = {"findings": (), "status": status, "tests": report.tests if tests else ()}
    assert headline(report.model_copy(update=update)) == sentence


@pytest.mark.parametrize(
    ("amount", "words"), [(1, "1 failing test, known from earlier."), (2, "2 failing tests, none of them new.")]
)
def test_headline_counts(report: RunReport, amount: int, words: str) -> None:
    assert headline(report.model_copy(update={"findings": many("high", amount)})) == words


def test_numbers_in_words() -> None:
    assert [seconds(value) for value in (None, 0.0, 0.0123, 1.25, 42.4, 125)] == [
        "unknown", "0 ms", "12 ms", "1.2 s", "42 s", "2 min 5 s",
    ]  # fmt: skip
    assert [percent(value) for value in (None, 0.0, 0.001, 0.5, 0.999, 1.0)] == [
        "unknown", "0 %", "< 1 %", "50 %", "> 99 %", "100 %",
    ]  # fmt: skip
    assert [percentage(value) for value in (None, 99.97, 100.0)] == ["unknown", "99.9 %", "100.0 %"]
    assert line_ranges([7, 1, 2, 3, 9, 10]) == "1–3, 7, 9–10"
