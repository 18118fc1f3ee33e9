"""The query string: parameters that are unknown, repeated, emptied, or ask for too much."""

import random
from collections.abc import Callable

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Draft
from whet.skills.api.mutations.places import REQUEST, Place, put, without
from whet.skills.api.mutations.rules import Rule, at_sites, one_of
from whet.skills.api.mutations.sites import Site, Sites
from whet.skills.api.names import words

_PAGING = frozenset({"limit", "offset", "page", "size", "skip", "take", "count", "per", "cursor", "max"})
_SORTING = frozenset({"sort", "order", "orderby", "include", "expand", "select", "group"})
_COMMON = (
    "limit",
    "offset",
    "page",
    "sort",
    "filter",
    "fields",
    "q",
    "since",
    "debug",
    "format",
    "_method",
    "callback",
)


def _in_query(site: Site) -> bool:
    return site.place.where == "query"


def _named(names: frozenset[str]) -> Callable[[Site], bool]:
    return lambda site: _in_query(site) and any(word in names for word in words(site.place.name))


def _repeated(site: Site, rng: random.Random) -> Json:
    first = site.value[0] if isinstance(site.value, list) and site.value else site.value
    return [first, rng.choice((first, "whet", "", "-1"))]


def _unknown(sites: Sites, _: Place, rng: random.Random) -> Draft:
    declared = {one.name for one in sites.operation.parameters if one.where == "query"}
    name = rng.choice([one for one in _COMMON if one not in declared] or ["whet"])
    return put(sites.draft, Place("query", (name,)), rng.choice(("1", "-1", "whet", "", "id", "'")))


def _odd_name(sites: Sites, _: Place, rng: random.Random) -> Draft:
    name = rng.choice(("", "a[b", "a[]", "__proto__", "\x00", "é😀", "a.b.c", "\ud800", "whet" * 500, "%", "&"))
    return put(sites.draft, Place("query", (name,)), "1")


def _under_name(suffixes: tuple[str, ...]) -> Callable[[Sites, Place, random.Random], Draft]:
    def change(sites: Sites, place: Place, rng: random.Random) -> Draft:
        value = sites.by_place[place].value
        return put(without(sites.draft, place), Place("query", (f"{place.name}{rng.choice(suffixes)}",)), value)

    return change


def _unlisted(sites: Sites) -> list[Place]:
    """Declared, but not given."""
    return [
        Place("query", (one.name,))
        for one in sites.operation.parameters
        if one.where == "query" and one.name not in sites.draft.query
    ]


def _emptied(sites: Sites, place: Place, _: random.Random) -> Draft:
    return put(sites.draft, place, "")


QUERIES = (
    Rule("unknown-parameter", lambda _: [REQUEST], _unknown, fair=True),
    Rule("odd-parameter-name", lambda _: [REQUEST], _odd_name, fair=True),
    at_sites("repeated-parameter", _in_query, _repeated, fair=True),
    Rule("bracketed-parameter", lambda sites: [one.place for one in sites.every if _in_query(one)],
         _under_name(("[]", "[0]", "[a]", "[$gt]", ".a", "__gt")), fair=True),
    Rule("emptied-parameter", _unlisted, _emptied, fair=True),
    at_sites("empty-parameter", lambda site: _in_query(site) and not site.allows("string"), one_of("")),
    at_sites("page-beyond", _named(_PAGING), one_of(10**9, 2**31, 2**63, 10**30)),
    at_sites("page-before", _named(_PAGING), one_of(-1, 0, -(2**63))),
    at_sites("odd-page", _named(_PAGING), one_of("all", "1.5", "1e3", "null", " 1", "0x10")),
    at_sites("unknown-sorting", _named(_SORTING), one_of("whet_unknown", "-", "id;--", "a,b,,", "id desc")),
)  # fmt: skip
