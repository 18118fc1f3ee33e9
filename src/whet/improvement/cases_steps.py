"""What a case's steps say to send, and what they say should come back.

A step is `POST /orders` with a body (its `data`, or JSON in the same line) and an expected status, with or without
fields of the answer: `Status 200 with {"quantity": 3}`. `{id}` in a path is filled from the answers before.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_REQUEST = re.compile(rf"\b({'|'.join(METHODS)})\s+(/\S*)")
_STATUS = re.compile(r"(?:status(?:\s+code)?|expect(?:ed|s)?|returns?|->|→|^)\W{0,3}([1-5]\d\d)\b", re.IGNORECASE)
_HEADER = re.compile(r"^\s*([A-Za-z][A-Za-z0-9-]*):\s*(\S.*?)\s*$")
_NUMBERED = re.compile(r"\n+|(?<=\S)\s+(?=\d+[.)]\s)")


class Step(NamedTuple):
    method: str
    path: str
    body: Any  # None: nothing is sent
    status: int
    fields: Mapping[str, Any]  # that the answer must have


def steps_of(told: object) -> tuple[Step, ...]:
    """None at all where one of them is not executable: half a case would be another case."""
    steps = [_step(*parts) for parts in _told(told)]
    whole = [step for step in steps if step is not None]
    return tuple(whole) if len(whole) == len(steps) else ()


def headers_of(preconditions: str) -> dict[str, str]:
    """Lines like `Authorization: Bearer abc`; the others are for people."""
    found = (_HEADER.match(line) for line in preconditions.splitlines())
    return {header[1]: header[2] for header in found if header}


def words_of(told: object) -> str:
    return "\n".join(" ".join(parts) for parts in _told(told))


def _told(told: object) -> Iterator[tuple[str, str, str]]:
    """Action, data and expected result, from any of the forms they are exported in."""
    if isinstance(told, str):
        told = [line for line in _NUMBERED.split(told) if line.strip()]
    for step in told if isinstance(told, list) else ():
        if isinstance(step, Mapping):
            data = step.get("data") or step.get("input_data")
            yield _text(step.get("action")), _text(data), _text(step.get("expected_result"))
        else:
            yield _text(step), "", ""


def _text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _step(action: str, data: str, expected: str) -> Step | None:
    request = _REQUEST.search(action)
    rest = action[request.end() :] if request else ""
    status = _STATUS.search(expected) or _STATUS.search(rest)
    if request is None or status is None:
        return None
    body = _json(data) if data.strip() else _json(rest[: status.start()] if status.string is rest else rest)
    fields = _json(status.string[status.end() :])
    return Step(request[1], request[2], body, int(status[1]), fields if isinstance(fields, dict) else {})


def _json(text: str) -> Any:
    """The first JSON object or array in it; text that is none is sent as it is."""
    begin = re.search(r"[{\[]", text)
    if begin is None:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, begin.start())[0]
    except ValueError:
        return text.strip()
