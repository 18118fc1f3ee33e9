"""Which earlier answers a request was made of.

A request that shows a fault often names things that earlier answers created. To see it again, those have to be created
again, and what is named has to be their new names. What flows is found by value: a slot of the later request that
equals a leaf of the earlier answer. Small numbers and short words are equal by chance everywhere, so they only count
where both sides are called an id, or where the slot is a part of the path.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.oracles.reading import parsed
from whet.skills.api.oracles.slots import Place, placed, slots

Leaf = tuple[str | int, ...]
LOCATION: Leaf = ("Location",)
ETAG: Leaf = ("ETag",)
LARGEST, MOST_LEAVES, DEEPEST = 256_000, 1_000, 8
_NAMES_SOMETHING = re.compile(
    r"(?:^|[_.-])(?:id|ids|uuid|guid|key|ref|slug|name|username|login|email|token)$|[a-z](?:Id|ID|Ids|Key|Ref)$"
)
_TELLING_LENGTH = 6
_OWN = frozenset({"id", "uuid"})


@dataclass(frozen=True, slots=True)
class Flow:
    """The value in `place` of a later request is that of `leaf` in the answer of step `source`."""

    place: Place
    source: int
    leaf: Leaf


def flows(steps: Sequence[Exchange], step: int) -> tuple[Flow, ...]:
    """What of one step's draft came from the answers before it.

    From who made it where the path says that such things are; else not from who was given it and told it again, or
    names it as another's (`book_id` of a copy), nor from a reading; of several, from the latest.
    """
    draft = steps[step].draft
    sent: dict[Place, Json] = slots(draft) | {("extra", number): value for number, (_, value) in enumerate(draft.extra)}
    wanted = [(place, value) for place, value in sent.items() if _may_flow(value)]
    found: dict[Place, tuple[tuple[bool, bool, bool, bool, int], Flow]] = {}
    for source in (number for number in range(step) if steps[number].ok and wanted):
        told, echoed, filled = _told(steps[source]), _echoed(steps[source]), slots(steps[source].draft)
        reads, given = steps[source].operation.method not in ("POST", "PUT"), _texts(filled)
        for place, value in wanted:
            if place[0] == "body" and filled.get(place) == value and steps[source].operation.id == draft.operation.id:
                continue  # the same was said twice; nothing came from there
            leaf = _leaf([leaf for leaf in told.get(str(value), ()) if not echoed(leaf, value)], place, value)
            if leaf is not None:
                elsewhere = _collection(draft.operation.path, place) != _nameless(steps[source].operation.path)
                rank = (elsewhere, str(value) in given, _of_another(leaf), reads, -source)
                ranked = rank, Flow(place, source, leaf)
                found[place] = min(found.get(place, ranked), ranked, key=lambda one: one[0])
    return tuple(flow for _, flow in found.values())


def rebound(draft: Draft, flowing: Sequence[Flow], fresh: Mapping[int, Exchange]) -> Draft:
    """The draft with what the replayed answers tell in place of what the first ones told."""
    for flow in flowing:
        value = at(fresh[flow.source], flow.leaf) if flow.source in fresh else None
        if _may_flow(value):
            draft = placed(draft, flow.place, value)
    return draft


def at(exchange: Exchange, leaf: Leaf) -> Json:
    """The value of a leaf, None where this answer has none."""
    if leaf == LOCATION:
        return _located(exchange)
    if leaf == ETAG:
        return exchange.response.header("etag")
    value: Json = parsed(exchange.response.body) if exchange.ok else None
    for part in leaf:
        listed = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if not listed and not (isinstance(value, dict) and part in value):
            return None
        value = value[part]
    return value


def told_texts(steps: Sequence[Exchange]) -> frozenset[str]:
    """Whatever these answers told, in small letters."""
    return frozenset(text.casefold() for step in steps for text in _told(step))


def _may_flow(value: Json) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool) and 0 < len(str(value)) <= 200


def _leaf(leaves: Sequence[Leaf], place: Place, value: Json) -> Leaf | None:
    if ETAG in leaves:
        return ETAG
    if place[0] == "path" or len(str(value)) >= _TELLING_LENGTH:
        named = (leaf for leaf in leaves if leaf == LOCATION or _NAMES_SOMETHING.search(str(leaf[-1])))
        return next(named, leaves[0] if leaves and len(str(value)) >= _TELLING_LENGTH else None)
    if not _NAMES_SOMETHING.search(str(place[-1])):
        return None
    return next((leaf for leaf in leaves if leaf and _NAMES_SOMETHING.search(str(leaf[-1]))), None)


def _collection(path: str, place: Place) -> str | None:
    """Where things of this place of a path are: /orders for the `id` of /orders/{id}/lines."""
    return _nameless(path.partition(f"/{{{place[1]}}}")[0]) if place[0] == "path" else None


def _nameless(path: str) -> str:
    return re.sub(r"\{[^{}]*\}", "{}", path.rstrip("/"))


def _of_another(leaf: Leaf) -> bool:
    return re.search(r"[a-z0-9](?:_id|_uuid|_key|_name|Id|ID)$", str(leaf[-1])) is not None


def _told(exchange: Exchange) -> dict[str, list[Leaf]]:
    """The leaves of an answer by their value as text."""
    by_value: dict[str, list[Leaf]] = {}
    if len(exchange.response.body) <= LARGEST:
        for number, (leaf, value) in enumerate(_leaves((), parsed(exchange.response.body))):
            if number >= MOST_LEAVES:
                break
            by_value.setdefault(str(value), []).append(leaf)
    for told, leaf in ((_located(exchange), LOCATION), (exchange.response.header("etag"), ETAG)):
        if told:
            by_value.setdefault(told, []).append(leaf)
    return by_value


def _echoed(exchange: Exchange) -> Callable[[Leaf, Json], bool]:
    """What an answer only tells because it was asked for it: it did not come from there.

    A body is ours to choose, so that what a write repeats of it is as good as made. And what a create calls its own is
    new, even where its number is that of a thing in its path.
    """
    draft, writes = exchange.draft, exchange.operation.method in ("POST", "PUT")
    texts = _texts(draft.path if writes else slots(draft))
    created = exchange.response.status == 201 and exchange.operation.method == "POST"
    return lambda leaf, value: (
        str(value) in texts and not (created and (leaf[-1] in _OWN or leaf[-1] not in draft.path))
    )


def _texts(values: Mapping[Any, Json]) -> frozenset[str]:
    return frozenset(str(one) for one in values.values() if _may_flow(one))


def _leaves(leaf: Leaf, value: Json) -> Iterator[tuple[Leaf, Json]]:
    if len(leaf) < DEEPEST and isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves((*leaf, key), inner)
    elif leaf and _may_flow(value):
        yield leaf, value


def _located(exchange: Exchange) -> str | None:
    location = exchange.response.header("location")
    return location.partition("?")[0].rstrip("/").rpartition("/")[2] if location else None
