"""Reading an answer's body at a bounded cost, whatever a service sends.

A service under test may answer anything: a megabyte, bytes that are no text, JSON a thousand levels deep. Whatever is
read here is read once per body and within limits, and what cannot be read is said instead of raised.
"""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from whet.skills.api.contract.model import Json

TEXT_LIMIT = 64_000  # a traceback and the page around it fit; what is longer keeps its beginning and its end
LEAF_LIMIT = 400
DEPTH_LIMIT = 12
# Values that differ from one answer to the next without saying anything about the cause.
_PASSING = re.compile(
    r"timestamp|time|date|path|ur[il]|instance|(?:request|trace|span|correlation)_?id|id|input|ctx|duration|host(?:name)?|pid",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[^<>]{0,2000}>")
_UNSEEN = re.compile(r"<(style|script)\b[^>]{0,500}>[^<]{0,60000}</\1>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NotJson:
    """Why a body is not JSON, as the rest of a sentence."""

    reason: str


@lru_cache(maxsize=32)
def parsed(body: bytes) -> Json | NotJson:
    """The JSON of a body. Shared between all who ask: never change it.

    NaN and Infinity are refused although Python reads them, because no other client would.
    """
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except RecursionError:
        return NotJson("it is nested too deeply to be read")
    except ValueError as error:  # also bytes that are not UTF-8, and numbers of more than 4,300 digits
        return NotJson(str(error)[:200])


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def speaks_json(media: str | None) -> bool:
    return media is not None and (media in {"application/json", "text/json"} or media.endswith("+json"))


@lru_cache(maxsize=32)
def readable(body: bytes) -> str:
    """What a person would read of an error body: the strings of its JSON, the text of its page, or itself."""
    text = _cut(body).decode("utf-8", "replace")
    value = parsed(body) if len(body) <= TEXT_LIMIT else NotJson("it is long")
    if isinstance(value, NotJson):
        return _without_tags(text) if "<" in text else text
    said = "\n".join(_strings(value, 0))[:TEXT_LIMIT]
    return said or " ".join(sorted(map(str, value))[:20] if isinstance(value, dict) else [])


def _cut(body: bytes) -> bytes:
    return body if len(body) <= TEXT_LIMIT else body[: TEXT_LIMIT * 3 // 4] + b"\n" + body[-TEXT_LIMIT // 4 :]


def _without_tags(text: str) -> str:
    return html.unescape(_TAG.sub(" ", _UNSEEN.sub(" ", text)))


def _strings(value: Json, depth: int) -> Iterator[str]:
    """The strings of an error document in an order that does not depend on how it was written."""
    if isinstance(value, str):
        yield value
    elif depth < DEPTH_LIMIT and isinstance(value, dict):
        for key in sorted(value)[:LEAF_LIMIT]:
            if not _PASSING.fullmatch(key):
                yield from _strings(value[key], depth + 1)
    elif depth < DEPTH_LIMIT and isinstance(value, list):
        for one in value[:LEAF_LIMIT]:
            yield from _strings(one, depth + 1)
