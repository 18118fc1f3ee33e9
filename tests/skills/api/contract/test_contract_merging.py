"""`allOf` as one flat schema: it allows the same values, wherever it is fully flat."""

from typing import Any

import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st
from tests.skills.api.contract.made_contracts import answering, openapi

from whet.skills.api.contract.reading import read_contract
from whet.skills.api.contract.schemas import Schemas

Json = Any
HOME = "#/components/schemas/"


def flat(schema: Json, **named: Json) -> Json:
    document = openapi(answering({"allOf": [{"$ref": f"{HOME}{name}"} for name in named] or [{}]}),
                       components={"schemas": named}, version="3.1.0")  # fmt: skip
    return Schemas(read_contract(document)).merged(schema)


def test_inheritance() -> None:
    base = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "description": "base"}
    cat = {"allOf": [{"$ref": f"{HOME}Base"}, {"properties": {"lives": {"type": "integer"}}, "required": ["lives"]}]}
    made = flat({"$ref": f"{HOME}Cat", "description": "cat"}, Base=base, Cat=cat)
    assert made["properties"] == {"id": {"type": "integer"}, "lives": {"type": "integer"}}
    assert made["required"] == ["id", "lives"]
    assert made["description"] == "cat"
    assert "allOf" not in made


def test_limits_and_types() -> None:
    parts = [{"type": ["integer", "string"], "minimum": 1, "maxLength": 5, "enum": [1, 2, 3]},
             {"type": "number", "minimum": 2, "maxLength": 4, "enum": [2, 3, 4]}]  # fmt: skip
    expected = {"type": "integer", "minimum": 2, "maxLength": 4, "enum": [2, 3]}
    assert flat({"allOf": parts}) == flat({"allOf": parts[::-1]}) == expected


def test_what_cannot_be_merged_stays() -> None:
    made = flat({"allOf": [{"oneOf": [{"minimum": 1}]}, {"oneOf": [{"maximum": 3}]}, {"pattern": "a"}]})
    assert made == {"oneOf": [{"minimum": 1}], "pattern": "a", "allOf": [{"oneOf": [{"maximum": 3}]}]}


def test_the_same_property_in_two_parts() -> None:
    made = flat({"allOf": [{"properties": {"a": {"minimum": 1}}}, {"properties": {"a": {"maximum": 3}}}]})
    assert made["properties"] == {"a": {"allOf": [{"minimum": 1}, {"maximum": 3}]}}


def test_conditions_stay_together() -> None:
    first = {"if": {"minimum": 1}, "then": {"maximum": 2}}
    second = {"if": {"minimum": 5}, "then": {"maximum": 2}, "else": {"minimum": 0}}
    assert flat({"allOf": [first, second]})["allOf"] == [second]


def test_parts_that_circle() -> None:
    made = flat({"$ref": f"{HOME}A"}, A={"allOf": [{"$ref": f"{HOME}B"}], "title": "a"},
                B={"allOf": [{"$ref": f"{HOME}A"}], "minimum": 1})  # fmt: skip
    assert made == {"title": "a", "minimum": 1}


def test_a_long_chain_and_a_wide_diamond() -> None:
    chain = {f"A{n}": {"allOf": [{"$ref": f"{HOME}A{n + 1}"}] * 2, "title": str(n)} for n in range(400)}
    assert flat({"$ref": f"{HOME}A0"}, **chain)["title"] == "0"


def test_flattened_twice_is_flattened_once() -> None:
    schemas = Schemas(read_contract(openapi(answering({}))))
    given = {"allOf": [{"oneOf": [{"minimum": 1}]}, {"oneOf": [{"maximum": 3}]}]}
    once = schemas.merged(given)
    assert schemas.merged(once) is once
    assert schemas.merged(given) is once


limits = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["integer", "number", "string", ["string", "null"], ["integer", "string"]]),
        "minimum": st.integers(-3, 3), "maximum": st.integers(-3, 3), "exclusiveMaximum": st.integers(-3, 3),
        "minLength": st.integers(0, 3), "maxLength": st.integers(0, 3), "pattern": st.sampled_from(["a", "^b"]),
        "multipleOf": st.integers(1, 3), "const": st.integers(0, 1),
        "anyOf": st.just([{"minimum": 0}, {"type": "string"}]), "not": st.sampled_from([{"const": 1}, {"const": "a"}]),
    },
)  # fmt: skip


def kinds_meet(parts: list[Json]) -> bool:
    """No value fits parts whose types have nothing in common; then the first part's types are kept."""
    types = [{"type": one["type"]} for one in parts if "type" in one]
    return any(jsonschema_rs.is_valid({"allOf": types or [{}]}, value) for value in (1, 1.5, "a", None))


@given(st.lists(limits, min_size=1, max_size=3), st.sampled_from([None, -1, 0, 1, 2, 1.5, "", "a", "ba", "abcd"]))
def test_the_flat_schema_allows_the_same(parts: list[Json], value: Json) -> None:
    schemas = Schemas(read_contract(openapi(answering({}))))
    made = schemas.merged({"allOf": parts})
    if kinds_meet(parts):
        assert jsonschema_rs.is_valid(dict(made), value) == jsonschema_rs.is_valid({"allOf": parts}, value)
