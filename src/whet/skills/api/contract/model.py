"""A contract in one form, whatever dialect it was written in.

Schemas are JSON Schema 2020-12 as plain dicts: `nullable` has become a type, boolean `exclusiveMinimum` a number,
Swagger's `file` a binary string. A `$ref` is kept, so that cycles stay finite: `Contract.resolve` follows it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Json = Any  # None, bool, int, float, str, list or dict of these
Schema = Mapping[str, Json]
Where = Literal["path", "query", "header", "cookie"]
Dialect = Literal["swagger-2.0", "openapi-3.0", "openapi-3.1"]


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    where: Where
    required: bool
    schema: Schema
    style: str  # form, simple, label, matrix, spaceDelimited, pipeDelimited, deepObject
    explode: bool
    media: str | None = None  # a parameter with `content` is written in this media type
    examples: tuple[Json, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Body:
    """One way to write the request body. Form fields (Swagger 2 `formData` too) are properties of an object schema."""

    media: str
    schema: Schema
    required: bool
    examples: tuple[Json, ...] = ()
    encoding: Mapping[str, Json] = field(default_factory=dict)  # per property, as in OpenAPI


@dataclass(frozen=True, slots=True)
class Link:
    """An answer's value that another operation takes: the contract itself names the dependency."""

    name: str
    operation: str  # the id of the target operation
    parameters: Mapping[str, Json]  # name, or "path.name", to a runtime expression or a constant
    body: Json = None


@dataclass(frozen=True, slots=True)
class Answer:
    status: str  # "200", "2XX", "default"
    contents: Mapping[str, Schema | None]  # by media type; None where the document gives no schema
    headers: Mapping[str, Schema] = field(default_factory=dict)
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class SecurityScheme:
    name: str
    kind: Literal["api-key", "basic", "bearer", "oauth2", "other"]
    where: Where | None = None  # of an API key
    field: str | None = None  # the API key's parameter name
    token_url: str | None = None  # of OAuth2 client credentials or password flow
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    id: str  # "GET /items/{item_id}": method and path as written
    method: str
    path: str
    parameters: tuple[Parameter, ...]
    bodies: tuple[Body, ...]
    answers: tuple[Answer, ...]
    # Any one of these sets of schemes lets a request in; an empty set means that it may come without.
    security: tuple[frozenset[str], ...] = ()
    name: str | None = None  # operationId
    summary: str = ""
    tags: tuple[str, ...] = ()
    deprecated: bool = False

    def answer(self, status: int) -> Answer | None:
        """What the contract says of this status: by number, by class ("2XX"), or by default."""
        by_status = {answer.status.upper(): answer for answer in self.answers}
        return by_status.get(str(status)) or by_status.get(f"{status // 100}XX") or by_status.get("DEFAULT")


@dataclass(frozen=True, slots=True)
class Contract:
    title: str
    version: str
    dialect: Dialect
    base_path: str  # the path of its first server, without a slash at the end; "" for none
    operations: tuple[Operation, ...]
    document: Mapping[str, Json]  # the normalised document, in which every $ref points
    security_schemes: Mapping[str, SecurityScheme]
    notes: tuple[str, ...] = ()  # what was left out or repaired, as sentences
    given: Mapping[str, Json] = field(default_factory=dict)  # the document as it was read, to be read again

    def operation(self, operation_id: str) -> Operation | None:
        return next((one for one in self.operations if one.id == operation_id), None)
