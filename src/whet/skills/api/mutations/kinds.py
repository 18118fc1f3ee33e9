"""Values of another type than the contract's, and values outside its choices, lengths and formats."""

import random

from whet.skills.api.contract.model import Json
from whet.skills.api.mutations.rules import Fits, NewValue, Rule, always, at_sites, one_of
from whet.skills.api.mutations.sites import Site, may_be_null

_MOST = 100_000
_MALFORMED = {
    "uuid": ("not-a-uuid", "123e4567-e89b-12d3-a456", "zzzzzzzz-zzzz-4zzz-8zzz-zzzzzzzzzzzz"),
    "email": ("no-at-sign", "@example.com", "a@", "a b@example.com", "a@@example.com"),
    "uri": ("not a uri", "http://", "://x", "http:// /"),
    "url": ("not a url", "http://", "://x"),
    "ipv4": ("256.1.1.1", "1.2.3", "a.b.c.d"),
    "ipv6": (":::1", "12345::", "g::1"),
    "hostname": ("-a-", "a..b", "a_b!"),
    "duration": ("P", "PT", "one hour", "-P1D"),
    "byte": ("not base64!", "A", "===="),
    "time": ("25:00:00Z", "12:61:00Z", "noon"),
}
_BARE = frozenset({"integer", "number", "boolean"})
_DATES = frozenset({"date", "date-time"})


def _not(kind: str, *also: str) -> Fits:
    """Where this type is not allowed, in a body: in a parameter everything is a text, or a name of its own."""
    return lambda site: site.place.where == "body" and not site.allows(kind, *also)


def _wrapped(site: Site, rng: random.Random) -> Json:
    return rng.choice(([site.value], [[site.value]], {"value": site.value}))


def _as_text(site: Site, _: random.Random) -> Json:
    return str(site.value).lower() if isinstance(site.value, bool) else str(site.value)


def _as_float(site: Site, _: random.Random) -> Json:
    return float(site.value)


def _small(site: Site) -> bool:
    return site.kind == "integer" and abs(site.value) < 2**53


def _recased(site: Site, _: random.Random) -> Json:
    value = str(site.value)
    return value.upper() if value != value.upper() else value.lower()


def _has_cases(site: Site) -> bool:
    return isinstance(site.value, str) and "enum" in site.schema and site.value.upper() != site.value.lower()


def _too_long(site: Site, _: random.Random) -> Json:
    return "x" * (int(site.schema["maxLength"]) + 1)


def _too_short(site: Site, _: random.Random) -> Json:
    return "x" * min(int(site.schema["minLength"]) - 1, _MOST)


def _malformed(site: Site, rng: random.Random) -> Json:
    return rng.choice(_MALFORMED[site.schema["format"]])


def _is_date(site: Site) -> bool:
    return site.schema.get("format") in _DATES


def _day(*days: str) -> NewValue:
    """As a date, or as that day's noon where a moment is asked for."""
    return lambda site, rng: rng.choice(days) + ("T12:00:00Z" if site.schema.get("format") == "date-time" else "")


KINDS: tuple[Rule, ...] = (
    at_sites("null", lambda site: "null" not in site.kinds, always(None)),
    at_sites("allowed-null", may_be_null, always(None)),
    at_sites("text-for-another-type", _not("string"), one_of("whet", "", "1a")),
    at_sites("number-for-another-type", _not("integer", "number"), one_of(7, 0, -1.5)),
    at_sites("truth-for-another-type", _not("boolean"), one_of(True, False)),
    at_sites("array-for-another-type", _not("array"), one_of([], ["whet"], [None], [[]])),
    at_sites("object-for-another-type", _not("object"), one_of({}, {"whet": 1}, {"id": None})),
    at_sites("wrapped", lambda site: site.place.where == "body", _wrapped),
    at_sites("scalar-as-text", lambda site: site.kind in _BARE and site.place.where == "body", _as_text),
    at_sites("truth-as-number", lambda site: site.kind == "boolean", one_of(0, 1, 2)),
    at_sites("odd-truth", lambda site: site.kind == "boolean", one_of("maybe", "TRUE", "2", "")),
    at_sites("whole-as-float", _small, _as_float),
    at_sites("unknown-choice", lambda site: "enum" in site.schema, one_of("whet-unknown", "", "0")),
    at_sites("choice-in-another-case", _has_cases, _recased),
    at_sites("too-long", lambda site: site.schema.get("maxLength", _MOST) < _MOST, _too_long),
    at_sites("too-short", lambda site: site.schema.get("minLength", 0) > 0 and _can_be_short(site), _too_short),
    at_sites("against-the-pattern", lambda site: "pattern" in site.schema, one_of("§§§", "a b", "-", "\n")),
    at_sites("malformed", lambda site: site.schema.get("format") in _MALFORMED, _malformed),
    at_sites("impossible-date", _is_date, _day("2021-02-30", "2023-02-29", "2021-13-01", "2021-00-10", "2021-04-31")),
    at_sites("date-out-of-range", _is_date, _day("0000-01-01", "10000-01-01", "-0001-01-01", "99999-12-31")),
    at_sites("date-at-the-edge", _is_date, _day("0001-01-01", "9999-12-31", "1582-10-10", "1900-02-28")),
    at_sites("odd-date", _is_date, one_of("yesterday", "01/02/2021", "20210101", "2021-W05-1", "2021-01-01T25:61:00Z")),
    at_sites("moment-at-the-edge", lambda site: site.schema.get("format") == "date-time", one_of(
        "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2016-12-31T23:59:60Z", "2021-01-01T00:00:00",
        "2021-01-01T00:00:00.123456789123Z", "2021-01-01T00:00:00+99:99")),
    at_sites("epoch-for-date", _is_date, one_of(0, -1, 1e12, 10**20, "1700000000")),
)  # fmt: skip


def _can_be_short(site: Site) -> bool:
    """An empty path value would be another route."""
    return site.place.where != "path" or int(site.schema["minLength"]) > 1
