"""Objects and arrays of another build: keys gone, added or renamed, elements missing, doubled or too many."""

import random
from collections.abc import Iterator
from dataclasses import replace

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Draft
from whet.skills.api.mutations.places import BODY, Place, put, without
from whet.skills.api.mutations.rules import NewValue, Rule, at_sites, one_of
from whet.skills.api.mutations.sites import Site, Sites, may_be_null

_ODD_KEYS = ("", "__proto__", "constructor", "$where", "a.b", "a[b]", "\x00", "\ud800", "__class__", "k" * 5_000, "😀")
_COMMON_KEYS = ("whet_unknown", "id", "_id", "role", "is_admin", "owner", "created_at", "deleted", "type", "data")
_MANY = 1_000
_LEVELS = 60
_MOST_ITEMS = 20_000


def _is_object(site: Site) -> bool:
    return site.kind == "object" and site.place.where == "body"


def _is_array(site: Site) -> bool:
    return site.kind == "array"


def _has_items(site: Site) -> bool:
    return site.kind == "array" and bool(site.value)


def _required(sites: Sites) -> Iterator[Place]:
    for site in sites.every:
        if site.required and site.place.where != "path" and site.place.keys and isinstance(site.place.keys[-1], str):
            yield site.place


def _drop(sites: Sites, place: Place, _: random.Random) -> Draft:
    return without(sites.draft, place)


def _with_key(*keys: str) -> NewValue:
    return lambda site, rng: {**site.value, rng.choice(keys): rng.choice((1, "whet", None, {}, []))}


def _many_keys(site: Site, _: random.Random) -> Json:
    return {**site.value, **{f"whet_{number}": number for number in range(_MANY)}}


def _recased_key(site: Site, rng: random.Random) -> Json:
    chosen = rng.choice(list(site.value))
    return {(key.swapcase() if key == chosen else key): value for key, value in site.value.items()}


def _swapped(site: Site, rng: random.Random) -> Json:
    one, other = rng.sample(list(site.value), 2)
    return {**site.value, one: site.value[other], other: site.value[one]}


def _read_only(site: Site) -> list[str]:
    properties = site.schema.get("properties") or {}
    return [name for name, schema in properties.items() if isinstance(schema, dict) and schema.get("readOnly")]


def _with_read_only(site: Site, rng: random.Random) -> Json:
    return {**site.value, rng.choice(_read_only(site)): rng.choice((1, "whet", None))}


def _nested(site: Site, rng: random.Random) -> Json:
    value = site.value
    for level in range(_LEVELS):
        value = [value] if rng.random() < 0.5 else {f"level_{level}": value}
    return value


def _doubled(site: Site, _: random.Random) -> Json:
    return [*site.value, *site.value]


def _too_many(site: Site, _: random.Random) -> Json:
    most = min(int(site.schema.get("maxItems", _MANY)), _MOST_ITEMS)
    least = most + 1 if site.place.where == "body" else min(most + 1, 100)
    return (site.value * (least // len(site.value) + 1))[:least]


def _with_item(*items: Json) -> NewValue:
    return lambda site, rng: [*site.value[:3], rng.choice(items)]


def _required_alone(sites: Sites, place: Place, _: random.Random) -> Draft:
    """Nothing that is optional, anywhere at the top."""
    body = sites.by_place[place]
    needed = set(body.schema.get("required") or ())
    kept = put(sites.draft, place, {name: value for name, value in body.value.items() if name in needed})
    declared = [one for one in sites.operation.parameters if one.where == "query" and one.required]
    return replace(kept, query={one.name: kept.query[one.name] for one in declared if one.name in kept.query})


def _may_be_null(sites: Sites) -> Iterator[Place]:
    return (site.place for site in sites.every if len(site.place.keys) == 1 and may_be_null(site))


def _all_null(sites: Sites, _: Place, __: random.Random) -> Draft:
    """Everything at the top of the body that may be null is: one request asks about all of them."""
    draft = sites.draft
    for place in _may_be_null(sites):
        draft = put(draft, place, None)
    return draft


STRUCTURES = (
    Rule("missing", _required, _drop),
    Rule("all-allowed-nulls", lambda sites: [BODY] if any(_may_be_null(sites)) else [], _all_null),
    Rule("required-alone", lambda sites: [BODY] if _has_optional(sites) else [], _required_alone),
    at_sites("unknown-key", _is_object, _with_key("whet_unknown")),
    at_sites("common-key", _is_object, _with_key(*_COMMON_KEYS)),
    at_sites("odd-key", _is_object, _with_key(*_ODD_KEYS)),
    at_sites("many-keys", _is_object, _many_keys),
    at_sites("key-in-another-case", lambda site: _is_object(site) and bool(site.value), _recased_key),
    at_sites("swapped-values", lambda site: _is_object(site) and len(site.value) > 1, _swapped),
    at_sites("empty-object", lambda site: _is_object(site) and bool(site.value), one_of({})),
    at_sites("read-only-key", lambda site: _is_object(site) and bool(_read_only(site)), _with_read_only),
    at_sites("query-operator", lambda site: site.place.where == "body" and site.kind not in ("object", "array"),
             one_of({"$gt": ""}, {"$ne": None}, {"$where": "1"}, {"__any__": []})),
    at_sites("deeply-nested", lambda site: site.place.where == "body", _nested),
    at_sites("empty-array", lambda site: _has_items(site) and site.place.where == "body", one_of([])),
    at_sites("doubled-items", _has_items, _doubled),
    at_sites("too-many-items", _has_items, _too_many),
    at_sites("null-item", _is_array, _with_item(None)),
    at_sites("odd-item", _is_array, _with_item({}, [], "", -1, {"whet": [None]}, True)),
)  # fmt: skip


def _has_optional(sites: Sites) -> bool:
    body = sites.by_place.get(BODY)
    return (
        body is not None and body.kind == "object" and not body.value.keys() <= {*(body.schema.get("required") or ())}
    )
