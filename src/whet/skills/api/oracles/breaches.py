"""Where a value breaks a schema: one breach for each place of the schema, however many entries of a list share it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from whet.skills.api.contract.directions import Direction
from whet.skills.api.contract.model import Json, Schema
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.contract.validation import Violation

_FORBIDDEN = "False schema"  # how the validator tells a property that this direction must not have
_SEVERAL = "is valid under more than one of"  # and how it tells alternatives that overlap
_FEW = 8
HIDDEN, SEVERAL = "hidden", "several"
_PARAMETERS = frozenset({"path", "query", "header", "cookie"})
_APART = {"additionalProperties": " unknown", "unevaluatedProperties": " unknown", "json": " not JSON"}


@dataclass(frozen=True, slots=True)
class Breach:
    """`at` is the place in the value ("items/0/price"), `place` the one in the contract, without its `keyword`."""

    at: str
    place: str
    keyword: str
    message: str


def breaches(schemas: Schemas, schema: Schema, value: Json, direction: Direction) -> tuple[Breach, ...]:
    return once(every_breach(schemas, schema, value, direction))


def every_breach(schemas: Schemas, schema: Schema, value: Json, direction: Direction) -> Iterator[Breach]:
    """Of entries that share a place of the schema the first few: some may be forgiven, and others not."""
    found = [_breach(violation) for violation in schemas.errors(schema, value, direction=direction)]
    seen: Counter[tuple[str, str]] = Counter()
    for breach in found:
        seen[breach.place, breach.keyword] += 1
        if seen[breach.place, breach.keyword] <= _FEW:
            yield breach


def once(found: Iterable[Breach]) -> tuple[Breach, ...]:
    by_place: dict[tuple[str, str], Breach] = {}
    for breach in found:
        by_place.setdefault((breach.place, breach.keyword), breach)
    return tuple(by_place.values())


def _breach(violation: Violation) -> Breach:
    if violation.message.startswith(_FORBIDDEN):
        return Breach(violation.instance, violation.schema, HIDDEN, "this must not be sent in this direction")
    place, _, keyword = violation.schema.rpartition("/")
    if keyword == "oneOf" and _SEVERAL in violation.message:
        keyword = SEVERAL
    return Breach(violation.instance, place, keyword, violation.message)


def slot(breach: Breach) -> str:
    """The place of a request that it broke, the same whatever stood there: "query.limit", "body.items[].price".

    What is missing and what nobody declared are told apart from what is wrong; which rule a wrong value breaks is not:
    where one is not checked, the others mostly are not either, and it is one thing to repair.
    """
    where, _, name = breach.place.partition("/")[0].partition(" ")
    inside = re.sub(r"/\d+(?=/|$)", "[]", f"/{breach.at}" if breach.at else "").replace("/", ".")
    found = f"{where}.{name}{inside}" if name and where in _PARAMETERS else f"body{inside}"
    missing = re.match(r'"(.*)" is a required property', breach.message)
    if breach.keyword == "required":
        return f"{found}.{missing[1]} missing" if missing else f"{found} missing"
    return found + _APART.get(breach.keyword, "")


def sentence(breach: Breach) -> str:
    """What is wrong with a request, as people say it: "query.limit: …", "items[0].price of the body: …"."""
    where, _, name = breach.place.partition("/")[0].partition(" ")
    whole = f"{where}.{name}" if name and where in _PARAMETERS else "the body"
    return f"{f'{spoken(breach.at)} of {whole}' if breach.at else whole}: {breach.message}"


def spoken(at: str) -> str:
    """A place in a value as people write it: "items[0].price"; "the whole value" for the top."""
    return re.sub(r"(?:^|/)(\d+)(?=/|$)", r"[\1]", at).replace("/", ".")[:200] or "the whole value"
