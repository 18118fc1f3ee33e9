"""Which slots a refusal is about: what its text names, else what its status speaks of."""

import json
import re
from collections.abc import Iterable, Iterator

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.names import is_identity, words

_READ = 8_000
_LONG = 6
_FOR_CONFLICT = 0.3
_FEW = 2  # places; one of more is hardly to blame where none is named
_FOR_ONE_OF_MANY = 0.3
_DEEPEST = 6
_TELLING = 8  # characters of a value, that it may be known by
# Where errors show what was sent: all of its names stand there, whichever is meant.
_ECHOES = frozenset({"input", "request", "requestbody", "value", "rejectedvalue", "received", "instance", "payload"})
# A refusal that says nothing about the values: who asks, how often.
_NOT_ABOUT_VALUES = frozenset({401, 403, 405, 423, 429})
_ABOUT = {404: "path.", 406: "header.", 409: "body", 412: "header.", 415: "body", 428: "header."}


def blamed(exchange: Exchange, places: Iterable[str]) -> tuple[set[str], float]:
    """The places to hold responsible for a refusal (4xx), none when it is about something else; and how surely."""
    status = exchange.response.status
    if status is None or not 400 <= status < 500 or status in _NOT_ABOUT_VALUES:
        return set(), 0.0
    sure = _FOR_CONFLICT if status == 409 else 1.0  # about the state of things as often as about a value
    known = list(places)
    text = _said(exchange.response.body[:_READ]).lower()
    named = _shown(exchange.draft, text, known) or _named(text, known)
    if named:
        return named, sure
    likely = {place for place in known if place.startswith(_ABOUT.get(status, ""))} or set(known)
    return likely, sure if len(likely) <= _FEW else min(sure, _FOR_ONE_OF_MANY)


def _shown(draft: Draft, text: str, places: list[str]) -> set[str]:
    """Those whose very value stands in the error: "No flavor otter-birch-1471" is about what was otter-birch-1471."""
    values = {place: _value(draft, place) for place in places}
    return {
        place for place, value in values.items()
        if isinstance(value, str) and len(value) >= _TELLING and value.lower() in text
    }  # fmt: skip


def _value(draft: Draft, place: str) -> Json:
    where, _, name = place.partition(".")
    if where != "body":
        return {"path": draft.path, "query": draft.query}.get(where, {}).get(name)
    value = draft.body
    for step in name.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _named(text: str, places: list[str]) -> set[str]:
    names = {place: place.rpartition(".")[2] for place in places}
    return {place for place, name in names.items() if _mentions(text, name.lower()) or _speaks_of(text, name)}


def _said(body: bytes) -> str:
    """What an error says in its own words, as JSON where it is JSON."""
    try:
        return " ".join(_words(json.loads(body)))
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")


def _words(error: Json, depth: int = 0) -> Iterator[str]:
    if isinstance(error, str):
        yield f'"{error}"'
    elif isinstance(error, list) and depth < _DEEPEST:
        for one in error:
            yield from _words(one, depth + 1)
    elif isinstance(error, dict) and depth < _DEEPEST:
        for name, one in error.items():
            if name.lower().replace("_", "") not in _ECHOES:
                yield f'"{name}"'
                yield from _words(one, depth + 1)


def _speaks_of(text: str, name: str) -> bool:
    """ "No such copy" is about copy_id."""
    parts = words(name)
    if len(parts) < 2 or not is_identity(parts[-1]):
        return False
    return re.search(rf"\b{re.escape(' '.join(parts[:-1]))}\b", text) is not None


def _mentions(text: str, name: str) -> bool:
    """A short name must stand in quotes, a long one by itself: "id" is not meant in "no id given"."""
    if not name or name not in text:
        return False
    if any(f"{quote}{name}{quote}" in text for quote in ('"', "'", "`")):
        return True
    return len(name) >= _LONG and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None
