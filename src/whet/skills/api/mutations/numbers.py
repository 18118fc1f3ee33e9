"""Numbers at and beyond the edges of what machines and contracts hold."""

import math
import random

from whet.skills.api.contract.model import Json
from whet.skills.api.mutations.rules import NewValue, Rule, always, at_sites, one_of
from whet.skills.api.mutations.sites import Site


def _is_number(site: Site) -> bool:
    return site.allows("integer", "number") and "enum" not in site.schema


def _is_whole(site: Site) -> bool:
    return _is_number(site) and not site.allows("number")


def _rule(name: str, new: NewValue, *, fair: bool = False) -> Rule:
    return at_sites(name, _is_number, new, fair=fair)


def _limit(site: Site, inclusive: str, exclusive: str) -> float | None:
    limit = site.schema.get(inclusive, site.schema.get(exclusive))
    return limit if isinstance(limit, int | float) else None


def _below(site: Site, rng: random.Random) -> Json:
    return math.floor(_limit(site, "minimum", "exclusiveMinimum") or 0) - rng.choice((1, 1000))


def _above(site: Site, rng: random.Random) -> Json:
    return math.ceil(_limit(site, "maximum", "exclusiveMaximum") or 0) + rng.choice((1, 1000))


def _off_step(site: Site, _: random.Random) -> Json:
    step = site.schema["multipleOf"]
    return site.value + step / 2 if isinstance(site.value, int | float) else step / 2


NUMBERS = (
    _rule("minus-one", always(-1)),
    _rule("zero", always(0)),
    _rule("beyond-32-bits", one_of(2**31, -(2**31) - 1, 2**32)),
    _rule("beyond-64-bits", one_of(2**63, -(2**63) - 1, 2**64, 2**127)),
    _rule("beyond-a-double", one_of(2**53 + 1, 10**40, 10**400)),
    _rule("huge-float", one_of(1e308, -1e308, 1e39)),
    _rule("tiny-float", one_of(5e-324, 1e-40, 0.1 + 0.2, -0.0)),
    at_sites("fraction", _is_whole, one_of(1.5, -0.5, 0.1)),
    at_sites("below-minimum", lambda site: _is_number(site) and _limit(site, "minimum", "exclusiveMinimum") is not None,
             _below),
    at_sites("above-maximum", lambda site: _is_number(site) and _limit(site, "maximum", "exclusiveMaximum") is not None,
             _above),
    at_sites("not-a-multiple", lambda site: _is_number(site) and bool(site.schema.get("multipleOf")), _off_step),
    # Not JSON, but so many readers take it that accepting it is no fault worth telling.
    _rule("not-a-number", always(math.nan), fair=True),
    _rule("infinity", one_of(math.inf, -math.inf), fair=True),
    _rule("number-with-unit", one_of("12abc", "10%", "1 000", "1.2.3", "--1", "ten")),
)  # fmt: skip
