"""The report for programs.

Schema version 1. Keys are those of `whet.reports.api.model`; `null` means "not known". A key is never renamed, removed
or given another meaning within a schema version; new ones may appear. On top of the model: `headline`, and for every
fault its `fingerprint`, equal whenever the same fault is met again. A body that is no text is under `body_base64`.
"""

import base64
import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from whet.reports.api.model import ApiReport, FaultLine, StepLine
from whet.reports.api.words import by_urgency, headline
from whet.tools.http.messages import Request

SCHEMA_VERSION = 1
_OWN = ("faults",)


def as_json(report: ApiReport) -> dict[str, Any]:
    rest = {name: _plain(getattr(report, name)) for name in _names(report) if name not in _OWN}
    faults = [_fault(fault) for fault in by_urgency(report.faults)]
    return {"schema_version": SCHEMA_VERSION, "headline": headline(report), **rest, "faults": faults}


def render_json(report: ApiReport) -> str:
    """ASCII: lone surrogates and terminal codes stand as escapes."""
    return json.dumps(as_json(report), indent=2, allow_nan=False) + "\n"


def fingerprint(fault: FaultLine) -> str:
    return hashlib.sha256(fault.cause.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _fault(fault: FaultLine) -> dict[str, Any]:
    told = {name: _plain(getattr(fault, name)) for name in _names(fault) if name not in ("steps", "promise")}
    return {"fingerprint": fingerprint(fault), **told, "steps": [_step(step) for step in fault.steps]}


def _step(step: StepLine) -> dict[str, Any]:
    told = {name: _plain(getattr(step, name)) for name in _names(step) if name != "request"}
    return {**told, "request": _request(step.request)}


def _request(request: Request) -> dict[str, Any]:
    told: dict[str, Any] = {"method": request.method, "target": request.target, "headers": list(request.headers)}
    if request.body is None:
        return {**told, "body": None}
    try:
        return {**told, "body": request.body.decode()}
    except UnicodeDecodeError:
        return {**told, "body_base64": base64.b64encode(request.body).decode()}


def _names(record: Any) -> list[str]:
    return [one.name for one in dataclasses.fields(record)]


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(getattr(value, name)) for name in _names(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
