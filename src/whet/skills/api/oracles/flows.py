"""Which earlier answers a request was made of.

A request that shows a fault often names things that earlier answers created. To see it again, those have to be created
again, and what is named has to be their new names. What flows is found by value: a slot of the later request that
equals a leaf of the earlier answer. Small numbers and short words are equal by chance everywhere, so they only count
where both sides are called an id, or where the slot is a part of the path.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.oracles.reading import parsed
from whet.skills.api.oracles.slots import Place, placed, slots

Leaf = tuple[str | int, ...]
LOCATION: Leaf = ("Location",)
ETAG: Leaf = ("ETag",)
LARGEST, MOST_LEAVES, DEEPEST = 256_000, 1_000, 8
_NAMES_SOMETHING = re.compile(r"(?:^|[_.-])(?:id|ids|uuid|guid|key|ref|slug|name|token)$|[a-z](?:Id|ID|Ids|Key|Ref)$")
_TELLING_LENGTH = 6


@dataclass(frozen=True, slots=True)
class Flow:
    """The value in `place` of a later request is that of `leaf` in the answer of step `source`."""

    place: Place
    source: int
    leaf: Leaf


def flows(steps: Sequence[Exchange], step: int) -> tuple[Flow, ...]:
    """What of one step's draft came from the answers before it: from what created it, else from the latest to tell."""
    draft = steps[step].draft
    sent: dict[Place, Json] = slots(draft) | {("extra", number): value for number, (_, value) in enumerate(draft.extra)}
    wanted = [(place, value) for place, value in sent.items() if _may_flow(value)]
    earlier = [number for number in range(step) if steps[number].ok]
    earlier.sort(key=lambda number: (steps[number].operation.method not in ("POST", "PUT"), -number))
    found: dict[Place, Flow] = {}
    for source in earlier if wanted else ():
        told, echoed = _told(steps[source]), _echoed(steps[source])
        for place, value in wanted:
            leaf = None if str(value) in echoed else _leaf(told.get(str(value), ()), place, value)
            if leaf is not None:
                found.setdefault(place, Flow(place, source, leaf))
    return tuple(found.values())


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


def _echoed(exchange: Exchange) -> frozenset[str]:
    """What a reading only tells because it was asked for it: it did not come from there."""
    if exchange.operation.method in ("POST", "PUT"):
        return frozenset()
    return frozenset(str(value) for value in slots(exchange.draft).values() if _may_flow(value))


def _leaves(leaf: Leaf, value: Json) -> Iterator[tuple[Leaf, Json]]:
    if len(leaf) < DEEPEST and isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves((*leaf, key), inner)
    elif leaf and _may_flow(value):
        yield leaf, value


def _located(exchange: Exchange) -> str | None:
    location = exchange.response.header("location")
    return location.partition("?")[0].rstrip("/").rpartition("/")[2] if location else None
