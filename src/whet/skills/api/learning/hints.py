"""What refusals ask for: fields that an error names and the request did not have.

Contracts leave things out; services say so ("data.id: accounts must have an ID"). A named field that was not sent is
given the next time, if the contract allows it. Others say it in a sentence ("start_time.after_ is required", "Names
must be provided"): an optional value whose name stands in one is no longer left out.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import NO_BODY, Draft, Exchange
from whet.skills.api.names import words
from whet.skills.api.values.realistic import realistic
from whet.skills.api.values.slots import NOTHING, Absent, Slot

_NAMING = frozenset({"name", "field", "param", "parameter", "property", "attribute", "path", "pointer", "loc", "key"})
_PLACES = frozenset({"body", "query", "path", "header", "cookie", "data"})
# What a whole object is refused under: names of error formats, not of fields.
_NOBODYS = frozenset({"_schema", "non_field_errors", "nonFieldErrors", "__all__", "__root__"})
_AROUND = frozenset({"errors", "error", "messages", "message", "detail", "details", "json", "form", "body"})
_FIELD = re.compile(r"[A-Za-z_][\w-]*")
_DEMAND = re.compile(
    r"\b(required?s?|missing|must|provided?|needs?|needed|specify|specified|empty|blank|either|at least)\b", re.I
)
_NAMED = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*")
_MOST_FIELDS = 4  # per operation
_MOST_NAMES = 200  # per operation, that stood in a demand
_LONGEST_NAME = 3  # words: "handshake protocols"
_LONGEST_WAY = 4
_LONGEST = 300  # of a sentence; what is longer shows data, or is a page, and is heard beside its demands alone
_BESIDE = 100
_MOST_DEMANDS = 3
_HEEDED = 0.7
_ABOUT_BODIES = frozenset({400, 411, 415, 422})
_BODY = re.compile(r"\b(json|body|payload|parse error|content[- ]type|media type|this field is required)\b", re.I)
_DEEPEST = 6

Way = tuple[str, ...]


class Hints:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.asked: dict[str, dict[Way, None]] = {}  # per operation: the way to a field of the body
        self._bodies: set[str] = set()  # operations that want a body of which the contract does not speak
        self._said: dict[str, set[Way]] = {}  # per operation: names in sentences that demand something

    def listen(self, exchange: Exchange) -> bool:
        """Take in what a refusal (4xx) names and the request lacks; whether that was news."""
        status, body = exchange.response.status, exchange.draft.body
        if status is None or not 400 <= status < 500:
            return False
        error = _parsed(exchange.response.body)
        before = self._known(exchange.operation.id)
        if _lacks_a_body(exchange, error):
            self._bodies.add(exchange.operation.id)
            body = {}
        if isinstance(body, dict):
            self._ask(exchange.operation.id, body, error)
        said = self._said.setdefault(exchange.operation.id, set())
        said |= set(islice(_demanded(error), _MOST_NAMES - len(said)))
        return self._known(exchange.operation.id) > before

    def _known(self, operation: str) -> int:
        return len(self.asked.get(operation, ())) + len(self._said.get(operation, ())) + (operation in self._bodies)

    def _ask(self, operation: str, body: Mapping[str, Json], error: Json) -> None:
        asked = self.asked.setdefault(operation, {})
        for way in _named(error):
            if len(asked) < _MOST_FIELDS and _lacks(body, way):
                asked.setdefault(way)

    def wants(self, slot: Slot) -> bool:
        """Whether a refusal demanded this optional value, or what lies in it; mostly heeded."""
        said = self._said.get(slot.operation)
        if not said or self._rng.random() > _HEEDED:
            return False
        way = _spoken(slot.place.replace("[]", "").removesuffix(".*").split(".")[1:])
        return way[-1:] in said or any(one[: len(way)] == way for one in said)

    def heeded(self, draft: Draft, observed: Callable[[Slot], Json | Absent]) -> Draft:
        """The draft with the fields its operation was asked for, most of the time; and with a body at all."""
        if draft.body is NO_BODY and draft.operation.id in self._bodies and self._rng.random() < _HEEDED:
            draft = replace(draft, body={}, media="application/json")
        asked = self.asked.get(draft.operation.id)
        if not asked or not isinstance(draft.body, dict) or self._rng.random() > _HEEDED:
            return draft
        body: dict[str, Any] = draft.body
        for way in asked:
            if _lacks(body, way):
                body = _with(body, way, self._value(draft, way, observed))
        return replace(draft, body=body)

    def _value(self, draft: Draft, way: Way, observed: Callable[[Slot], Json | Absent]) -> Json:
        """A name that the path has too means the same thing there; any other is known to the service, or made up."""
        if way[-1] in draft.path and self._rng.random() < _HEEDED:
            return draft.path[way[-1]]
        known = (
            observed(Slot(draft.operation.id, ".".join(("body", *way)), {}, True))
            if self._rng.random() < 0.5
            else NOTHING
        )
        return realistic(way[-1], "string", {}, self._rng) if known is NOTHING else known


def _lacks_a_body(exchange: Exchange, error: Json) -> bool:
    """The contract has none for this operation, and the refusal speaks of one."""
    bare = not exchange.operation.bodies and exchange.draft.body is NO_BODY and exchange.draft.raw is None
    if not bare or exchange.operation.method not in {"POST", "PUT", "PATCH"}:
        return False
    said = error if isinstance(error, str) else json.dumps(error)
    return exchange.response.status in _ABOUT_BODIES and _BODY.search(said[:_LONGEST]) is not None


def _demanded(error: Json, depth: int = 0) -> Iterator[Way]:
    """Every name in a sentence that demands something, word by word and with what it is a part of."""
    if isinstance(error, str):
        for sentence in _sentences(error):
            yield from _names(sentence)
    elif isinstance(error, list) and depth <= _DEEPEST:
        for one in error:
            yield from _demanded(one, depth + 1)
    elif isinstance(error, dict) and depth <= _DEEPEST:
        for name, one in error.items():
            if _demands_it(name, one):
                yield _spoken(name.split("."))
            yield from _demanded(one, depth + 1)


def _sentences(text: str) -> Iterator[str]:
    demands = islice(_DEMAND.finditer(text), _MOST_DEMANDS)
    if len(text) <= _LONGEST:
        yield from (text for _ in islice(demands, 1))
    else:
        yield from (text[max(0, one.start() - _BESIDE) : one.end() + _BESIDE] for one in demands)


def _names(sentence: str) -> Iterator[Way]:
    """Every word, with what it is a part of, and words that stand together."""
    said = _NAMED.findall(sentence)
    yield from (_spoken(name.split(".")) for name in said)
    for count in range(2, _LONGEST_NAME + 1):
        yield from (_spoken([" ".join(said[at : at + count])]) for at in range(len(said) - count + 1))


def _demands_it(name: str, said: Json) -> bool:
    """`{"name": ["Missing data for required field."]}`"""
    sentences = isinstance(said, list) and said and all(isinstance(one, str) for one in said)
    return bool(sentences) and name not in _AROUND and _DEMAND.search(" ".join(said)[:_LONGEST]) is not None


def _spoken(names: list[str]) -> Way:
    """As people write it: "Names" means `name`."""
    return tuple(" ".join(words(name)) for name in names)


def _parsed(body: bytes) -> Json:
    try:
        return json.loads(body[:20_000])
    except (ValueError, RecursionError):
        return body[:20_000].decode("utf-8", "replace")  # a sentence is a sentence


def _named(error: Json, depth: int = 0, above: Way = ()) -> Iterator[Way]:
    """Ways to fields, from the forms errors have: loc lists, names with dots, JSON pointers, sentences by field."""
    if depth > _DEEPEST:
        return
    if isinstance(error, list):
        for one in error:
            yield from _named(one, depth + 1, above)
    elif isinstance(error, dict):
        for key, value in error.items():
            way = (*above, key) if _demands_it(key, value) else _way(value) if key.lower() in _NAMING else None
            if way and _NOBODYS.isdisjoint(way) and len(way) <= _LONGEST_WAY and all(map(_FIELD.fullmatch, way)):
                yield way
            else:
                yield from _named(value, depth + 1, above if key in _AROUND else (*above, key))


def _way(value: Json) -> Way | None:
    parts = value if isinstance(value, list) else re.split(r"[./]", value) if isinstance(value, str) else []
    names = [part for part in parts if isinstance(part, str) and part]
    if names and names[0] in _PLACES and isinstance(value, list):
        names = names[1:] if names[0] == "body" else []
    return tuple(names) or None


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
