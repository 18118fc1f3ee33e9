"""How alike two field names are: by their words, and by a small embedding of their letters."""

import math
import operator
import re
import zlib
from collections.abc import Mapping
from functools import lru_cache

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_IDENTITIES = frozenset({"id", "uuid", "guid", "pk", "key", "name", "slug", "code", "identifier", "ref", "number"})
_WRAPPERS = frozenset(
    {"data", "sent", "item", "result", "response", "payload", "attribute", "object", "record", "entity"}
)
_DIMENSIONS = 512
_IN_SHORT = 0.85
_SHORTEST = 3  # letters of a name in short that stands alone


@lru_cache(maxsize=20_000)
def words(name: str) -> tuple[str, ...]:
    """`flowRunIds` → flow, run, id. Plurals become singular, so that /orders and order_id meet."""
    return tuple(_singular(word.lower()) for word in _WORDS.findall(name))


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def is_identity(word: str) -> bool:
    """Whether a field of this name tells one thing from another."""
    return word in _IDENTITIES


def says_how(part: str) -> bool:
    """Whether a part of a path tells by what a thing is named: /flows/name/{name}, /users/by-email/{email}."""
    return part.lower() in _IDENTITIES or part.lower().startswith(("by-", "by_"))


@lru_cache(maxsize=20_000)
def _embedding(text: str) -> Mapping[int, float]:
    """Hashed letter trigrams as a unit vector. crc32, because hash() changes with the process."""
    padded = f"^{text}$"
    counts: dict[int, float] = {}
    for at in range(max(1, len(padded) - 2)):
        place = zlib.crc32(padded[at : at + 3].encode("utf-8", "surrogatepass")) % _DIMENSIONS
        counts[place] = counts.get(place, 0.0) + 1.0
    length = math.sqrt(sum(count * count for count in counts.values()))
    return {place: count / length for place, count in counts.items()}


def cosine(one: str, other: str) -> float:
    left, right = _embedding(one), _embedding(other)
    return sum(weight * right.get(place, 0.0) for place, weight in left.items())


@lru_cache(maxsize=100_000)
def likeness(wanted: str, noun: str, field: str, kind: str) -> float:
    """How likely `field` of a thing met at `kind` is what a slot `wanted` under `noun` asks for, by names alone (0..1).

    A slot `{id}` under /orders wants the identity of an order; a slot `order_id` wants the same anywhere.
    """
    wanted_words, field_words = words(wanted), words(field.rpartition(".")[2].rstrip("*") or field)
    if not wanted_words or not field_words:
        return 0.02
    about, identities = _asked(wanted_words, words(noun))
    if wanted_words == field_words and (len(wanted_words) > 1 or not identities):
        return 0.9
    if is_identity(field_words[-1]):
        return _whose(about, words(kind), owner(field) + field_words[:-1]) * _same_thing(identities, field_words[-1])
    return 0.3 * cosine(" ".join(about), " ".join(field_words))


@lru_cache(maxsize=20_000)
def asked_for(wanted: str, noun: str) -> tuple[str, ...]:
    """The words by which a slot's candidates are found."""
    own = words(wanted)
    about, identities = _asked(own, words(noun))
    return tuple(dict.fromkeys((*about, *(own if not identities else ()))))


@lru_cache(maxsize=20_000)
def owner(field: str) -> tuple[str, ...]:
    """What an inner field is a part of: `state.id` is the identity of a state. Mere wrappers say nothing."""
    above = words(field.rpartition(".")[0].rpartition(".")[2])
    return () if set(above) <= _WRAPPERS else above


def _asked(wanted: tuple[str, ...], noun: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the slot is an identity of: its own first words, else the path's noun; and which identities will do."""
    about, identities = wanted, tuple[str, ...]()
    while about and is_identity(about[-1]):  # `id_or_name`
        about, identities = about[:-1], (*identities, about[-1])
        if about[-1:] != ("or",):
            break
        about = about[:-1]
    return about or noun, identities


def abbreviates(short: str, long: str) -> bool:
    """`conn` is short for connection."""
    return len(short) > 1 and len(short) < len(long) and long.startswith(short)


def _means(about: tuple[str, ...], said: tuple[str, ...]) -> float:
    """Whether the words at the end are the same (1), or the same in short (a little less); else 0."""
    last = said[-len(about) :]
    if about == last:
        return 1.0
    short = [abbreviates(one, other) for one, other in zip(about, last, strict=False)]
    fits = len(last) == len(about) and all(map(operator.or_, short, map(operator.eq, about, last)))
    return _IN_SHORT if fits and (len(about) > 1 or len(about[0]) >= _SHORTEST) else 0.0


def _whose(about: tuple[str, ...], kind: tuple[str, ...], said: tuple[str, ...]) -> float:
    """`order_id` says itself whose it is, wherever it stands; `id` is that of the thing it stands in. A flow run's
    `state_id` is that of a flow run state."""
    if not said:
        return _nearness(about, kind)
    meant = _means(about, (*kind, *said)) if about else 0.0
    return meant * (0.95 if len(said) <= len(about) else 0.7) or 0.1


def _nearness(about: tuple[str, ...], kind: tuple[str, ...]) -> float:
    """/orders is about orders; /orders/search most likely too; /orders/{id}/lines less so."""
    if not about or not kind:
        return 0.1
    meant = _means(about, kind)
    if meant:
        return meant
    if about[-len(kind) :] == kind:  # /queues, for a work queue
        return 0.85
    if about[-1] == kind[-1]:  # a task run is no flow run
        return 0.4
    return 0.6 if about[-1] in kind else 0.1


def _same_thing(identities: tuple[str, ...], field: str) -> float:
    """`{id}` is most often the field id; `{order}` may be its id, its name or its key."""
    if field in identities:
        return 0.9
    return 0.7 if field in {"id", "uuid"} else 0.45
