"""The service that the project is, or has: [tool.whet.api]."""

import re
import shlex
from typing import Final, Self

from pydantic import Field, model_validator

from whet.core.errors import WhetError
from whet.settings.section import Section
from whet.tools.http.origin import split_address

PORT: Final = "{port}"
_BY_REFERENCE: Final = re.compile(
    r"(bearer:|(basic|oauth2):[^:]+:|(header|query|cookie):[^=]+=)env:[A-Za-z_][A-Za-z0-9_]*"
)
_TELLING: Final = re.compile(r"auth|cookie|token|secret|key|password|session", re.IGNORECASE)


class Api(Section):
    """A service that whet run starts, tests by its OpenAPI document, and stops. Its data must be worth nothing."""

    document: str | None = Field(
        None,
        min_length=1,
        description="The OpenAPI document: a file of the project, or, with a slash in front, its path on the service.",
        examples=["/openapi.json"],
    )
    start: str | None = Field(
        None,
        min_length=1,
        description="What starts the service, in the project's directory and in the foreground; {port} is a free port.",
        examples=["python -m uvicorn shop.web:app --port {port}"],
    )
    url: str = Field("http://127.0.0.1:{port}", description="Where the service then is.")
    requests: int = Field(500, ge=10, le=1_000_000, description="Most requests that one action sends.")
    ready_seconds: float = Field(30.0, gt=0, le=3600, description="How long the service may take until it answers.")
    auth: tuple[str, ...] = Field(
        (), strict=False, description="How to get in, as whet api --auth has it, secrets as env:NAME: bearer:env:TOKEN."
    )
    headers: dict[str, str] = Field(
        {},
        description="Sent with every request; a secret as env:NAME, which is read from the environment.",
        examples=[{"X-Tenant": "test"}],
    )
    only: tuple[str, ...] = Field(
        (), strict=False, description="Test only operations with one of these in METHOD /path, id or tag."
    )
    exclude: tuple[str, ...] = Field((), strict=False, description="Leave out operations with one of these in them.")
    safe: bool = Field(False, description="Send no DELETE.")

    @model_validator(mode="after")
    def _can_be_started(self) -> Self:
        if self.start is None:
            return self
        try:
            words = shlex.split(self.start)
        except ValueError as error:
            raise ValueError(f"start cannot be read as a command line: {error}. Check its quotes.") from error
        if not words:
            raise ValueError("start is empty. Give the command that starts the service.")
        if PORT in self.url and PORT not in self.start:
            raise ValueError(
                "start does not contain {port}, so the service cannot know where to listen. "
                "Write {port} where the command takes its port, or give the service's own address as url."
            )
        return self

    @model_validator(mode="after")
    def _is_an_address(self) -> Self:
        try:
            split_address(self.url.replace(PORT, "8000"))
        except WhetError as error:
            raise ValueError(f"url: {error}") from error
        return self

    @model_validator(mode="after")
    def _no_secret_is_committed(self) -> Self:
        for number, one in enumerate(self.auth, 1):
            if not _BY_REFERENCE.fullmatch(one):
                raise ValueError(
                    f"auth, entry {number}, is not a way in with its secret as env:NAME; files are committed. "
                    "Give bearer:env:NAME, basic:USER:env:NAME, header:FIELD=env:NAME, query:FIELD=env:NAME, "
                    "cookie:FIELD=env:NAME or oauth2:ID:env:NAME."
                )
        for name, value in self.headers.items():
            if _TELLING.search(name) and not value.startswith("env:"):
                raise ValueError(f"headers: {name} looks like a secret; files are committed. Give it as env:NAME.")
        return self
