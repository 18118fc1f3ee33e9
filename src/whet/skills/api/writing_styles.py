"""Parameter styles of OpenAPI (RFC 6570 and the three that it does not know)."""

import json
from collections.abc import Callable, Mapping
from urllib.parse import quote

from whet.skills.api.contract.model import Json

Pairs = list[tuple[str, str]]  # names and values of a query or a form, percent-encoded
Encode = Callable[[str], str]

_DELIMITERS = {"spaceDelimited": "%20", "pipeDelimited": "%7C"}


def percent(text: str, safe: str = "") -> str:
    """Lone surrogates are encoded as UTF-8 would if it allowed them."""
    return quote(text.encode("utf-8", "surrogatepass"), safe)


def text_of(value: Json) -> str:
    """A value inside a parameter. What is nested deeper than the style can write is given as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return repr(value) if type(value) is int else json_text(value)


def json_text(value: Json) -> str:
    return _encoder.encode(value)


def content_text(value: Json) -> str:
    """A parameter with `content`: JSON, or the text itself where a mutation put something that is not a JSON value."""
    return value.decode("latin-1") if isinstance(value, bytes) else json_text(value)


# One encoder for all: making one costs more than using it. It escapes what is not ASCII, lone surrogates too.
_encoder = json.JSONEncoder(separators=(",", ":"), default=lambda odd: text_of(bytes(odd)), check_circular=False)


def styled(style: str, explode: bool, name: str, value: Json, encode: Encode = percent) -> str:
    """A path, header or cookie value: styles simple, label and matrix."""
    if style == "matrix":
        return _matrix(explode, name, value, encode)
    prefix, joint = (".", "." if explode else ",") if style == "label" else ("", ",")
    return prefix + joint.join(_parts(explode, value, encode))


def _parts(explode: bool, value: Json, encode: Encode) -> list[str]:
    if isinstance(value, Mapping):
        pairs = [(encode(str(key)), encode(text_of(one))) for key, one in value.items()]
        return [f"{key}={one}" for key, one in pairs] if explode else [part for pair in pairs for part in pair]
    if isinstance(value, list):
        return [encode(text_of(one)) for one in value]
    return [encode(text_of(value))]


def _matrix(explode: bool, name: str, value: Json, encode: Encode) -> str:
    if explode and isinstance(value, Mapping):
        return "".join(f";{part}" for part in _parts(True, value, encode))
    parts = _parts(False, value, encode)
    written = parts if explode else [",".join(parts)]
    return "".join(f";{encode(name)}={part}" if part else f";{encode(name)}" for part in written)


def query_pairs(style: str, explode: bool, name: str, value: Json, encode: Encode = percent) -> Pairs:
    """Styles form, spaceDelimited, pipeDelimited and deepObject."""
    if not isinstance(value, list | Mapping):
        return [(encode(name), encode(text_of(value)))]
    if not value:
        return []
    if style == "deepObject":
        return _deep(encode, name, value)
    if not explode:
        return [(encode(name), _DELIMITERS.get(style, ",").join(_parts(False, value, encode)))]
    if isinstance(value, Mapping):
        return [(encode(str(key)), encode(text_of(one))) for key, one in value.items()]
    return [(encode(name), encode(text_of(one))) for one in value]


def _deep(encode: Encode, name: str, value: Json) -> Pairs:
    if isinstance(value, Mapping):
        return [pair for key, one in value.items() for pair in _deep(encode, f"{name}[{key}]", one)]
    ones = value if isinstance(value, list) else [value]
    return [(encode(name), encode(text_of(one))) for one in ones]
