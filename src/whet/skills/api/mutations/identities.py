"""Ids that nothing has, that something else has, and that are none."""

import random
import re
from collections.abc import Callable

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Draft
from whet.skills.api.mutations.places import Place, put
from whet.skills.api.mutations.rules import Rule, at_sites, one_of
from whet.skills.api.mutations.sites import Site, Sites
from whet.skills.api.names import is_identity, words
from whet.skills.api.values.formats import random_uuid, slug
from whet.skills.api.values.slots import NOTHING, Absent

Foreign = Callable[[Draft, Place], Json | Absent]  # an id of another thing than the one that belongs there
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"[0-9a-f]{12,64}")
_PARENTS = frozenset({"parent", "owner", "target", "source", "from", "to", "child", "related", "link"})


def _is_id(site: Site) -> bool:
    if site.kind not in ("string", "integer"):
        return False
    return site.place.where == "path" or any(is_identity(word) for word in words(site.place.name)[-1:])


def _refers(site: Site) -> bool:
    """A body's field that may name another thing."""
    named = words(site.place.name)
    if site.place.where not in ("body", "query") or "enum" in site.schema:
        return False
    return _is_id(site) or site.schema.get("format") == "uuid" or any(word in _PARENTS for word in named)


def nobody(value: Json, rng: random.Random) -> Json:
    """An id of the same kind as this one, which nothing is known to have."""
    if isinstance(value, int):
        return rng.randrange(900_000_000, 2**31)
    if _UUID.fullmatch(str(value)):
        return random_uuid(rng)
    if str(value).isdigit():
        return str(rng.randrange(900_000_000, 2**31))
    if _HEX.fullmatch(str(value)):
        return "".join(rng.choices("0123456789abcdef", k=len(value)))
    return f"whet-{slug(rng)}"


def _unknown(site: Site, rng: random.Random) -> Json:
    return nobody(site.value, rng)


def _malformed(site: Site, rng: random.Random) -> Json:
    text = str(site.value)
    return rng.choice((text[:-1] or "!", f"{text}x", f"{text},{text}", "not an id!", "-", "~", f"{text}\x00", "{id}"))


def _foreign(foreign: Foreign) -> Rule:
    def places(sites: Sites) -> list[Place]:
        every = [site.place for site in sites.every if _is_id(site) or _refers(site)]
        return [place for place in every if foreign(sites.draft, place) is not NOTHING]

    def change(sites: Sites, place: Place, _: random.Random) -> Draft:
        other = foreign(sites.draft, place)
        return sites.draft if other is NOTHING else put(sites.draft, place, other)

    return Rule("foreign-id", places, change)


def _itself(sites: Sites) -> list[Place]:
    return [site.place for site in sites.every if _refers(site)] if sites.draft.path else []


def _to_itself(sites: Sites, place: Place, _: random.Random) -> Draft:
    return put(sites.draft, place, list(sites.draft.path.values())[-1])


def identities(foreign: Foreign) -> tuple[Rule, ...]:
    return (
        at_sites("unknown-id", _is_id, _unknown),
        at_sites("malformed-id", _is_id, _malformed),
        at_sites("odd-id", _is_id, one_of("0", "-1", "null", "undefined", "me", "*", "..", "a/b", "1.0", "%", "١")),
        at_sites("unknown-reference", _refers, _unknown),
        _foreign(foreign),
        Rule("self-reference", _itself, _to_itself),
    )
