"""Whether a draft keeps to the contract: a second opinion on what the mutation that made it claims.

Before a service is blamed for accepting invalid input, or for refusing valid input, the draft is checked here again
from the contract alone. Parameters and forms travel as text, so that "5" and 5 are the same there and break nothing.
In JSON they differ, but many services read them alike on purpose: that is `forgivable`. All of this holds within
alternatives too: a value that fits one of them but for what is forgiven breaks nothing.
"""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace

from whet.skills.api.contract.model import Body, Json, Parameter
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import NO_BODY, Draft
from whet.skills.api.oracles.alternatives import alternatives
from whet.skills.api.oracles.breaches import HIDDEN, SEVERAL, Breach, breaches, every_breach, once
from whet.skills.api.oracles.reading import NotJson, parsed, speaks_json
from whet.skills.api.oracles.undeclared import undeclared
from whet.skills.api.writing import header_value
from whet.skills.api.writing_styles import content_text

# OpenAPI has these ignored when they are declared as header parameters.
_IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})
_FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
# Sets drop what came twice, what only the service writes is ignored, and alternatives overlap although `oneOf` says
# that they do not: none of it is an accepted error.
_HARMLESS = frozenset({"uniqueItems", HIDDEN, SEVERAL})
_HARMLESS_IN_FORMS = frozenset(
    {"additionalProperties", "unevaluatedProperties"}
)  # nobody looks at fields not asked for
_DEEPEST = 4  # alternatives within alternatives
_NUMBER = re.compile(r"\s*[+-]?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?\s*")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None, "": None, "yes": True, "no": False}


class Keeping:
    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas

    def broken(self, draft: Draft) -> tuple[Breach, ...] | None:
        """What of the contract a draft breaks; None where that cannot be told (a body neither JSON nor form)."""
        body = self._body(draft)
        if body is None:
            return None
        return tuple(breach for one in draft.operation.parameters for breach in self._parameter(draft, one)) + body

    def kept(self, draft: Draft) -> bool:
        """As it stands, not only read generously: whoever refuses it contradicts the contract."""
        strictly = (not breaches(self._schemas, schema, value, "request") for schema, value in _given(draft))
        return self.broken(draft) == () and not undeclared(self._schemas, draft) and all(strictly) and _is_text(draft)

    def forgivable(self, draft: Draft) -> bool:
        """All that a draft breaks is in its JSON, and gone when a text is read as what it spells, or the other way."""
        declared, body = _declared(draft), self._body(draft)
        if declared is None or not body or draft.body is NO_BODY or self.broken(draft) != body:
            return False
        return not self._left(declared.schema, draft.body, wire=False, reading=True)

    def sent_as(self, draft: Draft, breach: Breach) -> str:
        """The type of what was sent in the body where it breaks the contract; nothing where it cannot be found."""
        try:
            return type(_at(draft.body, [part for part in breach.at.split("/") if part])).__name__
        except (LookupError, TypeError, ValueError):
            return ""

    def _parameter(self, draft: Draft, parameter: Parameter) -> tuple[Breach, ...]:
        if parameter.where == "header" and parameter.name.lower() in _IGNORED_HEADERS:
            return ()
        values = draft.values(parameter.where)
        if parameter.name not in values:
            return _missing(f"{parameter.where} {parameter.name}", parameter.name) if parameter.required else ()
        value = values[parameter.name]
        if isinstance(value, bytes):
            return ()
        found = self._breaches(parameter.schema, value, wire=parameter.media is None)
        return tuple(replace(one, place=f"{parameter.where} {parameter.name}/{one.place}") for one in found)

    def _body(self, draft: Draft) -> tuple[Breach, ...] | None:
        declared = _declared(draft)
        if draft.raw is None and draft.body is NO_BODY:
            bodies = draft.operation.bodies
            return _missing("body", "a body") if bodies and all(one.required for one in bodies) else ()
        if declared is None or not (speaks_json(_media(declared)) or _media(declared) in _FORMS):
            return None
        if draft.raw is None:
            return self._breaches(declared.schema, draft.body, wire=_media(declared) in _FORMS)
        return self._raw(draft.raw, declared)

    def _raw(self, raw: bytes, declared: Body) -> tuple[Breach, ...] | None:
        if not speaks_json(_media(declared)):
            return None
        value = parsed(raw)
        if isinstance(value, NotJson):
            return (Breach("", "body", "json", f"the body is not JSON: {value.reason}"),)
        return self._breaches(declared.schema, value, wire=False)

    def _breaches(self, schema: Json, value: Json, *, wire: bool) -> tuple[Breach, ...]:
        if wire and isinstance(value, dict):
            value = {name: one for name, one in value.items() if one != []}  # an empty list is not written
        return self._left(schema, value, wire=wire, reading=wire)

    def _left(self, schema: Json, value: Json, *, wire: bool, reading: bool, depth: int = 0) -> tuple[Breach, ...]:
        """What is neither harmless nor forgiven; `reading`: nor gone when texts are read as what they spell."""
        harmless = _HARMLESS | _HARMLESS_IN_FORMS if wire else _HARMLESS
        found = [one for one in every_breach(self._schemas, schema, value, "request") if one.keyword not in harmless]
        return once(one for one in found if not self._excused(schema, value, one, wire, reading, depth))

    def _excused(self, schema: Json, value: Json, breach: Breach, wire: bool, reading: bool, depth: int) -> bool:
        steps = [part for part in breach.at.split("/") if part]
        try:
            there = _at(value, steps)
        except (LookupError, TypeError, ValueError):  # a name with a slash in it: the place cannot be found again
            return False
        if depth > _DEEPEST:
            return False
        if breach.keyword in ("anyOf", "oneOf"):
            options = alternatives(self._schemas, schema, value, steps)
            if any(not self._left(one, there, wire=wire, reading=reading, depth=depth + 1) for one in options):
                return True
        read = (_with(value, steps, other) for other in _readings(there, wire)) if reading else ()
        return any(self._fits_when_read(schema, one, breach, wire, depth) for one in read)

    def _fits_when_read(self, schema: Json, read: Json, breach: Breach, wire: bool, depth: int) -> bool:
        """The breach is gone with another value in its place, and what that has in it is right, or can be read so."""
        left = [one for one in every_breach(self._schemas, schema, read, "request") if _within(one.at, breach.at)]
        return all(one.at != breach.at and self._excused(schema, read, one, wire, True, depth + 1) for one in left)


def _within(at: str, place: str) -> bool:
    return not place or at == place or at.startswith(f"{place}/")


def _declared(draft: Draft) -> Body | None:
    bodies = draft.operation.bodies
    return next((one for one in bodies if one.media == draft.media), bodies[0] if bodies else None)


def _media(body: Body) -> str:
    return body.media.partition(";")[0].strip().lower()


def _missing(place: str, name: str) -> tuple[Breach, ...]:
    return (Breach("", place, "required", f"{name} is required"),)


def _given(draft: Draft) -> Iterator[tuple[Json, Json]]:
    """What the draft gives for each thing that the contract has a schema for."""
    for one in draft.operation.parameters:
        values = draft.values(one.where)
        if one.name in values and not isinstance(values[one.name], bytes):
            yield one.schema, values[one.name]
    declared = _declared(draft)
    if declared is not None and draft.body is not NO_BODY:
        yield declared.schema, draft.body


def _is_text(draft: Draft) -> bool:
    """Half a character (a lone surrogate) fits a schema that says "string", but no encoding knows it."""
    try:
        for where in (draft.path, draft.query, draft.headers, draft.cookies, draft.body):
            json.dumps(where, ensure_ascii=False, default=repr).encode()
    except UnicodeEncodeError:
        return False
    return True


def _readings(value: Json, wire: bool) -> Iterator[Json]:
    if isinstance(value, str):
        if value.strip().lower() in _WORDS:
            yield _WORDS[value.strip().lower()]
        if _NUMBER.fullmatch(value):
            yield float(value) if float(value) % 1 else int(float(value))
        if wire:
            if value != header_value(value).strip():
                yield header_value(value).strip()  # control characters are not written, and outer spaces not read
            yield [part for part in value.split(",") if part]
    elif isinstance(value, bool):
        yield from (int(value), str(value).lower())
    elif isinstance(value, int | float):
        yield from (str(value), *((bool(value),) if value in (0, 1) else ()))
    elif value is None and wire:
        yield from ("null", "")
    elif isinstance(value, list) and wire:
        yield from ([str(one) for one in value], ",".join(map(str, value)))
        if len(value) == 1:  # written as its only entry
            yield value[0]
            yield from _readings(value[0], wire)
    elif isinstance(value, dict) and wire:
        yield content_text(value)
    if wire and not isinstance(value, list | dict):
        yield [value]


def _at(value: Json, steps: list[str]) -> Json:
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def _with(value: Json, steps: list[str], put: Json) -> Json:
    if not steps:
        return put
    copy = deepcopy(value)
    holder = _at(copy, steps[:-1])
    holder[int(steps[-1]) if isinstance(holder, list) else steps[-1]] = put
    return copy
