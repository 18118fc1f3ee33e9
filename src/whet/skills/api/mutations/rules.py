"""What a kind of mutation is made of: where it fits, and what it does there."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Draft
from whet.skills.api.mutations.places import BODY, REQUEST, Place, put
from whet.skills.api.mutations.sites import Site, Sites
from whet.tools.http.messages import Headers

Fits = Callable[[Site], bool]
NewValue = Callable[[Site, random.Random], Json]


@dataclass(frozen=True, slots=True)
class Rule:
    """`fair` changes never break the contract by themselves, or in a way that services rightly forgive. `sited` ones
    change one value, wherever it stands."""

    name: str
    places: Callable[[Sites], Iterable[Place]]
    change: Callable[[Sites, Place, random.Random], Draft]
    fair: bool = False
    sited: bool = False


def at_sites(name: str, fits: Fits, new: NewValue, *, fair: bool = False) -> Rule:
    """Another value at one site."""
    return Rule(
        name,
        lambda sites: [site.place for site in sites.every if fits(site)],
        lambda sites, place, rng: put(sites.draft, place, new(sites.by_place[place], rng)),
        fair,
        sited=True,
    )


def in_body(name: str, raw: Callable[[Sites, random.Random], bytes], *, fair: bool = False) -> Rule:
    """Another document in place of a JSON body."""
    return Rule(
        name,
        lambda sites: [BODY] if sites.speaks_json else [],
        lambda sites, _, rng: replace(sites.draft, raw=raw(sites, rng)),
        fair,
    )


def with_headers(name: str, headers: Callable[[random.Random], Headers], fits: Callable[[Sites], bool]) -> Rule:
    """Headers that nobody declared: none of them breaks a contract."""
    return Rule(
        name,
        lambda sites: [REQUEST] if fits(sites) else [],
        lambda sites, _, rng: replace(sites.draft, extra=(*sites.draft.extra, *headers(rng))),
        fair=True,
    )


def one_of(*values: Json) -> NewValue:
    return lambda _, rng: rng.choice(values)


def always(value: Json) -> NewValue:
    return lambda _site, _rng: value
