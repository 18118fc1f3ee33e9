"""Random documents: a contract or a refusal, never another error; and what was read can be used."""

import json
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from whet.skills.api.contract.comparing import compare
from whet.skills.api.contract.model import Contract
from whet.skills.api.contract.reading import read_contract
from whet.skills.api.contract.refusing import NoContract
from whet.skills.api.contract.schemas import Schemas

Json = Any
WORDS = [
    "type", "properties", "items", "allOf", "anyOf", "oneOf", "not", "enum", "const", "required", "nullable",
    "readOnly", "writeOnly", "discriminator", "minimum", "exclusiveMinimum", "maxLength", "pattern",
    "patternProperties", "format", "additionalProperties", "example", "examples", "default", "$ref", "x-nullable",
    "mapping", "propertyName", "if", "then", "in", "name", "schema", "content", "style", "explode",
    "collectionFormat", "description", "responses", "parameters", "requestBody", "security", "servers", "url",
    "variables", "links", "operationId", "operationRef", "callbacks", "headers", "consumes", "produces", "tags",
    "value", "200", "application/json", "encoding", "A", "B", "a", "dependentRequired", "dependentSchemas",
    "uniqueItems", "multipleOf", "prefixItems", "$id", "$anchor",
]  # fmt: skip
VALUES = [
    "string", "integer", "object", "array", "file", "Gadget", "query", "path", "header", "body", "formData",
    "multi", "(", "#/components/schemas/A", "form", "uuid", "key", "#/components/schemas/B", "#/definitions/A",
    "#/paths/~1a", "#", "#/", "x.json#/A", "A", "http://[", "{v}", "application/json", "default", "",
]  # fmt: skip
TOP = ["info", "servers", "security", "basePath", "consumes", "webhooks"]
plain = st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from(VALUES) | st.text(max_size=3)
junk = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=12,
)
node = st.dictionaries(st.sampled_from(WORDS), junk, max_size=5)
parameter = st.builds(lambda more, place: {"name": "a", "in": place, **more}, node, st.sampled_from(VALUES))
schema = st.builds(lambda one, more: {**more, **one}, node, node)


def answers(one: Json) -> Json:
    return {"200": {"content": {"application/json": {"schema": one}}, "schema": one}}


operation = st.fixed_dictionaries(
    {},
    optional={
        "parameters": st.lists(parameter | junk, max_size=2) | junk,
        "requestBody": st.builds(lambda one: {"content": {"application/json": {"schema": one}}}, schema) | junk,
        "responses": st.builds(answers, schema) | junk,
        "security": st.lists(node, max_size=2) | junk,
        "servers": junk, "consumes": junk, "produces": junk, "tags": junk, "operationId": plain, "callbacks": junk,
    },
)  # fmt: skip
paths = st.dictionaries(
    st.sampled_from(["/a", "/a/{a}", "b", "/{", "x-c", ""]),
    st.dictionaries(
        st.sampled_from(["get", "POST", "put", "parameters", "$ref", "servers"]), operation | junk, max_size=3
    ),
    max_size=2,
)
documents = st.builds(
    lambda version, some, named, more: {
        **more, **version, "paths": {"/ok": {"get": {}}, **some}, "components": {"schemas": named}, "definitions": named
    },
    st.sampled_from([{"openapi": "3.0.1"}, {"openapi": "3.1.0"}, {"swagger": "2.0"}]),
    paths,
    st.dictionaries(st.sampled_from(["A", "B"]), schema | junk, max_size=2),
    st.dictionaries(st.sampled_from(TOP), junk, max_size=2),
)  # fmt: skip


def use(contract: Contract) -> None:
    schemas = Schemas(contract)
    for operation in contract.operations:
        for schema in [one.schema for one in operation.parameters] + [one.schema for one in operation.bodies]:
            schemas.merged(schema)
            schemas.errors(schema, {"a": [1]}, direction="request")
        for answer in operation.answers:
            for media in answer.contents.values():
                if media is not None:
                    schemas.merged(media)
                    schemas.errors(media, {"a": [1]}, direction="response")
    assert schemas.notes == ()  # whatever was read can be compiled


@settings(max_examples=100, suppress_health_check=list(HealthCheck), deadline=None)
@given(documents)
def test_a_document_of_known_words(document: Json) -> None:
    contract = read_contract(json.dumps(document).encode())
    assert any(one.id == "GET /ok" for one in contract.operations)
    json.dumps(contract.document, allow_nan=False)
    use(contract)
    assert compare(contract, contract) == []


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode) | junk.map(lambda one: json.dumps(one).encode()))
@example(b"\xef\xbb\xbf{}")
@example(b"%YAML 9.9\n---\na")
@example(b"\xff\xfe{\x00")
@example(b"!!binary x: y")
def test_bytes_of_any_kind(text: bytes) -> None:
    with suppress(NoContract):
        read_contract(text)


@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(documents, documents)
def test_two_documents_can_be_compared(old: Json, new: Json) -> None:
    for change in compare(read_contract(json.dumps(old).encode()), read_contract(json.dumps(new).encode())):
        assert change.sentence.endswith(".")
        assert change.sentence.isprintable()
