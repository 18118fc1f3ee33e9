"""A contract with something of everything, for tests of values and mutations."""

from typing import Any

from whet.skills.api.contract.model import Contract, Operation
from whet.skills.api.contract.reading import read_contract

SCHEMAS: dict[str, Any] = {
    "Book": {
        "type": "object",
        "required": ["title", "kind", "id", "pages"],
        "additionalProperties": False,
        "properties": {
            "id": {"type": "integer", "readOnly": True},
            "title": {"type": "string", "minLength": 3, "maxLength": 40},
            "kind": {"type": "string", "enum": ["novel", "essay"]},
            "pages": {"type": "integer", "minimum": 1, "maximum": 5000},
            "price": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5},
            "isbn": {"type": "string", "pattern": r"^97[89]-\d{1,5}-[A-Z]{2}$"},
            "printed": {"type": "string", "format": "date"},
            "sold_at": {"type": "string", "format": "date-time"},
            "publisher_id": {"type": "string", "format": "uuid"},
            "available": {"type": "boolean", "default": True},
            "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 5},
            "author": {"anyOf": [{"$ref": "#/components/schemas/Author"}, {"type": "null"}]},
            "cover": {
                "oneOf": [{"$ref": "#/components/schemas/Hard"}, {"$ref": "#/components/schemas/Soft"}],
                "discriminator": {"propertyName": "type", "mapping": {"hard": "#/components/schemas/Hard"}},
            },
            "sequels": {"type": "array", "items": {"$ref": "#/components/schemas/Book"}, "maxItems": 2},
            "labels": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
    },
    "Author": {
        "allOf": [
            {"type": "object", "required": ["email"], "properties": {"email": {"type": "string", "format": "email"}}},
            {"type": "object", "properties": {"age": {"type": "integer", "minimum": 18}, "name": {"type": "string"}}},
        ]
    },
    "Hard": {
        "type": "object", "required": ["type", "weight"], "additionalProperties": False,
        "properties": {"type": {"type": "string"}, "weight": {"type": "number"}},
    },
    "Soft": {
        "type": "object", "required": ["type", "glued"], "additionalProperties": False,
        "properties": {"type": {"type": "string"}, "glued": {"type": "boolean"}},
    },
}  # fmt: skip

PARAMETERS: list[dict[str, Any]] = [
    {"name": "shelf", "in": "path", "required": True, "schema": {"type": "string", "minLength": 2}},
    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}},
    {"name": "sort", "in": "query", "required": True, "schema": {"type": "string"}},
    {"name": "fields", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
    {"name": "session", "in": "cookie", "schema": {"type": "string"}},
]


def contract(
    schema: Any = None, media: str = "application/json", schemas: Any = None, parameters: Any = None
) -> Contract:
    """One operation, POST /shelves/{shelf}/books, whose body has this schema."""
    body = {"$ref": "#/components/schemas/Book"} if schema is None else schema
    operation: dict[str, Any] = {
        "parameters": PARAMETERS if parameters is None else parameters,
        "requestBody": {"required": True, "content": {media: {"schema": body}}},
        "responses": {"200": {"description": "done"}},
        "security": [{"key": []}],
    }
    return read_contract(
        {
            "openapi": "3.0.3",
            "info": {"title": "library", "version": "1"},
            "paths": {"/shelves/{shelf}/books": {"post": operation, "get": {**operation, "requestBody": None}}},
            "components": {
                "schemas": SCHEMAS if schemas is None else schemas,
                "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
            },
        }
    )


def post(library: Contract) -> Operation:
    found = library.operation("POST /shelves/{shelf}/books")
    assert found is not None
    return found
