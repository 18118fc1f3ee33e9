"""A small contract of items, exchanges made by hand with it, and the same contract served over HTTP."""

import json
from collections.abc import Mapping
from typing import Any

from whet.skills.api.contract.model import Contract, Operation
from whet.skills.api.contract.reading import read_contract
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.oracles.judge import Judge
from whet.skills.api.oracles.semantics import Semantics
from whet.skills.api.writing import write
from whet.tools.http.messages import Response, Silence

ITEM: dict[str, Any] = {
    "type": "object",
    "required": ["title", "price"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "title": {"type": "string", "minLength": 1, "maxLength": 40},
        "price": {"type": "number", "minimum": 0, "maximum": 1000},
        "size": {"type": "string", "enum": ["small", "large"]},
        "note": {"type": "string"},
        "position": {"type": "integer"},
        **{name: {"type": "number"} for name in ("weight", "height", "length", "depth", "width")},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    },
}
_ITEM = {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}
_ONE = {"description": "one", "content": _ITEM}
_MANY = {
    "description": "many",
    "content": {
        "application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Item"}}},
    },
    "headers": {"X-Total": {"schema": {"type": "integer", "minimum": 0}}},
}
_GONE = {"description": "not there"}
_BAD = {"description": "bad", "content": {"application/json": {"schema": {"type": "object", "required": ["detail"]}}}}
_ID = {"name": "item_id", "in": "path", "required": True, "schema": {"type": "integer"}}
_LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100}}
_BODY = {"required": True, "content": _ITEM}
_PART = {"content": {"application/json": {"schema": {**ITEM, "required": []}}}}

DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "items", "version": "1"},
    "servers": [{"url": "/v1"}],
    "components": {
        "schemas": {"Item": ITEM},
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
    },
    "paths": {
        "/items": {
            "get": {"parameters": [_LIMIT], "responses": {"200": _MANY, "400": _BAD}},
            "post": {"requestBody": _BODY, "responses": {"201": _ONE, "422": _BAD}},
        },
        "/items/best": {"get": {"responses": {"200": {"description": "best"}}}},
        "/items/{item_id}": {
            "parameters": [_ID],
            "get": {"responses": {"200": _ONE, "404": _GONE}},
            "put": {"requestBody": _BODY, "responses": {"200": _ONE, "404": _GONE, "422": _BAD}},
            "patch": {"requestBody": _PART, "responses": {"200": _ONE, "404": _GONE, "412": _GONE}},
            "delete": {"responses": {"204": {"description": "gone"}, "404": _GONE}},
        },
        "/prefs/{pref}": {
            "parameters": [{"name": "pref", "in": "path", "required": True, "schema": {"enum": ["theme", "size"]}}],
            "get": {"responses": {"200": {"description": "a setting"}}},
            "delete": {"responses": {"204": {"description": "back to its default"}}},
        },
        "/secrets": {"get": {"security": [{"key": []}], "responses": {"200": {"description": "told"}}}},
        "/open": {"get": {"security": [{"key": []}, {}], "responses": {"200": {"description": "told"}}}},
        "/events": {"get": {"responses": {"200": {"description": "e", "content": {"text/event-stream": {}}}}}},
        "/anything": {"get": {"responses": {"default": {"description": "whatever"}}}},
    },
}
GOOD = {"title": "cup", "price": 3}
STORED = {"id": 7, "title": "cup", "price": 3}


def contract() -> Contract:
    return read_contract(DOCUMENT)


CONTRACT = contract()
SCHEMAS = Schemas(CONTRACT)


def operation(operation_id: str) -> Operation:
    found = CONTRACT.operation(operation_id)
    assert found is not None, operation_id
    return found


def draft(operation_id: str, **parts: Any) -> Draft:
    if "body" in parts:
        parts.setdefault("media", "application/json")
    if "broken" in parts:
        parts.setdefault("mutation", "spoiled")
    return Draft(operation(operation_id), **parts)


def answer(
    made: Draft,
    status: int | None,
    body: object = None,
    media: str | None = "application/json",
    headers: Mapping[str, str] | None = None,
    silence: Silence | None = None,
    number: int = 1,
) -> Exchange:
    """The exchange in which a draft is answered so; bytes and no body stand for themselves, the rest becomes JSON."""
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    named = {**({"Content-Type": media} if media else {}), **(headers or {})}
    response = Response(status, tuple(named.items()), content, silence=silence, seconds=1.0)
    return Exchange(number, made, write(made, CONTRACT.base_path), response)


def judge() -> Judge:
    return Judge(CONTRACT, SCHEMAS)


def semantics() -> Semantics:
    return Semantics(CONTRACT, SCHEMAS)


def kinds(*exchanges: Exchange) -> list[str]:
    """What a new judge finds in the last of these exchanges."""
    judging = judge()
    found = [judging.judge(exchange) for exchange in exchanges]
    return [suspicion.kind.value for suspicion in found[-1]]
