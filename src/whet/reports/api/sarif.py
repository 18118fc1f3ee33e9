"""SARIF 2.1.0, for code scanning: a rule for each kind, a result for each fault, placed at its operation.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

import json
from typing import Any
from urllib.parse import quote

import whet
from whet.core.text import printable, printable_lines
from whet.reports.api.jsonout import fingerprint
from whet.reports.api.model import ApiReport, FaultLine
from whet.reports.api.words import KINDS, RULES, SEVERITY, by_urgency, fault_text
from whet.skills.api.faults import Kind

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
# What GitHub sorts by: https://docs.github.com/en/code-security/reference/code-scanning/sarif-files/sarif-support
_PROBLEM = {"error": "error", "warning": "warning", "note": "recommendation"}
_BASELINE = {"new": "new", "known": "unchanged", "not re-tested": "unchanged", "fixed": "absent"}


def as_sarif(report: ApiReport) -> dict[str, Any]:
    faults = by_urgency(report.faults)
    kinds = list(dict.fromkeys(fault.kind for fault in faults))
    driver = {"name": "Whet", "semanticVersion": whet.__version__, "rules": [_rule(kind) for kind in kinds]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not report.interrupted}],
        "results": [_result(fault, kinds.index(fault.kind), report) for fault in faults],
        "properties": {"seed": report.seed, "requests": report.requests, "baseUrl": printable(report.base_url)},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def render_sarif(report: ApiReport) -> str:
    return json.dumps(as_sarif(report), indent=2, allow_nan=False) + "\n"


def _rule(kind: Kind) -> dict[str, Any]:
    level = LEVELS[SEVERITY[kind]]
    return {
        "id": f"api/{kind.value}",
        "name": "".join(word.capitalize() for word in kind.value.split("-")),
        "shortDescription": {"text": KINDS[kind][0].capitalize()},
        "fullDescription": {"text": RULES[kind]},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": ["api"], "problem.severity": _PROBLEM[level]},
    }


def _result(fault: FaultLine, rule: int, report: ApiReport) -> dict[str, Any]:
    return {
        "ruleId": f"api/{fault.kind.value}",
        "ruleIndex": rule,
        "level": LEVELS[fault.severity] if fault.confirmed else "note",
        "message": {"text": printable_lines(fault_text(fault), 20_000)},
        "locations": [_location(fault.operations[0], report.document)],
        "partialFingerprints": {"whetCause/v1": fingerprint(fault)},
        "baselineState": _BASELINE[fault.standing],
        "properties": {"confirmed": fault.confirmed, "standing": fault.standing, "seen": fault.seen},
    }


def _location(operation: str, document: str | None) -> dict[str, Any]:
    shown = printable(operation)
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": shown, "name": shown, "kind": "resource"}]}
    if document is not None:
        # Where in the document the operation begins is not known; readers need some line.
        address = {"uri": quote(document, safe="/:@?=&%~+,;")}
        location["physicalLocation"] = {"artifactLocation": address, "region": {"startLine": 1}}
    return location
