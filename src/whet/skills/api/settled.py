"""When a fault that does not show again is fixed, and when it was merely not reached.

A replay that ends in 404 because an id is gone says nothing about the fault; calling it fixed would be an invention.
"""

from whet.skills.api.exchange import Exchange
from whet.skills.api.faults import Kind

_REFUSED_INPUT = frozenset({400, 413, 415, 422})
_BY_KIND: dict[Kind, frozenset[int]] = {
    Kind.INVALID_ACCEPTED: _REFUSED_INPUT,
    Kind.MISSING_AUTH: frozenset({401, 403}),
    Kind.READ_AFTER_DELETE: frozenset({404, 410}),
}
_MUST_WORK = frozenset({Kind.VALID_REFUSED, Kind.LOST_UPDATE, Kind.NOT_CREATED})


def is_fixed(kind: Kind, before: Exchange, now: Exchange | None) -> bool:
    """`before` showed the fault, `now` is what the same request was answered this time."""
    if now is None or now.operation.id != before.operation.id or now.response.status is None:
        return False
    status = now.response.status
    if kind in _BY_KIND:
        return status in _BY_KIND[kind]
    if kind in _MUST_WORK:
        return now.ok
    if kind in {Kind.SCHEMA_VIOLATION, Kind.UNDOCUMENTED_MEDIA}:
        return status == before.response.status
    return now.ok or status in _REFUSED_INPUT
