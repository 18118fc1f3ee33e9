"""Whether an update was lost: the answer shows exactly the old value of a field that was set to another.

Services rightly change what they are given (trim, fold case, round, cut) and rightly ignore what is theirs (ids, times,
versions, states that follow rules, places in a row). So a field only counts when it is told exactly as before, the
value sent means something else even when read generously, and the contract lets a client set it.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from whet.skills.api.contract.model import Json
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft
from whet.skills.api.oracles.slots import ABSENT, Place, schema_at, slots

_OWNED = re.compile(
    r"(?:^|_)(?:id|uuid|etag|version|revision|created|updated|modified|time|timestamp|date|at|by|on|status|state|type|kind"
    r"|owner|password|secret|token|position|order|rank|index|sort)$|[a-z](?:Id|At|Date|Time|By|Version|Status|State|Type)$|^last_|^_|schema",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Lost:
    field: str
    sent: Json
    kept: Json


def lost(schemas: Schemas, draft: Draft, before: Json, after: Json) -> Iterator[Lost]:
    """The fields of a write that a reading afterwards shows unchanged."""
    for place, sent in slots(draft).items():
        if place[0] != "body" or len(place) < 2 or not _settable(schemas, draft, place):
            continue
        old, now = _at(before, place[1:]), _at(after, place[1:])
        if now is not ABSENT and _identical(old, now) and _scalar(sent) and not _alike(sent, now):
            yield Lost(".".join(map(str, place[1:])), sent, now)


def _settable(schemas: Schemas, draft: Draft, place: Place) -> bool:
    schema = schema_at(schemas, draft, place)
    return schema is not None and not schema.get("readOnly") and not _OWNED.search(str(place[-1]))


def _scalar(value: Json) -> bool:
    """Nothing (null, "") may mean "leave it as it is"; lists and objects may be merged."""
    return isinstance(value, bool | int | float) or (isinstance(value, str) and bool(value.strip()))


def _identical(one: Json, other: Json) -> bool:
    return type(one) is type(other) and bool(one == other)


def _alike(sent: Json, told: Json) -> bool:
    if isinstance(sent, str) and isinstance(told, str):
        ours, theirs = _folded(sent), _folded(told)
        return ours.startswith(theirs) or theirs.startswith(ours)
    if isinstance(sent, bool) or isinstance(told, bool):
        return str(sent).lower() == str(told).lower() or (told in (0, 1) and bool(sent) is bool(told))
    return _number(sent) is not None and _near(_number(sent), _number(told))


def _folded(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _number(value: Json) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return False
    return math.isclose(one, other, rel_tol=1e-6) or (abs(one - other) < 1 and other == math.floor(other))


def _at(value: Json, names: Place) -> Json:
    for name in names:
        if not isinstance(value, dict) or name not in value:
            return ABSENT
        value = value[name]
    return value
