"""How books are looked for: every parameter of `GET /books`, and which books it means."""

from typing import Annotated, Any, Literal

from examples.api.answers import Refused
from examples.api.faults import BREAKING
from examples.api.fields import WRITTEN, Absent, Line, WrittenFlag
from examples.api.models import Book, Genre
from fastapi import Depends, Query, Request
from pydantic import BaseModel, Field

_YEAR = {"type": "integer", "minimum": 0, "maximum": 9999}
# FastAPI has no words for this style, so the contract's are written out, and `_years` reads it.
YEARS: dict[str, Any] = {
    "parameters": [
        {
            "name": "year",
            "in": "query",
            "style": "deepObject",
            "explode": True,
            "schema": {
                "type": "object",
                "properties": {"from": _YEAR, "to": _YEAR},
                "additionalProperties": False,
                "example": {"from": 1800, "to": 1900},
            },
        }
    ]
}


class _Year(BaseModel):
    year: Annotated[int, Field(ge=0, le=9999), WRITTEN]


def _years(request: Request) -> tuple[int, int]:
    given = {name: value for name, value in request.query_params.items() if name == "year" or name.startswith("year[")}
    if given.keys() - {"year[from]", "year[to]"}:
        raise Refused(422, "`year` has `from` and `to`, as in year[from]=1800")
    try:
        years = {name: _Year.model_validate({"year": value}).year for name, value in given.items()}
    except ValueError as error:
        raise Refused(422, "A year is an integer from 0 to 9999") from error
    return years.get("year[from]", 0), years.get("year[to]", 9999)


class Search:
    def __init__(
        self,
        years: Annotated[tuple[int, int], Depends(_years)],
        q: Annotated[Line | Absent, Query(description="Part of the title or the author")] = None,
        genre: Annotated[Annotated[list[Genre], Field(max_length=5)] | Absent, Query()] = None,
        available: WrittenFlag | Absent = None,
        sort: Literal["title", "year", "-year"] = "title",
    ) -> None:
        self.q, self.genres, self.years = (q or "").lower(), genre or [], years
        self.available, self.sort = available, sort

    def means(self, book: Book) -> bool:
        return (
            (self.q in book.title.lower() or self.q in book.author.lower())
            and (not self.genres or book.genre in self.genres)
            and self.years[0] <= book.year <= self.years[1]
            and (self.available is None or self.available == (book.copies > 0))
        )

    def order(self, book: Book) -> tuple[int, str]:
        return {"title": 0, "year": book.year, "-year": -book.year}[self.sort], book.title


def branch_named(branch: Annotated[Literal["north", "south"], Query()]) -> None:
    """The next version of the contract has two branches, and one must be named."""


BRANCH = [Depends(branch_named)] if BREAKING else []
