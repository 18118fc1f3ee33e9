"""The service: `uvicorn examples.api.app:app`, with FAULTS and BREAKING in the environment; or `examples.api.serve`."""

from examples.api import access, books, covers, loans, members, notes, transfer
from examples.api.answers import answer_refusals, documented
from examples.api.faults import BREAKING
from examples.api.gate import Gate
from examples.api.library import library
from examples.api.models import NewBook, NewCopy
from fastapi import FastAPI, Response
from fastapi.responses import PlainTextResponse

DESCRIPTION = f"""A community library: its members keep the catalogue themselves.

Sign up with POST /members, then POST /login for a bearer token; or use the API key `{access.API_KEY}`.
"""


def service() -> FastAPI:
    app = FastAPI(
        title="Library", version="2.0.0" if BREAKING else "1.0.0", description=DESCRIPTION, redirect_slashes=False,
        docs_url=None, redoc_url=None,
    )  # fmt: skip
    answer_refusals(app)
    app.add_middleware(Gate)
    parts = [access.router, members.router, books.router, covers.router, loans.router, notes.router, transfer.imports]
    for part in parts if BREAKING else [*parts, transfer.exports]:
        app.include_router(part)
    return app


def open_library() -> None:
    """What is there on the first day."""
    first = access.FIRST_MEMBER
    library.add_member(first.username, first.password, first.model_dump(exclude={"username", "password"}))
    book = library.add_book(
        NewBook(isbn="9780141040349", title="Pride and Prejudice", author="Jane Austen", year=1813, genre="novel")
    )
    library.add_copy(book, NewCopy.model_validate({"shelf": "A1" if BREAKING else 1}))


app = service()
open_library()


@app.get(
    "/health", response_class=Response,
    responses={**documented(), 200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)  # fmt: skip
async def health() -> Response:
    return PlainTextResponse("ok")
