"""The catalogue, with versions: a change names the version it was made from."""

import asyncio
import struct
from typing import Annotated, Any

from examples.api.access import SignedIn
from examples.api.answers import READING, WRITING, Refused, documented
from examples.api.bodies import Json, Single
from examples.api.faults import planted
from examples.api.fields import LARGEST_ID, WRITTEN, Absent, Limit, Offset, WrittenId
from examples.api.library import found, library
from examples.api.models import LONGEST_TITLE, Book, BookPage, Copy, NewBook, NewCopy
from examples.api.searching import BRANCH, YEARS, Search
from fastapi import APIRouter, Depends, Header, Response
from fastapi.responses import JSONResponse
from pydantic import Field

router = APIRouter(tags=["books"], dependencies=[SignedIn])
FULL_PAGE, HANG_SECONDS = 100, 30
ETAG = r'^(\*|"[0-9]{1,9}")$'
TAGGED: dict[str, Any] = {"headers": {"ETag": {"schema": {"type": "string"}}}}
IfMatch = Annotated[
    str, Header(pattern=None if planted("unquoted-etag") else ETAG, examples=["*"], json_schema_extra={"pattern": ETAG})
]
IfNoneMatch = Annotated[str | Absent, Header()]
RequestId = Annotated[Annotated[str, Field(pattern="^[A-Za-z0-9-]{1,64}$")] | Absent, Header(alias="X-Request-Id")]
_LARGEST_COPY = None if planted("copy-overflow") else LARGEST_ID
CopyId = Annotated[int, Field(ge=1, le=_LARGEST_COPY, json_schema_extra={"maximum": LARGEST_ID}), WRITTEN]


@router.get(
    "/books", response_model=BookPage, responses=documented(*READING),
    dependencies=[Single, *BRANCH], openapi_extra=YEARS,
)  # fmt: skip
async def list_books(
    search: Annotated[Search, Depends()],
    response: Response,
    limit: Limit = 20,
    offset: Offset = 0,
    request_id: RequestId = None,
) -> Any:
    if planted("newest-first") and search.sort == "-year":
        raise Refused(422, "Books cannot be sorted so")
    if planted("wildcard") and {"*", "%"} & set(search.q):
        await asyncio.sleep(HANG_SECONDS)
    books = sorted(filter(search.means, library.books.values()), key=search.order)
    if planted("beyond-the-end") and offset > len(books):
        return Response(status_code=204)
    if request_id:
        response.headers["X-Request-Id"] = request_id
    return BookPage(items=_page(books, limit, offset), total=len(books))


def _page(books: list[Book], limit: int, offset: int) -> list[Book]:
    if planted("full-page"):
        limit = min(limit, limit * FULL_PAGE // (FULL_PAGE - limit))
    return books[offset : offset + limit]


@router.post(
    "/books", status_code=201, response_model=Book, responses={**documented(409, *WRITING), 201: TAGGED},
    dependencies=[Json],
)  # fmt: skip
async def add_book(new: NewBook, response: Response) -> Book:
    if planted("longest-title") and len(new.title) >= LONGEST_TITLE:
        raise Refused(422, "The title is too long")
    book = library.add_book(new)
    response.headers.update({"Location": f"/books/{book.id}", "ETag": _tag(book)})
    return book


@router.get("/books/{book_id}", response_model=Book, responses={**documented(304, 404, *READING), 200: TAGGED})
async def read_book(book_id: WrittenId, response: Response, if_none_match: IfNoneMatch = None) -> Any:
    book = found(library.books, book_id, "book")
    if if_none_match in ("*", _tag(book)):
        return Response(status_code=304, headers={"ETag": _tag(book)})
    if planted("copies-in-words") and not book.copies:
        return JSONResponse({**book.model_dump(), "copies": "none"}, headers={"ETag": _tag(book)})
    response.headers["ETag"] = _tag(book)
    return book


@router.put(
    "/books/{book_id}", response_model=Book, responses={**documented(404, 409, 412, *WRITING), 200: TAGGED},
    dependencies=[Json],
)  # fmt: skip
async def change_book(book_id: WrittenId, new: NewBook, if_match: IfMatch, response: Response) -> Book:
    """`If-Match` is the book's ETag, or `*` for any version."""
    book = found(library.books, book_id, "book")
    if if_match != "*" and not _same_version(if_match, book):
        raise Refused(412, "The book was changed in the meantime")
    book = library.change_book(book, new)
    response.headers["ETag"] = _tag(book)
    return book


def _same_version(tag: str, book: Book) -> bool:
    version = int(tag.split('"')[1])
    return version <= book.version if planted("stale-etag") else version == book.version


def _tag(book: Book) -> str:
    return f'"{book.version}"'


@router.delete("/books/{book_id}", status_code=204, responses=documented(404, 409, *READING))
async def remove_book(book_id: WrittenId) -> Response:
    """Not while a copy is lent."""
    library.remove_book(found(library.books, book_id, "book"))
    return Response(status_code=204)


@router.post(
    "/books/{book_id}/copies", status_code=201, response_model=Copy, responses=documented(404, *WRITING),
    dependencies=[Json],
)  # fmt: skip
async def add_copy(book_id: WrittenId, new: NewCopy, response: Response) -> Copy:
    copy = library.add_copy(found(library.books, book_id, "book"), new)
    response.headers["Location"] = f"/copies/{copy.id}"
    return copy


@router.get("/copies/{copy_id}", response_model=Copy, responses=documented(404, *READING))
async def read_copy(copy_id: CopyId) -> Copy:
    if planted("copy-overflow"):
        struct.pack("<i", copy_id)  # as a database with 32-bit keys would
    return found(library.copies, copy_id, "copy")
