"""What is answered when a request is refused, and how the contract says so."""

import re
from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

MOST_PLACES = 10


class Problem(BaseModel):
    model_config = ConfigDict(extra="forbid")
    message: str
    where: list[str]


class Refused(HTTPException):
    """A refusal the contract knows of: its status and a sentence."""


MEANINGS = {
    304: "Not changed since that version",
    401: "Neither a valid token nor a valid API key, or a wrong password",
    404: "No such thing",
    409: "Not possible in the present state",
    412: "Changed in the meantime",
    413: "The body is larger than 1 MB",
    415: "A content type or encoding that is not taken here",
    422: "A value that the contract does not allow",
}
# What is no HTTP never reaches the application: the server itself answers in plain text.
_UNREADABLE = {
    "description": "The request cannot be read",
    "model": Problem,
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route; 400 can happen to all."""
    answers: dict[int | str, dict[str, Any]] = {
        status: {"description": MEANINGS[status], **({} if status == 304 else {"model": Problem})}
        for status in statuses
    }
    return answers | {400: _UNREADABLE}


# With a body, or where one could be sent.
READING, WRITING = (401, 422), (401, 413, 415, 422)


def problem(status: int, message: str, where: Iterable[str] = (), headers: Any = None) -> JSONResponse:
    return JSONResponse(Problem(message=message, where=list(where)).model_dump(), status, headers)


async def _refused(request: Request, refusal: Exception) -> JSONResponse:
    assert isinstance(refusal, HTTPException)  # noqa: S101 - the handler is registered for these
    if refusal.status_code == 405:
        return problem(405, "Not a method of this path", headers={"Allow": ", ".join(_methods(request))})
    return problem(refusal.status_code, str(refusal.detail), headers=refusal.headers)


def _methods(request: Request) -> list[str]:
    """All methods of the path; the framework names only those of the first route that has it."""
    paths = request.app.openapi()["paths"]
    here = (path for path in paths if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), request.url.path))
    return [method.upper() for path in here for method in paths[path]]


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - the handler is registered for these
    errors = list(error.errors())[:MOST_PLACES]
    unreadable = any(one["type"] == "json_invalid" for one in errors)
    places = [".".join(map(str, one["loc"])) for one in errors]
    return problem(400 if unreadable else 422, "; ".join(one["msg"] for one in errors), places)


def answer_refusals(app: FastAPI) -> None:
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
