"""Request bodies in the media types that contracts use; a type nobody knows gets JSON, text or the bytes themselves."""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from whet.skills.api.contract.model import Body, Json
from whet.skills.api.exchange import Draft
from whet.skills.api.writing_styles import json_text, percent, query_pairs, text_of
from whet.skills.api.writing_xml import xml

_WILDCARDS = {"text/*": "text/plain", "image/*": "image/png", "multipart/*": "multipart/form-data"}
_LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines")
_FORM = "application/x-www-form-urlencoded"


class Written(NamedTuple):
    content: bytes
    content_type: str | None


class Part(NamedTuple):
    """One part of a multipart body; a file has a name of its own."""

    name: str
    content: bytes
    media: str | None
    file: str | None = None


def written_body(draft: Draft) -> Written:
    if draft.raw is not None:
        return Written(draft.raw, _raw_type(draft.media, draft.raw))
    media = concrete(draft.media, draft.body)
    essence = media.partition(";")[0].strip().lower()
    if essence.startswith("multipart/"):
        return _multipart(essence, draft.body, _body(draft))
    return Written(_content(essence, draft.body, _body(draft)), media)


def concrete(media: str | None, value: Json) -> str:
    """A media type that can be sent: contracts may say `*/*`."""
    if not media or media in ("*/*", "application/*"):
        return "application/octet-stream" if isinstance(value, bytes) else "application/json"
    return _WILDCARDS.get(media, media)


def _raw_type(media: str | None, raw: bytes) -> str | None:
    """A raw body comes without a type when the draft names none: that is one of the things to try."""
    return concrete(media, raw) if media else None


def _content(essence: str, value: Json, body: Body | None) -> bytes:
    if isinstance(value, bytes):
        return value
    if essence == "application/json" or essence.endswith("+json"):
        return json_text(value).encode()
    if essence == _FORM:
        return _form(value, body)
    if essence in _LINES and isinstance(value, list):
        return "".join(json_text(one) + "\n" for one in value).encode()
    if essence in ("application/xml", "text/xml") or essence.endswith("+xml"):
        return xml(value, body.schema if body else {}).encode("utf-8", "surrogatepass")
    return text_of(value).encode("utf-8", "surrogatepass")


def _form(value: Json, body: Body | None) -> bytes:
    if not isinstance(value, Mapping):
        return percent(text_of(value)).encode()
    pairs = [pair for name, one in value.items() for pair in _field(name, one, _encoding(body, name))]
    return "&".join(f"{key}={text}" for key, text in pairs).encode()


def _field(name: str, value: Json, encoding: Mapping[str, Json]) -> list[tuple[str, str]]:
    style = encoding.get("style")
    if isinstance(value, Mapping) and not style:
        return [(percent(name), percent(json_text(value)))]  # a nested object keeps its name only as JSON
    if "json" in str(encoding.get("contentType", "")):
        return [(percent(name), percent(json_text(value)))]
    safe = ":/?#[]@!$'()*,;" if encoding.get("allowReserved") else ""
    explode = encoding.get("explode", style in (None, "form"))
    return query_pairs(style or "form", explode, name, value, lambda text: percent(text, safe))


def _multipart(essence: str, value: Json, body: Body | None) -> Written:
    fields = value.items() if isinstance(value, Mapping) else [("body", value)]
    parts = [part for name, one in fields for part in _field_parts(name, one, _encoding(body, name))]
    contents = [_part_head(part) + part.content for part in parts]
    # The same draft gives the same bytes, so that a request can be repeated and compared.
    boundary = "whet-" + hashlib.sha256(b"\0".join(contents)).hexdigest()[:24]
    lines = b"".join(b"--" + boundary.encode() + b"\r\n" + content + b"\r\n" for content in contents)
    return Written(lines + f"--{boundary}--\r\n".encode(), f"{essence}; boundary={boundary}")


def _field_parts(name: str, value: Json, encoding: Mapping[str, Json]) -> list[Part]:
    if isinstance(value, list):
        return [part for one in value for part in _field_parts(name, one, encoding)]
    # Of several allowed types the first is as good as any; wildcards name none that could be sent.
    media = str(encoding.get("contentType", "")).partition(",")[0].strip()
    media = "" if "*" in media else media
    if isinstance(value, bytes):
        return [Part(name, value, media or "application/octet-stream", f"{name}.bin")]
    if isinstance(value, Mapping):
        return [Part(name, json_text(value).encode(), media or "application/json")]
    return [Part(name, text_of(value).encode("utf-8", "surrogatepass"), media or None)]


def _part_head(part: Part) -> bytes:
    head = f'Content-Disposition: form-data; name="{_quoted(part.name)}"'
    if part.file is not None:
        head += f'; filename="{_quoted(part.file)}"'
    if part.media:
        head += f"\r\nContent-Type: {part.media}"
    return head.encode("utf-8", "surrogatepass") + b"\r\n\r\n"


def _quoted(name: str) -> str:
    """As browsers do (WHATWG HTML, multipart/form-data encoding)."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _body(draft: Draft) -> Body | None:
    return next((body for body in draft.operation.bodies if body.media == draft.media), None)


def _encoding(body: Body | None, name: str) -> Mapping[str, Json]:
    encoding = body.encoding.get(name) if body else None
    return encoding if isinstance(encoding, Mapping) else {}
