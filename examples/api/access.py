"""Who may come in: a bearer token from `POST /login`, or the API key."""

import secrets
from typing import Annotated

from examples.api.answers import WRITING, Refused, documented
from examples.api.bodies import Form
from examples.api.faults import planted
from examples.api.library import library
from examples.api.models import NewMember, Password, Shape, Token, Username
from fastapi import APIRouter, Depends, Request, Response
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer
from pydantic import ValidationError

API_KEY = "library-demo-key"
FIRST_MEMBER = NewMember.model_validate(
    {
        "username": "librarian",
        "password": "open-sesame",
        "name": "Ada Page",
        "contact": {"kind": "email", "address": "ada@library.example"},
    }
)
Bearer = Annotated[
    HTTPAuthorizationCredentials | None,
    Depends(HTTPBearer(auto_error=False, scheme_name="token", description="From POST /login.")),
]
Key = Annotated[str | None, Depends(APIKeyHeader(name="X-Api-Key", auto_error=False, scheme_name="key"))]
router = APIRouter(tags=["access"])


class Credentials(Shape):
    username: Username
    password: Password


async def signed_in(request: Request, bearer: Bearer, key: Key) -> str | None:
    """The token that was used; None for the API key."""
    token = bearer.credentials if bearer else None
    known = token in library.tokens if "authorization" in request.headers else None
    right = secrets.compare_digest(key.encode(), API_KEY.encode()) if key is not None else None
    # One is enough, but what is given must be right.
    if (False in (known, right) or known is right is None) and not _let_in_anyway(request, key):
        raise Refused(401, "Sign in, or give the API key", {"WWW-Authenticate": "Bearer"})
    return token


def _let_in_anyway(request: Request, key: str | None) -> bool:
    asked = f"{request.method} {request.url.path}"
    if asked == "GET /exports/books.csv":
        return planted("open-export")
    return asked == "GET /members" and key is not None and planted("any-key")


SignedIn = Depends(signed_in)
_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-www-form-urlencoded": {
                "schema": Credentials.model_json_schema(),
                "example": {"username": FIRST_MEMBER.username, "password": FIRST_MEMBER.password},
            }
        },
    }
}


@router.post("/login", response_model=Token, responses=documented(*WRITING), openapi_extra=_FORM)
async def login(fields: Form) -> Token:
    """A form, as browsers send it."""
    try:
        given = Credentials.model_validate(fields)
    except ValidationError as error:
        raise Refused(422, "A username and a password are needed") from error
    member, password = library.passwords.get(given.username, (0, ""))
    if not member or not secrets.compare_digest(password.encode(), given.password.encode()):
        raise Refused(401, "Wrong username or password")
    token = secrets.token_hex(16)
    library.tokens[token] = member
    return Token(access_token=token, token_type="bearer")  # noqa: S106 - the word of the protocol


@router.post("/logout", status_code=204, responses=documented(401, 413, 415))
async def logout(token: Annotated[str | None, SignedIn]) -> Response:
    """The token is worth nothing afterwards; the API key stays."""
    library.tokens.pop(token or "", None)
    return Response(status_code=204)
