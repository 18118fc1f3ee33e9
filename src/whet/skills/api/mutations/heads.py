"""Headers and credentials: what a request says about itself."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from whet.skills.api.exchange import Draft
from whet.skills.api.mutations.places import REQUEST, Place
from whet.skills.api.mutations.rules import Rule, with_headers
from whet.skills.api.mutations.sites import Sites
from whet.tools.http.messages import Headers

_LONG = 6_000
_BEYOND = f"bytes={10**30}-"
_OLD, _FUTURE = "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"


def _anything(_: Sites) -> bool:
    return True


def _reads(sites: Sites) -> bool:
    return sites.operation.method in ("GET", "HEAD")


def _writes(sites: Sites) -> bool:
    return not _reads(sites)


def _header(name: str, *values: str) -> Callable[[random.Random], Headers]:
    return lambda rng: ((name, rng.choice(values)),)


def _many(_: random.Random) -> Headers:
    return tuple((f"X-Whet-{number}", "x") for number in range(60))


def _secured(sites: Sites) -> list[Place]:
    security = sites.operation.security
    return [REQUEST] if security and all(security) and sites.draft.credentials == "given" else []


def _credentials(how: Literal["none", "wrong"], said: str) -> Rule:
    def change(sites: Sites, _place: Place, _: random.Random) -> Draft:
        return replace(sites.draft, credentials=how, broken=f"the operation needs credentials, and {said}")

    return Rule(f"{how}-credentials" if how == "wrong" else "no-credentials", _secured, change)


def _open(sites: Sites) -> list[Place]:
    return [REQUEST] if not sites.operation.security and sites.draft.credentials == "given" else []


def _as_a_stranger(sites: Sites, _place: Place, _: random.Random) -> Draft:
    """Contracts often say nothing of who may ask, and services know all the same."""
    return replace(sites.draft, credentials="wrong")


_ODD: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Accept", (";;q=x", "*", "application/json;q=nan", "/", ",", "a/b/c")),
    ("Accept-Language", ("xx-YY-zz;q=9", ";", "*;q=", "日本")),
    ("Accept-Encoding", ("identity;q=0, *;q=0", "whet", ";q=")),
    ("Origin", ("null", "http://", "\x80", "http://example.com:99999")),
    ("Prefer", ("return=minimal", "handling=strict", "wait=-1", ";;")),
    ("traceparent", ("00-0-0-0", "zz", "ff-" + "0" * 32 + "-0-01")),
    ("X-Forwarded-For", ("256.256.256.256", "a" * 300, "::", "unknown, ,")),
    ("X-Forwarded-Prefix", ("//", "/é", "../", "a b")),
    ("X-Request-ID", ("é😀", "\x80\xff", "' OR 1=1", "%s%n", "${7*7}", "")),
)


def _odd(rng: random.Random) -> Headers:
    name, values = rng.choice(_ODD)
    return ((name, rng.choice(values)),)


HEADS = (
    _credentials("none", "none are sent"),
    _credentials("wrong", "wrong ones are sent"),
    Rule("as-a-stranger", _open, _as_a_stranger, fair=True),
    with_headers("unsupported-accept", _header("Accept", "application/vnd.whet+cbor", "image/x-whet"), _anything),
    with_headers("stale-if-match", _header("If-Match", '"whet-stale"', 'W/"1"', '"0"', '"1"'), _anything),
    with_headers("odd-if-match", _header("If-Match", "unquoted", '"', "*, *", "\x80", '"a" "b"', ""), _anything),
    with_headers("if-match-any", _header("If-Match", "*"), _writes),
    with_headers("if-none-match-any", _header("If-None-Match", "*"), _anything),
    with_headers("odd-if-none-match", _header("If-None-Match", "unquoted", '"', '"0"', "9" * 40, ""), _anything),
    with_headers("old-if-unmodified-since", _header("If-Unmodified-Since", _OLD), _anything),
    with_headers("odd-if-unmodified-since", _header("If-Unmodified-Since", "yesterday", "0", _FUTURE, ""), _anything),
    with_headers("odd-if-modified-since", _header("If-Modified-Since", "yesterday", _FUTURE, "9" * 14, ""), _reads),
    with_headers("odd-range", _header("Range", "bytes=9-1", "bytes=-", "bytes=a-b", "items=0-1", _BEYOND), _reads),
    with_headers("method-override", _header("X-HTTP-Method-Override", "WHET", "GET", "TRACE"), _anything),
    with_headers("long-header", _header("X-Whet", "a" * _LONG), _anything),
    with_headers("many-headers", _many, _anything),
    with_headers("odd-cookie", _header("Cookie", "=;;=", "a", "a=b; a=c", 'a="', "\x80=\xff", "session=w"), _anything),
    with_headers("odd-header", _odd, _anything),
)
