"""Values from outside, made storable without losing anything.

Neither database takes every Python text: PostgreSQL refuses NUL, and no driver encodes lone
surrogates. Both come out of real test suites (ids of parametrised tests, `surrogateescape`d
paths), so they are escaped on the way in and restored on the way out. U+001A, the ASCII
"substitute" character, introduces an escape and is escaped itself.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any

from whet.core.errors import RefusedInput

_MARK = "\x1a"
_UNSTORABLE = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile("\x1a([0-9a-f]{4})")
# PostgreSQL's JSONB keeps numbers as decimals: 1e300 comes back as an integer and -0.0 as 0.0.
# Such floats travel as text behind a mark that no escaped text can begin with.
_FLOAT = _MARK + "~"


def escape(text: str) -> str:
    if _UNSTORABLE.search(text) is None:
        return text
    return _UNSTORABLE.sub(lambda match: f"{_MARK}{ord(match.group()):04x}", text)


def unescape(text: str) -> str:
    if _MARK not in text:
        return text
    return _ESCAPED.sub(lambda match: chr(int(match.group(1), 16)), text)


def digest_of(text: str) -> str:
    """What long text is looked up by."""
    return hashlib.sha256(escape(text).encode()).hexdigest()


def canonical_json(value: object) -> str:
    """ASCII text, the same for equal values on every machine and database.

    Escaped first: JSON would read two lone surrogates in a row back as one character.
    """
    return json.dumps(to_document(value), sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def plain(value: object) -> Any:
    """`value` as JSON knows it, or RefusedInput saying what cannot be stored."""
    match value:
        case Enum():
            return plain(value.value)
        case None | bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return value
        case datetime():
            return value.isoformat()
        case Mapping():
            return {_name(key): plain(item) for key, item in value.items()}
        case Sequence() if not isinstance(value, bytes | bytearray | memoryview):
            return [plain(item) for item in value]
    raise RefusedInput(
        f"{value!r} cannot be stored.",
        "Give text, whole numbers, finite floats, booleans, None, and lists or mappings of these.",
    )


def to_document(value: object) -> Any:
    """`value` as a JSON document that both databases give back unchanged."""
    return _escaped(plain(value))


def from_document(value: Any) -> Any:
    match value:
        case str() if value.startswith(_FLOAT):
            return float(value[len(_FLOAT) :])
        case str():
            return unescape(value)
        case dict():
            return {unescape(key): from_document(item) for key, item in value.items()}
        case list():
            return [from_document(item) for item in value]
    return value


def _name(key: object) -> str:
    if isinstance(key, str):
        return str(key)
    raise RefusedInput(f"The key {key!r} cannot be stored.", "Keys of stored mappings are text.")


def _escaped(value: Any) -> Any:
    match value:
        case float() if "e" in (shown := repr(value)) or shown == "-0.0":
            return _FLOAT + shown
        case str():
            return escape(value)
        case dict():
            return {escape(key): _escaped(item) for key, item in value.items()}
        case list():
            return [_escaped(item) for item in value]
    return value
