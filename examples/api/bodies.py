"""Bodies that are not JSON, read as strictly as JSON is: forms, uploads and plain text."""

import re
from typing import Annotated, TypeVar
from urllib.parse import parse_qsl

from examples.api.answers import Refused
from fastapi import Depends, Request

T = TypeVar("T", str, bytes)
_NAME = re.compile(rb'content-disposition:[^\r\n]*[; ]name="([^"\r\n]*)"', re.IGNORECASE)
_BOUNDARY = re.compile(r'boundary="?([^";,\s]{1,70})"?')


def media_of(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def takes(media: str, request: Request) -> None:
    if media_of(request) != media:
        raise Refused(415, f"The body must be {media}")


async def json_only(request: Request) -> None:
    """No body at all is left to validation, which names what is missing."""
    if await request.body():
        takes("application/json", request)


async def form(request: Request) -> dict[str, str]:
    takes("application/x-www-form-urlencoded", request)
    try:
        pairs = parse_qsl((await request.body()).decode(), keep_blank_values=True, errors="strict", max_num_fields=20)
    except ValueError as error:
        raise Refused(400, "The form cannot be read") from error
    return _single(pairs)


async def upload(request: Request) -> dict[str, bytes]:
    """The parts of a multipart body by name."""
    takes("multipart/form-data", request)
    boundary = _BOUNDARY.search(request.headers["content-type"])
    if boundary is None:
        raise Refused(400, "The multipart body has no boundary")
    sections = (b"\r\n" + await request.body()).split(b"\r\n--" + boundary[1].encode("latin-1"))
    if len(sections) < 2 or not sections[-1].startswith(b"--"):
        raise Refused(400, "The multipart body does not end")
    return _single([_part(section) for section in sections[1:-1]])


async def plain_text(request: Request) -> str:
    takes("text/plain", request)
    return (await request.body()).decode()


def _part(section: bytes) -> tuple[str, bytes]:
    head, end, content = section.partition(b"\r\n\r\n")
    name = _NAME.search(head)
    if not end or name is None:
        raise Refused(400, "A part of the multipart body has no name")
    return name[1].decode(errors="replace"), content


def _single(pairs: list[tuple[str, T]]) -> dict[str, T]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise Refused(422, "A field is given twice")
    return fields


def single_values(request: Request) -> None:
    names = [name for name, _ in request.query_params.multi_items() if name != "genre"]
    if len(set(names)) < len(names):
        raise Refused(422, "A parameter is given twice")


Json = Depends(json_only)
Single = Depends(single_values)
Form = Annotated[dict[str, str], Depends(form)]
Upload = Annotated[dict[str, bytes], Depends(upload)]
PlainText = Annotated[str, Depends(plain_text)]
