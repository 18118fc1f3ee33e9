"""Pictures of books: sent as multipart, answered as bytes."""

import os
from typing import Any

from examples.api.access import SignedIn
from examples.api.answers import READING, WRITING, Refused, documented
from examples.api.bodies import Upload
from examples.api.faults import planted
from examples.api.fields import WrittenId
from examples.api.library import found, library
from examples.api.models import Cover
from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

router = APIRouter(prefix="/books/{book_id}/cover", tags=["covers"], dependencies=[SignedIn])
BYTES = "application/octet-stream"
_BINARY = {"type": "string", "format": "binary"}
_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "file": _BINARY,
                        "caption": {"type": "string", "maxLength": 200},
                    },
                    "required": ["file"],
                    "additionalProperties": False,
                }
            }
        },
    }
}


@router.put("", response_model=Cover, responses=documented(404, *WRITING), openapi_extra=_UPLOAD)
async def set_cover(book_id: WrittenId, parts: Upload) -> Cover:
    found(library.books, book_id, "book")
    if "file" not in parts or parts.keys() - {"file", "caption"}:
        raise Refused(422, "The parts are a file and, if wanted, a caption")
    caption = _caption(parts["caption"]) if "caption" in parts else None
    if planted("empty-cover") and not parts["file"]:
        os._exit(3)
    library.covers[book_id] = parts["file"]
    return Cover(book_id=book_id, size=len(parts["file"]), caption=caption)


def _caption(content: bytes) -> str:
    try:
        caption = content.decode()
    except UnicodeDecodeError as error:
        raise Refused(400, "The caption is not UTF-8") from error
    if len(caption) > 200:
        raise Refused(422, "The caption is longer than 200 characters")
    return caption


@router.get(
    "", response_class=Response,
    responses={**documented(404, *READING), 200: {"content": {BYTES: {"schema": _BINARY}}}},
)  # fmt: skip
async def read_cover(book_id: WrittenId) -> Response:
    found(library.books, book_id, "book")
    if planted("coverless-page") and book_id not in library.covers:
        return HTMLResponse("<h1>There is no cover</h1>", 404)
    return Response(found(library.covers, book_id, "cover"), media_type=BYTES)


@router.delete("", status_code=204, responses=documented(404, *READING))
async def remove_cover(book_id: WrittenId) -> Response:
    found(library.covers, book_id, "cover")
    del library.covers[book_id]
    return Response(status_code=204)
