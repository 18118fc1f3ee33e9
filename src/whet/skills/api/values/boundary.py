"""Extremes of a scalar within its limits. What a schema says beside them (`not`, patterns) the validator decides."""

from whet.skills.api.contract.model import Json
from whet.skills.api.values.constrained import integer_limits, number_limits, within_format
from whet.skills.api.values.shapes import Flat

_LONGEST = 5_000  # longer ones are allowed by many contracts, but then they are tried as mutations
_INTEGERS = (0, -1, 1, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 2**63)
_NUMBERS = (0, -1, 0.1, -0.0, 1e-9, 2**31, 2**53 + 1, 1e15 + 0.5, 1e308, 5e-324)
_TEXTS = ("", "0", "a", "A" * 255, "A" * 256, "null", "true", "-1", "ä" * 64, "a b", "'", '"quoted"', "a\nb", "\u00a0")
_FORMATTED = {
    "date": ("0001-01-01", "1970-01-01", "2000-02-29", "2038-01-19", "9999-12-31"),
    "date-time": (
        "0001-01-01T00:00:00Z",
        "1970-01-01T00:00:00Z",
        "2024-02-29T23:59:59.999999Z",
        "2038-01-19T03:14:08+14:00",
        "9999-12-31T23:59:59-12:00",
    ),
    "time": ("00:00:00Z", "23:59:59Z", "23:59:59.999999+14:00"),
    "uuid": ("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    "email": (f"{'a' * 64}@example.com", "a@b.co", "o'brien+tag@sub.example.com"),
    "ipv4": ("0.0.0.0", "255.255.255.255", "127.0.0.1"),  # noqa: S104 - a value to send, not an address to bind
    "ipv6": ("::", "::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    "uri": ("http://a", "https://example.com/" + "a" * 2000, "urn:isbn:0451450523"),
    "byte": ("", "AA==", "A" * 4096),
    "duration": ("PT0S", "P9999Y"),
}


def extremes(kind: str, schema: Flat) -> list[Json]:
    if kind == "string":
        return _texts(schema)
    if kind == "integer":
        return _integers(schema)
    return _numbers(schema) if kind == "number" else []


def _texts(schema: Flat) -> list[Json]:
    least, most = schema.get("minLength"), schema.get("maxLength")
    if schema.get("format") in _FORMATTED:
        return [*_FORMATTED[schema["format"]]]
    if schema.get("format") or schema.get("pattern"):
        return []  # an unknown format's edges are unknown too
    lengths = [length for length in (least, most) if length is not None and length <= _LONGEST]
    found = dict.fromkeys([*("x" * length for length in lengths), *_TEXTS])
    return [text for text in found if (least or 0) <= len(text) <= (len(text) if most is None else most)]


def _integers(schema: Flat) -> list[Json]:
    low, high = integer_limits(schema)
    step = schema.get("multipleOf", 1)
    near = [low, low + 1] if low is not None else []
    near += [high, high - 1] if high is not None else []
    wide = [value for value in _INTEGERS if within_format(schema, value)]
    stepped = [int(value // step * step) for value in (*near, *wide)] if step != 1 else []
    found = dict.fromkeys([*near, *wide, *stepped])
    return [one for one in found if _between(low, one, high) and one % step == 0]


def _numbers(schema: Flat) -> list[Json]:
    low, high = number_limits(schema)
    step = schema.get("multipleOf")
    near = [limit for limit in (low, high) if limit is not None]
    excluded = (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))
    found = dict.fromkeys([*near, *_NUMBERS])
    return [one for one in found if _between(low, one, high) and one not in excluded and not (step and one % step)]


def _between(low: float | None, value: float, high: float | None) -> bool:
    return (low is None or low <= value) and (high is None or value <= high)
