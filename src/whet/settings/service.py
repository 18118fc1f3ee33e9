"""What `whet serve` offers, and to whom: [tool.whet.service]."""

import re
from typing import Final, Literal, Self

from pydantic import Field, model_validator

from whet.settings.section import Section

_VARIABLE: Final = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*")


class Service(Section):
    """REST, pages and metrics: whet serve."""

    host: str = Field("127.0.0.1", min_length=1, description="The address it listens at; the default is this machine.")
    port: int = Field(8321, ge=0, le=65535, description="Its port; 0: any that is free.")
    allowed_hosts: tuple[str, ...] = Field(
        (),
        strict=False,
        description="Names by which it is reached, such as that of a proxy; others are refused.",
        examples=[["whet.example.org"]],
    )
    session_minutes: float = Field(60.0, ge=1, le=1440, description="How long somebody who does nothing stays in.")
    requests_per_minute: int = Field(120_000, ge=1, description="Requests that one key may send.")
    attempts_per_minute: int = Field(30, ge=1, description="Wrong keys that one address may try.")
    training_minutes: float = Field(60.0, gt=0, le=1440, description="Longest training that REST starts.")
    jwt_algorithm: Literal["HS256", "RS256", "ES256"] | None = Field(
        None,
        description="How tokens of your own identity provider are signed; none are accepted when not set.",
        examples=["RS256"],
    )
    jwt_key: str | None = Field(
        None,
        min_length=1,
        description="What they are checked with: a file with the public key, or env:NAME, which is read from there.",
        examples=["env:WHET_JWT_KEY"],
    )
    jwt_audience: str | None = Field(
        None, min_length=1, description="Whom they must be meant for.", examples=["whet.example.org"]
    )

    @model_validator(mode="after")
    def _no_secret_is_committed(self) -> Self:
        if self.jwt_algorithm == "HS256" and self.jwt_key is not None and not _VARIABLE.fullmatch(self.jwt_key):
            raise ValueError("jwt_key is a secret with HS256, and files are committed. Give it as env:NAME.")
        return self
