"""What a newer contract promises differently: each kind of change, breaking or not, and none where there is none."""

from typing import Any

import pytest
from tests.skills.api.contract.made_contracts import answering, openapi, taking

from whet.skills.api.contract.changes import Change
from whet.skills.api.contract.comparing import compare
from whet.skills.api.contract.reading import read_contract

Json = Any
HOME = "#/components/schemas/"


def changes(old: Json, new: Json) -> list[Change]:
    before, after = read_contract(old), read_contract(new)
    assert compare(before, before) == []
    assert compare(after, after) == []
    return compare(before, after)


def said(old: Json, new: Json) -> list[tuple[str, bool]]:
    return [(one.kind, one.breaking) for one in changes(old, new)]


def thing(**node: Json) -> Json:
    return openapi({"/thing/{id}": {"get": {"responses": {"200": {}}, **node}}})


def query(**more: Json) -> Json:
    return thing(parameters=[{"in": "query", "name": "limit", "schema": {"type": "integer"}, **more}])


def test_operations_come_and_go() -> None:
    old, new = openapi({"/a": {"get": {}}, "/b": {"get": {}}}), openapi({"/b": {"get": {}, "post": {}}})
    assert changes(old, new) == [
        Change("operation-removed", True, "GET /a", "it is gone."),
        Change("operation-added", False, "POST /b", "it is new."),
    ]


def test_the_name_of_a_path_parameter_makes_no_difference() -> None:
    assert said(openapi({"/a/{x}": {"get": {}}}), openapi({"/a/{y}": {"get": {}}})) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (thing(), query(), ("parameter-added", False)),
        (thing(), query(required=True), ("parameter-added", True)),
        (query(), thing(), ("parameter-removed", True)),
        (query(), query(required=True), ("parameter-required", True)),
        (query(required=True), query(), ("parameter-optional", False)),
        (query(), query(explode=False), ("parameter-style-changed", True)),
        (query(), query(schema={"type": "number"}), ("type-widened", False)),
        (query(), query(schema={"type": "integer", "maximum": 5}), ("limit-narrowed", True)),
        (query(schema={"type": "integer", "minimum": 2}), query(schema={"type": "integer", "minimum": 1}),
         ("limit-widened", False)),
        (thing(), thing(deprecated=True), ("operation-deprecated", False)),
        (thing(), thing(responses={"200": {}, "404": {}}), ("answer-added", False)),
        (thing(responses={"200": {}, "404": {}}), thing(), ("answer-removed", False)),
        (thing(responses={"200": {}, "201": {}}), thing(), ("answer-removed", True)),
    ],
)  # fmt: skip
def test_one_change(old: Json, new: Json, expected: tuple[str, bool]) -> None:
    assert said(old, new) == [expected]


def record(required: tuple[str, ...] = (), **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(required)}


TEXT: Json = {"type": "string"}
SCHEMAS: list[tuple[Json, Json, str, bool, bool]] = [  # old, new, kind, breaking when sent, breaking when answered
    (record(), record(a=TEXT), "property-added", False, False),
    (record(), record(("a",), a=TEXT), "property-added", True, False),
    (record(a=TEXT), record(), "property-removed", True, True),
    (record(a=TEXT), record(("a",), a=TEXT), "property-required", True, False),
    (record(a=TEXT), record(("b",), a=TEXT), "property-required", True, False),  # and nothing says what b is
    (record(("a",), a=TEXT), record(a=TEXT), "property-optional", False, True),
    (record(a=TEXT), record(a={"type": ["string", "null"]}), "type-widened", False, True),
    ({"enum": ["a"]}, {"enum": ["a", "b"]}, "choice-widened", False, True),
    ({"enum": ["a", "b"]}, {"enum": ["a"]}, "choice-narrowed", True, False),
    (TEXT, {"type": "string", "enum": ["a"]}, "choice-narrowed", True, False),
    ({"const": 1}, {}, "choice-widened", False, True),
    ({"items": TEXT}, {"items": {"type": ["string", "integer"]}}, "type-widened", False, True),
    (TEXT, {"type": "string", "pattern": "a"}, "limit-narrowed", True, False),
    ({"pattern": "a"}, {"pattern": "b"}, "limit-changed", True, True),
    (record(), {**record(), "additionalProperties": False}, "content-narrowed", True, False),
    ({"oneOf": [{"$ref": f"{HOME}A"}]}, {"oneOf": [{"$ref": f"{HOME}A"}, TEXT]}, "alternative-widened", False, True),
    ({"not": TEXT}, {"not": {"type": "integer"}}, "condition-changed", True, True),
    ({"$ref": f"{HOME}A"}, {"anyOf": [{"$ref": f"{HOME}A"}, {"type": "null"}]}, "type-widened", False, True),
]


@pytest.mark.parametrize(("old", "new", "kind", "sent", "answered"), SCHEMAS)
def test_schemas_by_direction(old: Json, new: Json, kind: str, sent: bool, answered: bool) -> None:
    named: Json = {"components": {"schemas": {"A": {"type": "object"}}}, "version": "3.1.0"}
    assert said(openapi(taking(old), **named), openapi(taking(new), **named)) == [(kind, sent)]
    assert said(openapi(answering(old), **named), openapi(answering(new), **named)) == [(kind, answered)]


def test_what_is_hidden_in_a_direction_is_no_change_there() -> None:
    secret = {"type": "string", "writeOnly": True}
    assert said(openapi(answering(record())), openapi(answering(record(a=secret)))) == []
    assert said(openapi(taking(record())), openapi(taking(record(a=secret)))) == [("property-added", False)]


def test_the_place_is_named() -> None:
    tree = record(name=TEXT, children={"type": "array", "items": {"$ref": f"{HOME}Tree"}})
    wide = {**tree, "properties": {**tree["properties"], "name": {"type": "integer"}}}
    documents = [
        openapi(answering({"$ref": f"{HOME}Tree"}), components={"schemas": {"Tree": one}}) for one in (tree, wide)
    ]
    assert [one.sentence for one in changes(*documents)] == [
        "the answer 200 as application/json, name can no longer be string.",
        "the answer 200 as application/json, name can now be integer.",
    ]


def test_bodies_and_media_types() -> None:
    without, optional = openapi({"/thing": {"post": {}}}), taking(TEXT)
    optional["/thing"]["post"]["requestBody"]["required"] = False
    assert ("body-added", True) in said(without, openapi(taking(TEXT)))
    assert ("body-removed", True) in said(openapi(taking(TEXT)), without)
    assert said(openapi(optional), openapi(taking(TEXT))) == [("body-required", True)]
    more = taking(TEXT)
    more["/thing"]["post"]["requestBody"]["content"]["text/plain"] = {}
    assert said(openapi(taking(TEXT)), openapi(more)) == [("media-added", False)]
    assert said(openapi(more), openapi(taking(TEXT))) == [("media-removed", True)]


def test_security_by_what_it_is() -> None:
    def guarded(security: Json, name: str = "key", field: str = "X-Key") -> Json:
        schemes = {name: {"type": "apiKey", "in": "header", "name": field}}
        return openapi(answering({}, security=security), components={"securitySchemes": schemes})

    assert said(guarded([{"key": []}]), guarded([{"token": []}], name="token")) == []
    assert said(guarded([]), guarded([{"key": []}])) == [("security-removed", True), ("security-added", False)]
    assert said(guarded([{"key": []}]), guarded([{"key": []}, {}])) == [("security-added", False)]


def test_base_path_and_headers() -> None:
    assert said(openapi(answering({})), openapi(answering({}), servers=[{"url": "/v2"}])) == [
        ("base-path-changed", True)
    ]
    odd = compare(*(read_contract(openapi(answering({}), servers=[{"url": url}])) for url in ("/v1", "/\x08")))
    assert [change.sentence for change in odd] == ["The base path is /\\x08, was /v1."]
    header = thing(responses={"200": {"headers": {"X-Left": {"schema": {"type": "integer"}}}}})
    assert said(header, thing()) == [("header-removed", True)]
    assert said(thing(), header) == [("header-added", False)]
