"""What everybody may see: style sheet, script, the form to come in, and refusals."""

from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from whet.service.pages.drawing import bare
from whet.service.problems import Problem, Refused

router = APIRouter()
_TYPES: Final = {
    "style.css": "text/css; charset=utf-8",
    "whet.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


@router.get("/static/{name}")
def static(name: str) -> Response:
    if name not in _TYPES:
        raise Refused(404, "There is no such file.")
    return Response(_content(name), media_type=_TYPES[name], headers={"cache-control": "public, max-age=300"})


@cache
def _content(name: str) -> bytes:
    return files("whet.service.pages").joinpath("static", name).read_bytes()


def login_page(_request: Request, problem: str | None, status: int) -> Response:
    return bare("login.html.j2", status, problem=problem)


def problem_page(_request: Request, problem: Problem) -> Response:
    return bare("problem.html.j2", problem.status, problem=problem)
