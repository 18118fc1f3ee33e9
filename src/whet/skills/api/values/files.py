"""Contents of uploaded files: small, and of the kind the schema names."""

import base64
import random

from whet.skills.api.values.formats import word
from whet.skills.api.values.shapes import Flat

_PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_FORMATS = frozenset({"binary", "file"})


def is_file(flat: Flat) -> bool:
    """3.0 and Swagger say `format: binary`, 3.1 a content media type or encoding."""
    return flat.get("format") in _FORMATS or "contentMediaType" in flat


def file_content(flat: Flat, rng: random.Random) -> bytes:
    media = str(flat.get("contentMediaType", ""))
    if media.startswith("image/"):
        return _PIXEL
    if "json" in media:
        return f'{{"{word(rng)}": {rng.randrange(100)}}}'.encode()
    return rng.choice((f"{word(rng)},{word(rng)}\n1,2\n".encode(), f"{word(rng)}\n".encode(), _PIXEL, b""))
