"""What must hold when a fault is fixed: the opposite of each kind, as lines of a test."""

import json
import pprint

from whet.reports.api.model import FaultLine, Json, Promise, Stale
from whet.skills.api.faults import Kind

_READS = ("GET", "HEAD")


def assertion(fault: FaultLine) -> list[str]:
    match fault.kind:
        case Kind.SERVER_ERROR | Kind.CRASH:
            return ["assert answer.is_in(100, 499), answer"]
        case Kind.TIMEOUT:
            return ["assert answer.status is not None, answer"]
        case Kind.INVALID_ACCEPTED:
            return ["assert answer.is_in(400, 499), answer"]
        case Kind.VALID_REFUSED:
            # 409 says that an earlier run of this test has created it.
            return ["assert answer.is_in(200, 399) or answer.status == 409, answer"]
        case Kind.MISSING_AUTH:
            return ["assert answer.status in (401, 403, 404), answer"]
        case Kind.SCHEMA_VIOLATION:
            return _shape(fault.promise or Promise({}))
        case Kind.UNDOCUMENTED_STATUS:
            return _status(fault.promise or Promise({}))
        case Kind.UNDOCUMENTED_MEDIA:
            return _media(fault.promise or Promise({}))
    return _state(fault)


def _state(fault: FaultLine) -> list[str]:
    """Create, read, update and delete belong together."""
    if fault.kind is Kind.READ_AFTER_DELETE:
        return ["assert answer.status in (404, 410), answer"]
    if fault.kind is Kind.LOST_UPDATE and fault.steps[-1].request.method not in _READS:
        return ["assert answer.is_in(400, 499), answer"]  # a write that rests on an outdated state
    lines = ["assert answer.is_in(200, 299), answer"]
    return lines + [_kept(one) for one in fault.stale]


def _kept(one: Stale) -> str:
    """Not as the replay itself was told it before; but an earlier run of the test may have set it already."""
    old = _literal(one.value) if one.step is None else f"answer_{one.step + 1}.at({one.told!a})"
    return f"assert answer.at({one.place!a}) != {old} or answer.at({one.place!a}) == {_literal(one.sent)}, answer"


def _shape(promise: Promise) -> list[str]:
    return [
        *_assigned("answers", promise.answers),
        *_assigned("headers", {status: given for status, given in promise.headers.items() if given}),
        *_assigned("definitions", promise.definitions),
        "assert_shape(answer, answers, headers, definitions)",
    ]


def _status(promise: Promise) -> list[str]:
    return [
        *_assigned("answers", {status: {"documented": True} for status in promise.answers}),
        "assert entry(answers, answer.status), answer",
    ]


def _media(promise: Promise) -> list[str]:
    told = {status: dict.fromkeys(contents, True) for status, contents in promise.answers.items()}
    return [
        *_assigned("answers", told),
        "contents = entry(answers, answer.status)",
        "assert not contents or not answer.body or declared(contents, answer.media()), answer",
    ]


def _assigned(name: str, value: Json) -> list[str]:
    annotation = ": Schemas" if name != "definitions" else ": dict[str, Any]"
    return f"{name}{annotation} = {_literal(value)}".splitlines()


def _literal(value: Json) -> str:
    """JSON as Python, over several lines where it is long, and in ASCII whatever is in it."""
    return (
        pprint.pformat(json.loads(json.dumps(value)), width=100, sort_dicts=False)
        .encode("ascii", "backslashreplace")
        .decode()
    )
