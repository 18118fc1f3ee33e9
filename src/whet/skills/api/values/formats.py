"""Random text in the formats that contracts name."""

import base64
import random
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

_VOCABULARY = (
    "amber anchor apple arrow aspen autumn badge basil birch bison bridge candle canyon cedar cherry cinder clover "
    "coral cobalt copper cotton crane delta ember falcon fern field forest garnet ginger glacier granite harbor hazel "
    "heron indigo island ivory jasmine juniper kernel lagoon lantern lemon linen lotus magnet maple meadow "
    "mint moss nectar north oak oasis olive onyx opal orbit orchid otter pearl pebble pine plume poplar prairie quartz "
    "quill raven reef river robin saffron sage sierra silver solar sparrow spruce summit thistle timber topaz tulip "
    "valley velvet violet walnut willow winter zephyr"
)
_WORDS = _VOCABULARY.split()
_EPOCH = datetime(2015, 1, 1, tzinfo=UTC)
_SPAN_SECONDS = 15 * 365 * 86_400


def word(rng: random.Random) -> str:
    return rng.choice(_WORDS)


def slug(rng: random.Random) -> str:
    """Three words' worth of room, so that two names made in one run hardly ever collide."""
    return f"{word(rng)}-{word(rng)}-{rng.randrange(10_000)}"


def moment(rng: random.Random) -> datetime:
    return _EPOCH + timedelta(seconds=rng.randrange(_SPAN_SECONDS))


def random_uuid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def email(rng: random.Random) -> str:
    return f"{word(rng)}.{word(rng)}{rng.randrange(1000)}@example.com"


def url(rng: random.Random) -> str:
    return f"https://example.com/{word(rng)}/{rng.randrange(1000)}"


def ipv4(rng: random.Random) -> str:
    return f"192.0.2.{rng.randrange(1, 255)}"  # a documentation network: nobody lives there


def duration(rng: random.Random) -> str:
    return rng.choice(("PT1S", "PT5M", "PT2H30M", "P1D", "P3DT4H", "P2W", "P1Y2M"))


FORMATS: Mapping[str, Callable[[random.Random], str]] = {
    "uuid": random_uuid,
    "uuid4": random_uuid,
    "date-time": lambda rng: moment(rng).strftime("%Y-%m-%dT%H:%M:%SZ"),
    "date": lambda rng: moment(rng).strftime("%Y-%m-%d"),
    "time": lambda rng: moment(rng).strftime("%H:%M:%SZ"),
    "duration": duration,
    "email": email,
    "idn-email": email,
    "hostname": lambda rng: f"{word(rng)}.example.com",
    "idn-hostname": lambda rng: f"{word(rng)}.example.com",
    "ipv4": ipv4,
    "ip": ipv4,
    "ipvanyaddress": ipv4,
    "ipv6": lambda rng: f"2001:db8::{rng.randrange(1, 0xFFFF):x}",
    "uri": url,
    "url": url,
    "iri": url,
    "uri-reference": lambda rng: f"/{word(rng)}/{rng.randrange(1000)}",
    "iri-reference": lambda rng: f"/{word(rng)}/{rng.randrange(1000)}",
    "uri-template": lambda rng: f"/{word(rng)}/{{id}}",
    "json-pointer": lambda rng: f"/{word(rng)}/0",
    "relative-json-pointer": lambda rng: f"{rng.randrange(4)}/{word(rng)}",
    "regex": lambda rng: f"^{word(rng)}[0-9]*$",
    "byte": lambda rng: base64.b64encode(rng.randbytes(rng.randrange(0, 24))).decode(),
    "base64": lambda rng: base64.b64encode(rng.randbytes(rng.randrange(0, 24))).decode(),
    "password": lambda rng: f"{word(rng).title()}-{rng.randrange(1000, 10_000)}!x",
    "phone": lambda rng: f"+4930{rng.randrange(1_000_000, 10_000_000)}",
    "color": lambda rng: f"#{rng.randrange(1 << 24):06x}",
    "decimal": lambda rng: f"{rng.randrange(10_000)}.{rng.randrange(100):02d}",
    "json-string": lambda rng: f'{{"{word(rng)}": {rng.randrange(100)}}}',
    "semver": lambda rng: f"{rng.randrange(10)}.{rng.randrange(20)}.{rng.randrange(20)}",
    "currency": lambda rng: rng.choice(("EUR", "USD", "GBP", "JPY", "CHF", "INR")),
    "slug": slug,
}
