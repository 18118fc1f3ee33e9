"""A draft as a flat list of slots with their schemas: what two drafts differ in, and what the contract says of it."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import cast

from whet.skills.api.contract.model import Json, Schema, Where
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import NO_BODY, Draft

Place = tuple[str | int, ...]  # ("query", "limit"), ("body", "data", "name")
ABSENT = object()
DEPTH, MOST = 8, 400

# Values that must name something that exists, must not exist yet, or follow rules no schema tells.
_POINTS = re.compile(
    r"(?:^|[_.-])(?:id|ids|uuid|guid|ref|key|slug|token|name|username|user|owner|email|code|parent|url|uri|path|query|q|"
    r"filter|where|expression|cron|schedule|sort|order|order_by|fields|include|cursor|page|offset|skip|password|secret)s?$"
    r"|[a-z](?:Id|Ids|Key|Ref|Name)$"
)
_PAIRED = re.compile(
    r"(?:^|[_.-])(?:from|to|start|end|min|max|before|after|since|until|first|last|lower|upper)(?:$|[_.-])"
    r"|^(?:min|max|start|end)[A-Z]"
)
_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_PLAIN_TEXT = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 _-]{0,9998}[A-Za-z0-9])?")
_WHOLE = 2**31


def slots(draft: Draft) -> dict[Place, Json]:
    """Every leaf of a draft; a list is one leaf, for its entries have no names."""
    found: dict[Place, Json] = {}
    for where in ("path", "query", "header", "cookie"):
        found |= {(where, name): value for name, value in draft.values(where).items()}
    if draft.body is not NO_BODY:
        found |= _leaves(draft.body)
    return found


def _leaves(body: Json) -> dict[Place, Json]:
    """The first ones in the order they are written."""
    found: dict[Place, Json] = {}
    waiting: list[tuple[Place, Json]] = [(("body",), body)]
    while waiting and len(found) < MOST:
        place, value = waiting.pop()
        if isinstance(value, dict) and value and len(place) < DEPTH:
            waiting += reversed([((*place, name), inner) for name, inner in islice(value.items(), MOST)])
        else:
            found[place] = value
    return found


def difference(one: Draft, other: Draft) -> tuple[Place, ...]:
    """The places where two drafts differ; (the media type and the form of the body count as a place of their own)."""
    ours, theirs = slots(one), slots(other)
    # By what is written: 3 and 3.0 are equal, and a service may take the one and refuse the other.
    places = [place for place in {**ours, **theirs} if repr(ours.get(place, ABSENT)) != repr(theirs.get(place, ABSENT))]
    return tuple(places) + ((("media",),) if one.media != other.media else ())


def placed(draft: Draft, place: Place, value: Json) -> Draft:
    """The draft with another value in one place; `ABSENT` takes the place out."""
    where, *names = place
    if where == "body":
        return replace(draft, body=_put(draft.body, names, value))
    if where == "extra":
        return replace(draft, extra=tuple((name, value if number == names[0] else one)
                                          for number, (name, one) in enumerate(draft.extra)))  # fmt: skip
    values = {**draft.values(cast(Where, where)), str(names[0]): value}
    kept = {name: one for name, one in values.items() if one is not ABSENT}
    if where == "query":
        return replace(draft, query=kept)
    if where == "header":
        return replace(draft, headers=kept)
    return replace(draft, cookies=kept) if where == "cookie" else replace(draft, path=kept)


def _put(value: Json, names: list[str | int], put: Json) -> Json:
    if not names:
        return NO_BODY if put is ABSENT else put
    first, *rest = names
    copy: Json = list(value) if isinstance(value, list) else dict(value) if isinstance(value, dict) else {}
    if put is ABSENT and not rest:
        del copy[first]
    else:
        known = isinstance(copy, list) or first in copy
        copy[first] = _put(copy[first] if known else {}, rest, put)
    return copy


def schema_at(schemas: Schemas, draft: Draft, place: Place) -> Schema | None:
    """The schema of a place, references followed and `allOf` merged; None where the contract has none."""
    where, *names = place
    if where != "body":
        declared = (one.schema for one in draft.operation.parameters if one.where == where and one.name == names[0])
        found = next(declared, None)
        return None if found is None else _plain(schemas, found)
    bodies = draft.operation.bodies
    body = next((one for one in bodies if one.media == draft.media), bodies[0] if bodies else None)
    schema: Schema | None = None if body is None else _plain(schemas, body.schema)
    for name in names:
        schema = _property(schemas, schema or {}, name)
    return schema


def _property(schemas: Schemas, schema: Schema, name: str | int) -> Schema | None:
    """The schema of a property; of alternatives that all list its values, the list of all of them."""
    own = schema.get("properties", {}).get(name)
    if isinstance(own, Mapping):
        return _plain(schemas, own)
    options = [
        schemas.merged(one) for one in schema.get("oneOf") or schema.get("anyOf") or () if isinstance(one, Mapping)
    ]
    found = [_plain(schemas, one["properties"][name]) for one in options if name in one.get("properties", {})]
    if found and all("enum" in one or "const" in one for one in found):
        return {"enum": [value for one in found for value in one.get("enum", [one.get("const")])]}
    return found[0] if len(found) == 1 else None


def _plain(schemas: Schemas, schema: Schema) -> Schema:
    """Merged; of "this or null" the part that is not null."""
    merged = schemas.merged(schema)
    options = merged.get("anyOf") or merged.get("oneOf")
    if isinstance(options, list):
        real = [one for one in options if isinstance(one, Mapping) and one.get("type") != "null"]
        return schemas.merged(real[0]) if len(real) == 1 else merged
    return merged


def enumerated(schema: Schema, value: Json) -> bool:
    """The contract lists this very value."""
    if isinstance(value, bool):
        return schema.get("type") == "boolean"
    listed = schema.get("enum") or [schema.get("const", ABSENT)]
    return isinstance(value, str | int) and any(type(one) is type(value) and one == value for one in listed)


def closed(schema: Schema | None, name: str, value: Json) -> bool:
    """The contract says so exactly what may stand here that a refusal of this value contradicts it.

    A free text, an id or one end of a range may be refused for reasons no schema can tell: it does not exist, it exists
    already, it lies before its other end. An entry of an enumeration or a number within stated bounds may not.
    """
    if schema is None or (value is not ABSENT and enumerated(schema, value)):
        return schema is not None
    if _POINTS.search(name) or _PAIRED.search(name):
        return False
    if value is ABSENT:
        return True  # what is optional may be left out
    if isinstance(value, float) and schema.get("type") == "integer":
        return False  # 20.0 is an integer to JSON Schema, and to few readers
    if isinstance(value, int | float):
        return abs(value) < _WHOLE and not _BOUNDS.isdisjoint(schema)
    bounded = bool({"minLength", "maxLength"} & set(schema)) and "format" not in schema
    return isinstance(value, str) and bounded and _PLAIN_TEXT.fullmatch(value) is not None
