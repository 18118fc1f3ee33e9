"""Many books at once, as text: lines in, CSV out."""

import csv
import io
import re
from typing import Annotated, Any, Literal

from examples.api.access import SignedIn
from examples.api.answers import READING, WRITING, Refused, documented
from examples.api.bodies import PlainText, Single
from examples.api.library import library
from examples.api.models import Imported, NewBook
from fastapi import APIRouter, Cookie, Depends, Request, Response
from pydantic import ValidationError

imports = APIRouter(tags=["transfer"], dependencies=[SignedIn])
exports = APIRouter(tags=["transfer"], dependencies=[SignedIn])
LONGEST_IMPORT = 20_000
COLUMNS = ("id", "isbn", "title", "author", "year", "rating")
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t"}
_LINES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "text/plain": {
                "schema": {"type": "string", "maxLength": LONGEST_IMPORT},
                "example": "9780140449136;Crime and Punishment;Fyodor Dostoevsky;1866\n",
            }
        },
    }
}
# A list with commas: FastAPI has no words for this style, so the contract's are written out, and `_columns` reads it.
_COLUMNS: dict[str, Any] = {
    "parameters": [
        {
            "name": "columns",
            "in": "query",
            "style": "form",
            "explode": False,
            "schema": {"type": "array", "minItems": 1, "maxItems": 10, "items": {"type": "string", "enum": COLUMNS}},
        }
    ]
}


@imports.post("/imports", response_model=Imported, responses=documented(*WRITING), openapi_extra=_LINES)
async def import_books(text: PlainText) -> Imported:
    """One book a line: ISBN, title, author and year, with semicolons. Lines that are no book are skipped."""
    if len(text) > LONGEST_IMPORT:
        raise Refused(422, f"The text is longer than {LONGEST_IMPORT} characters")
    lines = [line for line in text.splitlines() if line]
    created = sum(_imported(line.split(";")) for line in lines)
    return Imported(created=created, skipped=len(lines) - created)


def _imported(values: list[str]) -> bool:
    if len(values) != 4 or not re.fullmatch("[0-9]{4}", values[3], re.ASCII):
        return False
    given = dict(zip(("isbn", "title", "author"), values, strict=False))
    try:
        library.add_book(NewBook.model_validate({**given, "year": int(values[3]), "genre": "novel"}))
    except (ValidationError, Refused):
        return False
    return True


def _columns(request: Request) -> list[str]:
    columns = request.query_params.get("columns", ",".join(COLUMNS)).split(",")
    if not set(columns) <= set(COLUMNS) or len(columns) > 10:
        raise Refused(422, f"Columns are {', '.join(COLUMNS)}, ten at most")
    return columns


@exports.get(
    "/exports/books.csv", response_class=Response, dependencies=[Single], openapi_extra=_COLUMNS,
    responses={**documented(*READING), 200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)  # fmt: skip
async def export_books(
    columns: Annotated[list[str], Depends(_columns)],
    delimiter: Literal["comma", "semicolon", "tab"] = "comma",
    locale: Annotated[Literal["en", "de"], Cookie()] = "en",
) -> Response:
    """The cookie says how a rating is written: 4.5 or 4,5."""
    table = io.StringIO()
    writer = csv.DictWriter(table, columns, extrasaction="ignore", delimiter=DELIMITERS[delimiter])
    writer.writeheader()
    for book in library.books.values():
        rating = "" if book.rating is None else str(book.rating).replace(".", "," if locale == "de" else ".")
        writer.writerow({**book.model_dump(), "rating": rating})
    return Response(table.getvalue(), media_type="text/csv")
