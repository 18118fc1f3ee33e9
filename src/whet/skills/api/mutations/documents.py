"""Bodies that are no longer the document the contract speaks of, or come under a wrong name."""

import random
import zlib
from dataclasses import replace

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import NO_BODY, Draft
from whet.skills.api.mutations.places import BODY, Place
from whet.skills.api.mutations.rules import Rule, in_body
from whet.skills.api.mutations.sites import Sites
from whet.skills.api.writing_bodies import written_body
from whet.skills.api.writing_styles import json_text

_DEEP = 50_000
_OTHER_TYPES = (
    "text/plain",
    "application/xml",
    "application/x-www-form-urlencoded",
    "image/png",
    "whet",
    "application/",
)
_JSON_PATCHES = ("application/merge-patch+json", "application/json-patch+json", "application/vnd.whet+json")


def _text(sites: Sites) -> bytes:
    return json_text(sites.draft.body).encode()


def _first_key(sites: Sites, text: bytes) -> bytes:
    """The object with something before its first key; anything else becomes that something in an array."""
    rest = _text(sites)
    if rest[:1] != b"{":
        return b"[" + text.partition(b":")[2] + b"]"
    return b"{" + text + (b"," if rest != b"{}" else b"") + rest[1:]


def _twice(sites: Sites, rng: random.Random) -> bytes:
    keys = list(sites.draft.body) if isinstance(sites.draft.body, dict) else []
    return _first_key(sites, (json_text(rng.choice(keys or ["whet"])) + ":null").encode())


def _cut(sites: Sites, rng: random.Random) -> bytes:
    text = _text(sites)
    return text[: rng.randrange(1, len(text))] if len(text) > 1 else b"{"


def _misspelt(sites: Sites, rng: random.Random) -> bytes:
    text = _text(sites)
    return rng.choice((text[:-1] + b",]", text.replace(b'"', b"'"), text + b"}", b"// whet\n" + text, text + text))


def _not_utf8(sites: Sites, rng: random.Random) -> bytes:
    return _first_key(sites, b'"whet":"' + rng.choice((b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\xe9")) + b'"')


def _other_encoding(sites: Sites, rng: random.Random) -> bytes:
    return json_text(sites.draft.body).encode(rng.choice(("utf-16", "utf-32", "utf-8-sig", "utf-16-be")))


def _deep(sites: Sites, rng: random.Random) -> bytes:
    opened, closed = rng.choice(((b"[", b"]"), (b'{"a":', b"}")))
    return _first_key(sites, b'"whet":' + opened * _DEEP + b"1" + closed * _DEEP)


def _many_digits(sites: Sites, rng: random.Random) -> bytes:
    return _first_key(sites, b'"whet":' + rng.choice((b"1" * 5_000, b"1e400", b"-1e-400", b"1E+99999999")))


def _whole(sites: Sites, _place: Place, rng: random.Random) -> Draft:
    others: list[Json] = [[], "whet", 7, None, True, "", [sites.draft.body], {"data": sites.draft.body}]
    return replace(sites.draft, body=rng.choice(others))


def _none(sites: Sites, _place: Place, _: random.Random) -> Draft:
    return replace(sites.draft, body=NO_BODY, media=None)


def _empty(sites: Sites, _place: Place, rng: random.Random) -> Draft:
    return replace(sites.draft, raw=rng.choice((b"", b" ", b"\n")))


def _half(sites: Sites, _place: Place, rng: random.Random) -> Draft:
    """Of a form or a file: its own type is kept, as the boundary is in it."""
    written = written_body(sites.draft)
    cut = rng.randrange(max(1, len(written.content)))
    return _typed(replace(sites.draft, raw=written.content[:cut]), written.content_type or "")


def _typed(draft: Draft, media: str) -> Draft:
    return replace(draft, extra=(*draft.extra, ("Content-Type", media)))


def _mistyped(sites: Sites, _place: Place, rng: random.Random) -> Draft:
    return _typed(sites.draft, rng.choice([one for one in _OTHER_TYPES if one != sites.draft.media]))


def _patch_typed(sites: Sites, _place: Place, rng: random.Random) -> Draft:
    return _typed(sites.draft, rng.choice([one for one in _JSON_PATCHES if one != sites.draft.media]))


def _charset(sites: Sites, _place: Place, rng: random.Random) -> Draft:
    charset = rng.choice(("whet", "utf-7", "utf-16", "", "\x80", "ascii"))
    return _typed(sites.draft, f"{sites.draft.media or 'application/json'}; charset={charset}")


def _untyped(sites: Sites, _place: Place, _: random.Random) -> Draft:
    return replace(sites.draft, raw=written_body(sites.draft).content, media=None)


def _claimed(sites: Sites, _place: Place, rng: random.Random) -> Draft:
    coding = rng.choice(("gzip", "deflate", "br", "whet"))
    return replace(sites.draft, extra=(*sites.draft.extra, ("Content-Encoding", coding)))


def _compressed(sites: Sites, _place: Place, _: random.Random) -> Draft:
    packed = zlib.compress(written_body(sites.draft).content)
    return replace(sites.draft, raw=packed, extra=(*sites.draft.extra, ("Content-Encoding", "deflate")))


def _with_body(sites: Sites) -> list[Place]:
    return [BODY] if sites.has_body else []


def _with_json(sites: Sites) -> list[Place]:
    return [BODY] if sites.speaks_json else []


def _with_other(sites: Sites) -> list[Place]:
    return [BODY] if sites.has_body and not sites.speaks_json else []


DOCUMENTS = (
    Rule("another-whole", _with_json, _whole),
    Rule("no-body", _with_body, _none),
    Rule("empty-body", _with_body, _empty),
    Rule("half-body", _with_other, _half, fair=True),
    in_body("cut-json", _cut),
    in_body("misspelt-json", _misspelt),
    in_body("not-utf-8", _not_utf8),
    # What follows is JSON to some readers: taking it is no fault, failing over it is.
    in_body("key-twice", _twice, fair=True),
    in_body("another-encoding", _other_encoding, fair=True),
    in_body("bottomless", _deep, fair=True),
    in_body("many-digits", _many_digits, fair=True),
    Rule("another-content-type", _with_body, _mistyped, fair=True),
    Rule("patch-content-type", _with_json, _patch_typed, fair=True),
    Rule("odd-charset", _with_body, _charset, fair=True),
    Rule("no-content-type", _with_body, _untyped, fair=True),
    Rule("claimed-encoding", _with_body, _claimed, fair=True),
    Rule("compressed", _with_body, _compressed, fair=True),
)
