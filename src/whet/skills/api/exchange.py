"""A request by its meaning (`Draft`), and one turn with the service (`Exchange`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from whet.skills.api.contract.model import Json, Operation, Where
from whet.tools.http.messages import Headers, Request, Response


class Missing(Enum):
    """No body at all; `None` would be the JSON null."""

    BODY = "no body"


NO_BODY = Missing.BODY


@dataclass(frozen=True, slots=True)
class Draft:
    """What a request means: its values by place, before they are written in a style or a media type.

    Values are JSON; bytes stand for themselves (binary fields, raw bodies). `raw` replaces the written body, for
    what no writer would produce (cut JSON, bytes that are not UTF-8). `headers` holds the declared header parameters,
    `extra` what was added on purpose (If-Match, a wrong Accept). Drafts are never changed: `dataclasses.replace`.
    """

    operation: Operation
    path: Mapping[str, Json] = field(default_factory=dict)
    query: Mapping[str, Json] = field(default_factory=dict)
    headers: Mapping[str, Json] = field(default_factory=dict)
    cookies: Mapping[str, Json] = field(default_factory=dict)
    body: Json | Missing = NO_BODY
    media: str | None = None
    raw: bytes | None = None
    extra: Headers = ()
    credentials: Literal["given", "none", "wrong"] = "given"
    # What makes it break the contract, as a sentence ("limit must be an integer, is a string"); None: nothing does.
    broken: str | None = None
    mutation: str | None = None  # the kind of mutation that made it, None for a draft made to be valid

    def values(self, where: Where) -> Mapping[str, Json]:
        return {"path": self.path, "query": self.query, "header": self.headers, "cookie": self.cookies}[where]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came of it; `number` counts the run's requests from 1."""

    number: int
    draft: Draft
    request: Request
    response: Response

    @property
    def operation(self) -> Operation:
        return self.draft.operation

    @property
    def ok(self) -> bool:
        return self.response.status is not None and 200 <= self.response.status < 300
