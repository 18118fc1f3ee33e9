"""Refusals, as problem JSON (RFC 9457) for programs and as a page for people. Each says what to do."""

from collections.abc import Callable, Mapping
from html import escape
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

from whet.core.errors import Busy, RefusedInput, WhetError
from whet.core.text import printable

MEDIA_TYPE = "application/problem+json"
_SHOWN = 5


class Problem(BaseModel):
    """What went wrong, and what to do."""

    type: str = "about:blank"
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["There is no decision '3f2a'."])
    remedy: str | None = Field(None, examples=["List them: GET /api/v1/decisions"])


class Refused(HTTPException):
    """An answer other than the one asked for, with its remedy."""

    def __init__(
        self, status: int, detail: str, remedy: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, detail, headers)
        self.remedy = remedy


Page = Callable[[Request, Problem], Response]


def answer(request: Request, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """For who asked: a browser gets a page, everyone else JSON."""
    if not wants_page(request):
        content = problem.model_dump(exclude_none=True)
        return JSONResponse(content, problem.status, headers, media_type=MEDIA_TYPE)
    drawn: Page = getattr(request.app.state, "problem_page", plain_page)
    made = drawn(request, problem)
    made.headers.update(headers or {})
    return made


def wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


def plain_page(_request: Request, problem: Problem) -> Response:
    text = f"<!doctype html><html lang=en><title>{escape(problem.title)}</title><h1>{escape(problem.title)}</h1>"
    return HTMLResponse(f"{text}<p>{escape(problem.detail)} {escape(problem.remedy or '')}</p></html>", problem.status)


def problem_of(error: Exception) -> Problem:
    match error:
        case RequestValidationError():
            return _problem(422, _reasons(error.errors()), "Send what /openapi.json describes.")
        case HTTPException():
            return _problem(error.status_code, str(error.detail), getattr(error, "remedy", None))
        case Busy():
            return _problem(503, error.problem, error.remedy)
        case RefusedInput():
            return _problem(422, error.problem, error.remedy)
        case WhetError():
            return _problem(409, error.problem, error.remedy)
    return _problem(500, "Something went wrong in Whet itself.", "The service's log says what; please report it.")


def install(app: FastAPI) -> None:
    """Every refusal of the app in this form."""

    def answered(request: Request, error: Exception) -> Response:
        return answer(request, problem_of(error), getattr(error, "headers", None))

    for kind in (RequestValidationError, HTTPException, WhetError, Exception):
        app.add_exception_handler(kind, answered)


def _problem(status: int, detail: str, remedy: str | None) -> Problem:
    told = None if remedy is None else printable(remedy, 1000)
    return Problem(title=HTTPStatus(status).phrase, status=status, detail=printable(detail, 2000), remedy=told)


def _reasons(errors: Any) -> str:
    """Where, and what is wrong; never what was given, which may be a secret."""
    told = [f"{'.'.join(str(step) for step in each['loc'])}: {each['msg']}" for each in errors[:_SHOWN]]
    more = f"; and {len(errors) - _SHOWN} more" if len(errors) > _SHOWN else ""
    return f"{'; '.join(told)}{more}."
