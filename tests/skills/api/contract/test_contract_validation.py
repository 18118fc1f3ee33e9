"""Values against schemas: directions, formats, and whatever value or schema there may be without a crash."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.skills.api.contract.made_contracts import answering, only, openapi, taking

from whet.skills.api.contract.comparing import compare
from whet.skills.api.contract.compiling import Compiler
from whet.skills.api.contract.directions import Directed, Direction
from whet.skills.api.contract.model import Contract, Schema
from whet.skills.api.contract.notes import Notes
from whet.skills.api.contract.reading import read_contract
from whet.skills.api.contract.schemas import Schemas

Json = Any
HOME = "#/components/schemas/"
USER = {
    "type": "object",
    "required": ["id", "name", "password"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string"},
        "password": {"type": "string", "writeOnly": True},
    },
}


def contract_of(schema: Json, *, version: str = "3.0.3", **named: Json) -> Contract:
    return read_contract(openapi({**answering(schema), "/b": taking(schema)["/thing"]}, version=version,
                                 components={"schemas": named}))  # fmt: skip


def problems(schema: Json, value: Json, direction: Direction = "response", **more: Json) -> list[str]:
    contract = contract_of(schema, **more)
    given: Schema | None = contract.operations[1].bodies[0].schema
    if direction == "response":
        given = contract.operations[0].answers[0].contents["application/json"]
    assert given is not None
    schemas = Schemas(contract)
    found = schemas.errors(given, value, direction=direction)
    assert schemas.is_valid(given, value, direction=direction) == (not found)
    return [f"{one.instance}: {one.message}" for one in found]


@pytest.mark.parametrize("named", [True, False])
def test_each_direction_has_its_own_properties(named: bool) -> None:
    schema, more = ({"$ref": f"{HOME}User"}, {"User": USER}) if named else (USER, {})
    sent, answered = {"name": "a", "password": "b"}, {"id": 1, "name": "a"}
    assert problems(schema, sent, "request", **more) == []
    assert problems(schema, answered, "response", **more) == []
    assert problems(schema, {**sent, "id": 1}, "request", **more) != []
    assert problems(schema, {**answered, "password": "b"}, "response", **more) != []
    assert problems(schema, {}, "request", **more) == [
        ': "name" is a required property',
        ': "password" is a required property',
    ]


def test_a_part_that_asks_for_what_another_hides() -> None:
    schema = {"allOf": [{"$ref": f"{HOME}Base"}, {"type": "object", "required": ["id"]}]}
    base = {"type": "object", "properties": {"id": {"$ref": f"{HOME}Id"}}}
    assert problems(schema, {}, "request", Base=base, Id={"type": "integer", "readOnly": True}) == []
    assert problems(schema, {}, "response", Base=base, Id={"type": "integer", "readOnly": True}) != []


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [("date", "2020-02-29", "2020-13-01"), ("date-time", "2020-01-01T10:00:00", "yesterday"),
     ("uuid", "2f1c4d3e-0000-4000-8000-000000000000", "12")],
)  # fmt: skip
def test_formats_are_promises_before_3_1_only(form: str, good: str, bad: str) -> None:
    schema = {"type": "string", "format": form}
    assert problems(schema, good) == []
    assert problems(schema, bad) != []
    assert problems(schema, bad, version="3.1.0") == []


@pytest.mark.parametrize("form", ["email", "uri", "hostname", "int32", "password", "byte", "made-up"])
def test_formats_of_many_meanings_are_not_checked(form: str) -> None:
    assert problems({"format": form}, "not one of them") == []
    assert problems({"format": form}, 10**30) == []


def test_alternatives_overlap_where_a_discriminator_chooses() -> None:
    either = {"oneOf": [{"type": "object"}, {"type": "object"}]}
    assert problems(either, {}) != []
    assert problems({**either, "discriminator": {"propertyName": "kind"}}, {}) == []


def test_places_are_told_without_the_way_there() -> None:
    contract = contract_of({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}})
    schema = contract.operations[0].answers[0].contents["application/json"]
    assert schema is not None
    (found,) = Schemas(contract).errors(schema, {"a": ["x", 3]}, direction="response")
    assert found == ("properties/a/items/type", "a/1", '3 is not of type "string"')


def test_the_schemas_of_a_contract_are_compiled_together() -> None:
    """Each by itself would hold a copy of all that it refers to: gigabytes for a large contract."""
    contract = contract_of({"type": "array", "items": {"$ref": f"{HOME}User"}}, User=USER)
    schemas = Schemas(contract)
    compiler = Compiler(
        contract, Directed("openapi-3.0", "response", schemas.resolve, schemas.merged), "response", Notes()
    )
    used = contract.operations[0].answers[0].contents["application/json"]
    assert used is not None
    one, other = compiler.compiled(used), compiler.compiled({"$ref": f"{HOME}User"})
    assert one is not None
    assert other is not None
    assert one.validator is other.validator
    assert one.key != other.key


def test_a_schema_of_ones_own() -> None:
    schemas = Schemas(contract_of({"$ref": f"{HOME}User"}, User=USER))
    own = {"type": "array", "items": {"$ref": f"{HOME}User"}}
    assert schemas.errors(own, [{"id": 1, "name": "a"}], direction="response") == []
    (found,) = schemas.errors(own, [{"id": 1, "name": 3}], direction="response")
    assert found.schema == "components/schemas/User/properties/name/type"
    assert schemas.errors({"minimum": 3}, 2, direction="request") != []


def test_a_schema_that_cannot_be_compiled_says_nothing() -> None:
    schemas = Schemas(contract_of({}))
    assert schemas.errors({"minimum": "three"}, 2, direction="request") == []
    assert schemas.is_valid({"$ref": "#/nowhere"}, 2, direction="request")
    assert len(schemas.notes) == 2


def test_a_bad_schema_among_good_ones_spoils_only_itself() -> None:
    made = contract_of({"$ref": f"{HOME}Good"}, Good={"type": "integer"})
    named = {"Good": {"type": "integer"}, "Bad": {"minimum": "three"}, "Half": {"title": "x", "enum": ["\ud800"]}}
    schemas = Schemas(replace(made, document={"components": {"schemas": named}}))
    assert schemas.errors({"$ref": f"{HOME}Bad"}, "x", direction="response") == []
    assert schemas.errors({"type": "integer"}, "x", direction="response") != []
    assert schemas.notes != ()


def test_a_deeply_nested_schema() -> None:
    schema: Json = {"type": "integer"}
    for _ in range(130):
        schema = {"items": schema}
    assert problems(schema, deep(130)) == []
    assert problems(schema, []) == []
    assert compare(contract_of(schema), contract_of(schema)) == []


def deep(levels: int) -> Json:
    value: Json = 0
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, 10**4000, -(2**70), deep(200), deep(5000), "\ud800", b"bytes", {"a": b"\xff"}, {1: 2}, (1, 2)],
)
def test_any_value_can_be_judged(value: Json) -> None:
    assert isinstance(problems({"type": "object", "properties": {"a": {"type": "string"}}}, value), list)


def test_bytes_stand_for_text() -> None:
    assert problems({"type": "object", "properties": {"a": {"type": "string"}}}, {"a": b"\xff"}) == []
    assert problems({"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": b"\xff"}) != []


def test_a_pattern_that_never_ends_says_nothing() -> None:
    schema = {"type": "string", "pattern": r"(a*)*\1b"}
    assert problems(schema, "a" * 60) == []
    assert problems(schema, "c") != []


def test_messages_are_short_and_on_one_line() -> None:
    (said,) = problems({"type": "integer"}, "x\n" * 5000)
    assert len(said) < 310
    assert "\n" not in said


def test_violations_end_somewhere() -> None:
    assert len(problems({"items": {"type": "string"}}, list(range(1000)))) == 50


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_what_is_allowed_anything_is_never_wrong(value: Json) -> None:
    schemas = Schemas(contract_of({"$ref": f"{HOME}Any"}, Any={}))
    schema = only(read_contract(openapi(answering({})))).answers[0].contents["application/json"]
    assert schema is not None
    assert schemas.errors(schema, value, direction="response") == []
    assert schemas.errors({"$ref": f"{HOME}Any"}, value, direction="response") == []
