"""Schemas of every dialect come out as JSON Schema 2020-12, repaired where that is safe, and with a note."""

from typing import Any

import pytest
from tests.skills.api.contract.made_contracts import answer_schema, answering, openapi

from whet.skills.api.contract.keywords import TYPES
from whet.skills.api.contract.patterns import Patterns
from whet.skills.api.contract.reading import read_contract

SAME = {"type": "object", "properties": {"a": {"type": "string", "readOnly": True}}, "required": ["a"]}
NORMALISED: list[tuple[Any, Any]] = [
    (SAME, SAME),
    (True, {}),
    (False, {"not": {}}),
    (None, {}),
    ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    ({"type": "string", "x-nullable": True}, {"type": ["string", "null"], "x-nullable": True}),
    ({"enum": ["a"], "nullable": True}, {"enum": ["a", None]}),
    ({"nullable": True}, {}),
    ({"allOf": [SAME], "nullable": True, "title": "T"}, {"title": "T", "anyOf": [{"allOf": [SAME]}, {"type": "null"}]}),
    ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
    ({"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}),
    ({"exclusiveMaximum": 5}, {"exclusiveMaximum": 5}),
    ({"type": "file"}, {"type": "string", "format": "binary"}),
    ({"type": "int"}, {"type": "integer"}),
    ({"type": ["int", "integer"]}, {"type": "integer"}),
    ({"type": "any"}, {}),
    ({"type": "Gadget"}, {}),
    ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
    ({"type": "string", "enum": [1, True]}, {"type": "string", "enum": ["1", "true"]}),
    ({"enum": []}, {}),
    (
        {"type": "array", "enum": ["a", "b"], "items": {"type": "string"}},
        {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
    ),
    ({"type": "array", "enum": ["a"]}, {"type": "array", "items": {"enum": ["a"]}}),
    ({"type": "array", "enum": [["a"]]}, {"type": "array", "enum": [["a"]]}),
    ({"pattern": "("}, {}),
    ({"pattern": "/^a$/i"}, {"pattern": "^a$"}),
    ({"pattern": 3}, {}),
    ({"pattern": "^.{1,2097152}"}, {}),
    ({"patternProperties": {"(": {}, "^x": {"type": "int"}}}, {"patternProperties": {"^x": {"type": "integer"}}}),
    ({"minLength": "3", "maxLength": -1}, {"minLength": 3}),
    ({"maxItems": 2.0, "minItems": 1.5}, {"maxItems": 2}),
    ({"maxItems": 1e300}, {}),
    ({"multipleOf": 0}, {}),
    ({"minimum": "low"}, {}),
    ({"required": True}, {}),
    ({"required": ["a", 1, "a"]}, {"required": ["a"]}),
    ({"properties": []}, {}),
    ({"properties": {"a": 3}}, {"properties": {"a": {}}}),
    ({"items": [{"type": "int"}]}, {"prefixItems": [{"type": "integer"}]}),
    ({"allOf": {"type": "string"}}, {"allOf": [{"type": "string"}]}),
    ({"oneOf": []}, {}),
    ({"additionalProperties": False}, {"additionalProperties": False}),
    ({"discriminator": "kind"}, {"discriminator": {"propertyName": "kind"}}),
    ({"discriminator": {"mapping": {}}}, {}),
    ({"examples": {"one": {"value": 1}}}, {"examples": [1]}),
    ({"readOnly": "true", "writeOnly": False}, {"readOnly": True}),
    ({"$schema": "x", "$id": "y", "id": 3, "unheard": 1, "x-kept": 1}, {"x-kept": 1}),
]


@pytest.mark.parametrize(("given", "expected"), NORMALISED)
def test_a_schema_in_the_one_form(given: Any, expected: Any) -> None:
    assert answer_schema(openapi(answering(given))) == expected


def test_types_of_3_1_pass_through() -> None:
    given = {"type": ["array", "null"], "prefixItems": [{"const": 1}], "items": False, "contains": {"type": "string"}}
    assert answer_schema(openapi(answering(given), version="3.1.0")) == given


def test_repairs_are_noted_and_intentions_are_not() -> None:
    assert read_contract(openapi(answering({"type": "any", "minimum": None, "enum": []}))).notes == ()
    (note,) = read_contract(openapi(answering({"type": "Gadget"}))).notes
    assert note == "GET /thing, answer 200: the type Gadget is unknown; any is taken to be allowed."


@pytest.mark.parametrize(
    ("written", "meant"), [("int", "integer"), ("String", "string"), (["bool", "null"], "boolean"), ("float", "number")]
)
def test_a_type_by_another_name_is_understood_and_noted(written: Any, meant: str) -> None:
    document = openapi(answering({"type": written}))
    name = written if isinstance(written, str) else written[0]
    assert read_contract(document).notes == (
        f"GET /thing, answer 200: there is no type {name}; it was taken as {meant}.",
    )
    assert meant in answer_schema(document)["type"]


def test_types_of_the_dialects_need_no_note() -> None:
    for written in ("file", "integer", ["string", "null"]):
        assert read_contract(openapi(answering({"type": written}))).notes == ()


def test_types_in_a_list_that_nobody_knows_are_noted_too() -> None:
    (note,) = read_contract(openapi(answering({"type": ["string", "Gadget"]}))).notes
    assert "is unknown" in note


def test_notes_end_somewhere() -> None:
    gadgets = {f"p{n}": {"type": f"Gadget{n}"} for n in range(1000)}
    notes = read_contract(openapi(answering({"properties": gadgets}))).notes
    assert len(notes) == 201
    assert notes[-1] == "And 800 more notes like these."


def test_every_known_type_stays() -> None:
    for kind in TYPES:
        assert answer_schema(openapi(answering({"type": kind}))) == {"type": kind}


def test_patterns_do_not_take_more_time_than_they_are_given() -> None:
    patterns = Patterns(most_seconds=0.0)
    assert patterns.meant("a") is None
    assert Patterns().meant("a") == "a"
