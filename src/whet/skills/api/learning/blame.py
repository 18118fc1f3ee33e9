"""Which slots a refusal is about: what its text names, else what its status speaks of."""

import re
from collections.abc import Iterable

from whet.skills.api.exchange import Exchange
from whet.skills.api.names import is_identity, words

_READ = 8_000
_LONG = 6
_FOR_CONFLICT = 0.3
# A refusal that says nothing about the values: who asks, how often.
_NOT_ABOUT_VALUES = frozenset({401, 403, 405, 423, 429})
_ABOUT = {404: "path.", 406: "header.", 409: "body", 412: "header.", 415: "body", 428: "header."}


def weight(exchange: Exchange) -> float:
    """A conflict is about the state of things as often as about a value."""
    return _FOR_CONFLICT if exchange.response.status == 409 else 1.0


def blamed(exchange: Exchange, places: Iterable[str]) -> set[str]:
    """The places to hold responsible for a refusal (4xx); empty when it is about something else."""
    status = exchange.response.status
    if status is None or not 400 <= status < 500 or status in _NOT_ABOUT_VALUES:
        return set()
    known = list(places)
    named = _named(exchange.response.body, known)
    if named:
        return named
    likely = {place for place in known if place.startswith(_ABOUT.get(status, ""))}
    return likely or set(known)


def _named(body: bytes, places: list[str]) -> set[str]:
    text = body[:_READ].decode("utf-8", "replace").lower()
    names = {place: place.rpartition(".")[2] for place in places}
    return {place for place, name in names.items() if _mentions(text, name.lower()) or _speaks_of(text, name)}


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
