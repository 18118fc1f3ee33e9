"""What refusals ask for: fields that an error names and the request did not have.

Contracts leave things out; services say so ("data.id: accounts must have an ID"). A named field that was not sent is
given the next time, if the contract allows it.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.values.realistic import realistic

_NAMING = frozenset({"name", "field", "param", "parameter", "property", "attribute", "path", "pointer", "loc", "key"})
_PLACES = frozenset({"body", "query", "path", "header", "cookie", "data"})
_FIELD = re.compile(r"[A-Za-z_][\w-]*")
_MOST_FIELDS = 4  # per operation
_HEEDED = 0.7
_DEEPEST = 6

Way = tuple[str, ...]


class Hints:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.asked: dict[str, dict[Way, None]] = {}  # per operation: the way to a field of the body

    def listen(self, exchange: Exchange) -> None:
        """Take in what a refusal (4xx) names and the request lacks."""
        status, body = exchange.response.status, exchange.draft.body
        if status is None or not 400 <= status < 500 or not isinstance(body, dict):
            return
        asked = self.asked.setdefault(exchange.operation.id, {})
        for way in _named(_parsed(exchange.response.body)):
            if len(asked) < _MOST_FIELDS and _lacks(body, way):
                asked.setdefault(way)

    def heeded(self, draft: Draft) -> Draft:
        """The draft with the fields its operation was asked for, most of the time."""
        asked = self.asked.get(draft.operation.id)
        if not asked or not isinstance(draft.body, dict) or self._rng.random() > _HEEDED:
            return draft
        body: dict[str, Any] = draft.body
        for way in asked:
            if _lacks(body, way):
                body = _with(body, way, self._value(draft, way[-1]))
        return replace(draft, body=body)

    def _value(self, draft: Draft, name: str) -> Json:
        """A name that the path has too means the same thing there; any other is given a likely text."""
        if name in draft.path and self._rng.random() < _HEEDED:
            return draft.path[name]
        return realistic(name, "string", {}, self._rng)


def _parsed(body: bytes) -> Json:
    try:
        return json.loads(body[:20_000])
    except (ValueError, RecursionError):
        return None


def _named(error: Json, depth: int = 0) -> Iterator[Way]:
    """Ways to fields, from the forms errors have: loc lists, names with dots, JSON pointers."""
    if depth > _DEEPEST:
        return
    if isinstance(error, list):
        for one in error:
            yield from _named(one, depth + 1)
    elif isinstance(error, dict):
        for key, value in error.items():
            way = _way(value) if key.lower() in _NAMING else None
            if way:
                yield way
            else:
                yield from _named(value, depth + 1)


def _way(value: Json) -> Way | None:
    parts = value if isinstance(value, list) else re.split(r"[./]", value) if isinstance(value, str) else []
    names = [part for part in parts if isinstance(part, str) and part]
    if names and names[0] in _PLACES and isinstance(value, list):
        names = names[1:] if names[0] == "body" else []
    if not names or len(names) > 4 or not all(_FIELD.fullmatch(name) for name in names):
        return None
    return tuple(names)


def _lacks(body: Mapping[str, Json], way: Way) -> bool:
    """The field is not there, and the objects on the way to it are."""
    at: Json = body
    for name in way[:-1]:
        at = at.get(name) if isinstance(at, Mapping) else None
    return isinstance(at, Mapping) and way[-1] not in at


def _with(body: Mapping[str, Json], way: Way, value: Json) -> dict[str, Json]:
    if len(way) == 1:
        return {**body, way[0]: value}
    return {**body, way[0]: _with(body[way[0]], way[1:], value)}
