"""Values a person would give, told by the slot's name and format."""

import random
from collections.abc import Callable, Mapping

from whet.skills.api.contract.model import Json
from whet.skills.api.names import words
from whet.skills.api.values.formats import FORMATS, duration, email, random_uuid, slug, url, word
from whet.skills.api.values.shapes import Flat
from whet.skills.api.values.slots import NOTHING, Absent

Draw = Callable[[random.Random], Json]


def _of(*values: Json) -> Draw:
    return lambda rng: rng.choice(values)


def _between(low: int, high: int) -> Draw:
    return lambda rng: rng.randint(low, high)


def _named(draws: Mapping[str, Draw]) -> Mapping[str, Draw]:
    """By each of the words that a line names."""
    return {name: draw for names, draw in draws.items() for name in names.split()}


def _full_name(rng: random.Random) -> str:
    return f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"


def _sentence(rng: random.Random) -> str:
    return f"A {word(rng)} {word(rng)} near the {word(rng)}."


def _identity(rng: random.Random) -> str:
    return rng.choice((random_uuid, slug))(rng)


_FIRST = ("Ada", "Alan", "Amina", "Björn", "Chen", "Grace", "Ines", "José", "Kofi", "Linus", "Mei", "Noor", "Zoë")
_LAST = ("Lovelace", "Turing", "Hopper", "García", "Müller", "Nakamura", "O'Neill", "Okafor", "Silva", "van Dyk")

_TEXTS = _named(
    {
        "email mail": email,
        "url uri link href website homepage webhook callback endpoint": url,
        "phone mobile telephone fax": FORMATS["phone"],
        "city town": _of("Berlin", "Lagos", "Lima", "Osaka", "Porto", "São Paulo", "Tromsø"),
        "country nationality": _of("DE", "US", "JP", "BR", "NG", "IN", "FR"),
        "currency": FORMATS["currency"],
        "locale language lang": _of("en", "de-DE", "en-US", "pt-BR", "ja-JP"),
        "timezone tz zone": _of("UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo"),
        "date day birthday birthdate dob": FORMATS["date"],
        "timestamp datetime at since until after before": FORMATS["date-time"],
        "version release semver": FORMATS["semver"],
        "cron schedule crontab": _of("0 3 * * *", "*/5 * * * *", "0 0 1 * *"),
        "password passphrase pwd secret": FORMATS["password"],
        "ip ipv4": FORMATS["ipv4"],
        "host hostname domain server": FORMATS["hostname"],
        "color colour": FORMATS["color"],
        "description comment note message summary bio content body": _sentence,
        "id uuid guid identifier ref reference": _identity,
        "token etag nonce hash": random_uuid,
        "name slug title key code label tag handle identity": slug,
        "street address": _of("Main Street 5", "Rua Augusta 1200", "Unter den Linden 77"),
        "zip postcode zipcode postal": _of("10115", "94103", "1000-205", "SW1A 1AA"),
        "order direction": _of("asc", "desc"),
        "sort orderby sorting field": _of("id", "name", "-name", "created_at"),
        "mime mimetype media": _of("application/json", "text/plain", "image/png"),
        "file filename attachment": _of("image.png", "report.pdf", "data.csv"),
        "path folder directory dir": _of("/", "/data", "/data/items.csv"),
        "duration interval ttl": duration,
        "status state stage": _of("active", "pending", "done", "open", "closed"),
        "limit offset page size count": _of("1", "2", "50", "100"),
        "enabled active flag": _of("true", "false"),
        "latitude longitude lat lng lon": _of("52.52", "13.405"),
        "gender sex": _of("female", "male", "other"),
        "kind type category role group": _of("python", "default", "standard", "user"),
    }
)
_WHOLE: Mapping[tuple[str, ...], Draw] = {
    ("first", "name"): _of(*_FIRST),
    ("given", "name"): _of(*_FIRST),
    ("last", "name"): _of(*_LAST),
    ("family", "name"): _of(*_LAST),
    ("full", "name"): _full_name,
    ("display", "name"): _full_name,
    ("user", "name"): lambda rng: f"{word(rng)}{rng.randrange(1000)}",
    ("file", "name"): _of("image.png", "report.pdf", "data.csv"),
    ("host", "name"): FORMATS["hostname"],
    ("time", "zone"): _TEXTS["timezone"],
    ("country", "code"): _TEXTS["country"],
    ("currency", "code"): _TEXTS["currency"],
    ("language", "code"): _TEXTS["language"],
    ("postal", "code"): _TEXTS["zip"],
    ("zip", "code"): _TEXTS["zip"],
}
_NUMBERS = _named(
    {
        "age": _between(18, 90),
        "year": _between(1970, 2030),
        "month": _between(1, 12),
        "day": _between(1, 28),
        "hour": _between(0, 23),
        "minute": _between(0, 59),
        "port": _of(80, 443, 5432, 8080),
        "limit size count take per max top n": _of(1, 5, 10, 20, 50, 100),
        "offset skip page cursor index position level": _between(0, 3),
        "quantity amount qty number total stock rating score": _between(1, 20),
        "id": _between(1, 50),
        "timeout interval duration ttl delay second": _between(1, 3600),
        "price cost fee value balance salary": _of(9.99, 19.5, 100, 1499),
        "percent percentage ratio rate weight probability": _of(0.5, 1, 25, 99),
        "latitude lat": _of(52.52, -33.87, 0),
        "longitude lng lon": _of(13.405, 151.21, 0),
        "timestamp time at since until": _of(1_700_000_000, 1_735_689_600),
    }
)


def realistic(name: str, kind: str, schema: Flat, rng: random.Random) -> Json | Absent:
    """NOTHING where a name tells nothing about a number."""
    if kind == "string":
        return _text(name, schema, rng)
    draw = _by_name(name, _NUMBERS)
    value = draw(rng) if draw else NOTHING
    return int(value) if kind == "integer" and value is not NOTHING else value


def tells(name: str, kind: str) -> bool:
    """Whether the source has anything of its own to say here."""
    return kind == "string" or (kind in ("integer", "number") and _by_name(name, _NUMBERS) is not None)


def _text(name: str, schema: Flat, rng: random.Random) -> str:
    known = FORMATS.get(schema.get("format", ""))
    draw = known or _WHOLE.get(words(name)[-2:]) or _by_name(name, _TEXTS) or slug
    return _cut(str(draw(rng)), schema)


def _by_name(name: str, known: Mapping[str, Draw]) -> Draw | None:
    """By the last word that says something: `billing_city` is a city, `page_size` a size."""
    return next((known[one] for one in reversed(words(name)) if one in known), None)


def _cut(text: str, schema: Flat) -> str:
    most = schema.get("maxLength")
    return text if most is None or schema.get("format") else text[:most]
