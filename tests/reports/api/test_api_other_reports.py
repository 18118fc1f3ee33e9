import io
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import jsonschema_rs
import pytest
from rich.console import Console
from tests.reports.api.api_reports import EMPTY, HOSTILE, exchange, hostile, line, shop

from whet.reports.api.composing import group_of
from whet.reports.api.github import annotations, step_summary
from whet.reports.api.jsonout import as_json, render_json
from whet.reports.api.junit import render_junit
from whet.reports.api.model import ApiReport
from whet.reports.api.sarif import as_sarif, render_sarif
from whet.reports.api.terminal import print_report
from whet.reports.api.words import KINDS, RULES, SEVERITY, by_urgency, headline
from whet.skills.api.contract.model import Operation
from whet.skills.api.faults import Kind

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
# What the standard requires of the parts that are written here.
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": {"$ref": "#/$defs/run"}},
    },
    "$defs": {
        "run": {
            "type": "object",
            "required": ["tool", "results"],
            "properties": {
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "properties": {
                        "driver": {
                            "type": "object",
                            "required": ["name"],
                            "properties": {
                                "semanticVersion": {"pattern": r"^\d+\.\d+\.\d+"},
                                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}},
                            },
                        }
                    },
                },
                "invocations": {"items": {"required": ["executionSuccessful"]}},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
        },
        "rule": {
            "type": "object",
            "required": ["id"],
            "properties": {
                "shortDescription": TEXT,
                "fullDescription": TEXT,
                "defaultConfiguration": {"properties": {"level": {"enum": ["none", "note", "warning", "error"]}}},
            },
        },
        "result": {
            "type": "object",
            "required": ["message", "ruleId", "ruleIndex", "locations"],
            "properties": {
                "message": TEXT,
                "level": {"enum": ["none", "note", "warning", "error"]},
                "baselineState": {"enum": ["new", "unchanged", "updated", "absent"]},
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                "locations": {
                    "items": {
                        "required": ["logicalLocations"],
                        "properties": {
                            "physicalLocation": {
                                "required": ["artifactLocation"],
                                "properties": {
                                    "artifactLocation": {"properties": {"uri": {"format": "uri-reference"}}},
                                    "region": {"properties": {"startLine": {"minimum": 1}}},
                                },
                            },
                            "logicalLocations": {"items": {"required": ["fullyQualifiedName"]}},
                        },
                    }
                },
            },
        },
    },
}


def suite(report: ApiReport) -> ElementTree.Element:
    found = ElementTree.fromstring(render_junit(report).encode()).find("testsuite")  # noqa: S314 - our own text
    assert found is not None
    return found


def test_junit_has_a_case_for_each_operation() -> None:
    report = shop()
    told = suite(report)
    cases = {case.get("name"): case for case in told}
    assert {operation.id for operation in report.operations} <= set(cases)
    assert (told.get("failures"), told.get("skipped")) == ("5", "0")
    failure = cases["POST /orders"].find("failure")
    assert failure is not None
    assert failure.get("type") == "server-error"
    assert failure.get("message") == "server error: POST /orders fails with 500"
    assert "See it again: curl" in str(failure.text)
    assert cases["POST /uploads"].find("failure") is not None, "an operation that the contract does not list"


def test_junit_leaves_out_what_is_fixed_and_skips_what_was_not_tried() -> None:
    report = shop()
    gone = tuple(replace(fault, standing="fixed") for fault in report.faults)
    told = suite(replace(report, faults=gone, operations=(replace(report.operations[0], tried=0, statuses={}),)))
    assert (told.get("tests"), told.get("failures"), told.get("skipped")) == ("1", "0", "1")


@pytest.mark.parametrize("report", [shop(), hostile(), EMPTY, replace(shop(), document=None)])
def test_sarif_has_the_form_of_the_standard(report: ApiReport) -> None:
    document = json.loads(render_sarif(report))
    jsonschema_rs.Draft202012Validator(SARIF, validate_formats=True).validate(document)
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    assert len(run["results"]) == len(report.faults)


def test_sarif_tells_new_from_known_and_sure_from_unsure() -> None:
    results = {each["message"]["text"].split("\n")[0]: each for each in as_sarif(shop())["runs"][0]["results"]}
    told = {title.split(" ")[1]: (each["level"], each["baselineState"]) for title, each in results.items()}
    assert told == {
        "/orders": ("error", "new"),
        "/customers/{customer_id}": ("error", "new"),
        "/items/{item_id}": ("warning", "unchanged"),
        "/uploads": ("note", "new"),
        "/reviews": ("note", "new"),
        "/invoices": ("note", "absent"),
    }
    place = results["POST /orders fails with 500"]["locations"][0]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "openapi.json"}
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "POST /orders"


def test_json_keeps_everything() -> None:
    report = shop()
    told = json.loads(render_json(report))
    assert told == json.loads(json.dumps(as_json(report)))
    assert (told["schema_version"], told["requests"], told["seconds"]) == (1, 2000, 48.2)
    assert told["faults"][0]["steps"][0]["request"]["method"] == "DELETE"
    upload = next(fault for fault in told["faults"] if fault["kind"] == "crash")
    assert upload["steps"][0]["request"]["body_base64"] == "iVBORw0KGgoA/w=="
    assert upload["steps"][0]["status"] is None
    assert {len(fault["fingerprint"]) for fault in told["faults"]} == {32}
    assert json.loads(render_json(EMPTY))["seconds"] is None


def test_annotations_and_summary() -> None:
    lines = annotations(shop())
    assert [each.split(" ")[0] for each in lines] == ["::error"] * 3 + ["::warning", "::notice"]
    assert lines[0].startswith("::error file=openapi.json,title=Whet%3A missing authentication in DELETE ")
    text = step_summary(shop())
    assert "2,000 of 2,000 requests · 29 of 30 operations answered 2xx" in text
    assert "- **breaking** GET /reviews lost the parameter sort&#46;" in text
    assert all(row.count("|") == 5 for row in text.splitlines() if row.startswith("|"))


def test_annotations_keep_their_properties_apart() -> None:
    odd = replace(shop().faults[0], operations=("GET /a,b:c%",))
    (told,) = annotations(replace(EMPTY, faults=(odd,), document="a,b.json"))
    assert told.startswith("::error file=a%2Cb.json,title=Whet%3A server error in GET /a%2Cb%3Ac%25::POST /orders")


def test_what_is_gone_comes_last_and_what_is_unsure_after_what_is_sure() -> None:
    base = shop().faults[0]
    gone, unsure = replace(base, severity="critical", standing="fixed"), replace(base, confirmed=False)
    low, known = replace(base, severity="low"), replace(base, standing="known")
    assert by_urgency([gone, unsure, low, known, base]) == [base, known, low, unsure, gone]


def printed(report: ApiReport, terminal: bool = False, width: int = 100) -> str:
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=width, force_terminal=terminal, highlight=False))
    return stream.getvalue()


def test_terminal_tells_the_run() -> None:
    text = printed(shop())
    for part in (
        "1 crash of the service, 1 missing authentication and 3 others, 4 of them new. 1 earlier finding is fixed.",
        "29 of 30 operations answered 2xx · 2,000 of 2,000 requests in 48 s · seed 7",
        "critical new missing authentication: DELETE /customers/{customer_id}",
        "(not confirmed)",
        "Fixed since the last run",
        "Breaking changes of the contract\n  · GET /reviews lost the parameter sort.",
        "Not tested",
    ):
        assert part in text
    for fault in shop().faults[:5]:
        assert all(any(row.endswith(curl) for row in text.splitlines()) for curl in fault.curl.split("\n"))


def test_hostile_texts_are_harmless_everywhere() -> None:
    report = hostile()
    assert "\x1b[31m" not in printed(report, width=500)
    assert "\\x1b[31m" in printed(report, width=500)
    case = suite(report)[0]
    assert case.get("name") == HOSTILE.replace("\x1b", "#x1B")
    for text in (render_sarif(report), render_json(report), step_summary(report), "\n".join(annotations(report))):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert len(annotations(report)) == len("\n".join(annotations(report)).splitlines()) == 1
    assert not re.search(r"<script|<img", step_summary(report))


def test_every_kind_has_words_a_severity_and_a_rule() -> None:
    assert set(KINDS) == set(SEVERITY) == set(RULES) == set(Kind)


def test_groups_are_tags_or_the_beginning_of_the_path() -> None:
    plain = Operation("GET /a/b", "GET", "/a/b", (), (), ())
    assert group_of(plain) == "/a"
    assert group_of(replace(plain, tags=("first", "second"))) == "first"


def test_headlines() -> None:
    one = line(Kind.TIMEOUT, "t", "d", exchange("GET", "/a", "/a", None, silence="timeout"))
    assert headline(EMPTY) == "No request was sent."
    assert headline(replace(EMPTY, requests=1)) == "Nothing wrong was found."
    assert headline(replace(EMPTY, requests=1, faults=(one, one))) == "2 timeouts."
    assert headline(replace(EMPTY, requests=1, faults=(one, one), earlier_runs=1)) == "2 timeouts, all new."
    known = replace(EMPTY, requests=1, faults=(one, replace(one, standing="known")), earlier_runs=1)
    assert headline(known) == "2 timeouts, 1 of them new."
    interrupted = replace(EMPTY, requests=1, interrupted=True, faults=(replace(one, standing="fixed"),))
    assert headline(interrupted) == (
        "The run was interrupted; this is what was known by then. Nothing wrong was found. 1 earlier finding is fixed."
    )
