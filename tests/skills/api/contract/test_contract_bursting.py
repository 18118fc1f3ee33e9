"""Short documents that ask for endless work: they are read, drafted from and held against values in no time."""

import random
from collections.abc import Mapping
from typing import Any

import pytest
from tests.skills.api.contract.made_contracts import only, openapi, taking

from whet.skills.api.contract.comparing import compare
from whet.skills.api.contract.reading import read_contract
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import NO_BODY, Draft
from whet.skills.api.oracles.keeping import Keeping
from whet.skills.api.values.drafts import Values
from whet.skills.api.values.slots import Source

Json = Any
LEVELS, WIDTH = 12, 6
LAST = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def same(key: str) -> Mapping[str, Json]:
    """Each level leads to the next one six times."""
    levels = {f"L{level}": {key: [ref(f"L{level + 1}")] * WIDTH} for level in range(LEVELS)}
    return {**levels, f"L{LEVELS}": LAST}


def crossing(key: str) -> Mapping[str, Json]:
    """Each schema of a level leads to each of the next."""
    levels = {
        "L0" if level == place == 0 else f"L{level}_{place}": {
            "title": f"{level} {place}",
            key: [ref(f"L{level + 1}_{below}") for below in range(WIDTH)],
        }
        for level in range(LEVELS)
        for place in range(WIDTH)
    }
    return {**levels, **{f"L{LEVELS}_{place}": {**LAST, "title": str(place)} for place in range(WIDTH)}}


def nested(depth: int, least: int) -> Json:
    made: Json = {"type": "integer"}
    for _ in range(depth):
        made = {"type": "array", "minItems": least, "items": made}
    return made


BURSTING: dict[str, Mapping[str, Json]] = {
    **{f"the same in {key}": same(key) for key in ("allOf", "anyOf", "oneOf")},
    **{f"crossing in {key}": crossing(key) for key in ("allOf", "anyOf", "oneOf")},
    **{f"itself in {key}": {"L0": {key: [ref("L0"), ref("L0"), LAST]}} for key in ("allOf", "anyOf", "oneOf")},
    "a chain": {**{f"L{place}": ref(f"L{place + 1}") for place in range(3_000)}, "L3000": LAST},
    "many items": {"L0": {"type": "array", "minItems": 10**8, "items": {"type": "integer"}}},
    "items in items": {"L0": nested(4, 1_000)},
    "few items in many": {"L0": nested(10, 20)},
    "no two alike": {"L0": {"type": "array", "uniqueItems": True, "minItems": 6_000, "items": {"type": "integer"}}},
    "a long text": {"L0": {"type": "string", "minLength": 10**9}},
    "a long pattern": {"L0": {"type": "string", "pattern": "^((((a{100}){100}){100}){100})$"}},
    "a pattern of length": {"L0": {"type": "string", "pattern": "^([a-z]+)+$", "minLength": 10**6}},
    "many names": {"L0": {"type": "object", "minProperties": 10**8}},
    "beyond numbers": {"L0": {"type": "integer", "minimum": 10**400}},
    "tiny steps": {"L0": {"type": "number", "minimum": 1, "multipleOf": 1e-300}},
    "many tiny steps": {"L0": {"type": "number", "minimum": 1e307, "multipleOf": 1e-11}},
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("schemas", BURSTING.values(), ids=BURSTING)
@pytest.mark.parametrize("source", Source)
def test_no_document_decides_time_or_memory(schemas: Mapping[str, Json], source: Source) -> None:
    contract = read_contract(openapi(taking(ref("L0")), components={"schemas": schemas}))
    known = Schemas(contract)
    operation = only(contract)
    values = Values(known, random.Random(0), lambda _, possible: source if source in possible else possible[0])
    draft, _ = values.draft_for(operation, operation.bodies[0])
    Keeping(known).broken(draft)
    for body in (1, {"a": 1}, {"a": "1"}, [[[1]]], "a"):
        Keeping(known).broken(Draft(operation, body=body, media="application/json"))
    assert compare(contract, contract) == []


def test_what_multiplies_is_cut_and_told() -> None:
    contract = read_contract(openapi(taking(ref("L0")), components={"schemas": crossing("anyOf")}))
    assert any("leads to too many other schemas; that part of it was left out" in note for note in contract.notes)


def test_alternatives_of_real_documents_stay() -> None:
    """Hundreds of kinds of one thing, and a parent that names its children, which are the parent and more."""
    kinds = {f"K{place}": {**LAST, "title": str(place)} for place in range(400)}
    family = {
        "Pet": {"oneOf": [ref("Cat"), ref("Dog")]},
        "Cat": {"allOf": [ref("Pet"), LAST]},
        "Dog": {"allOf": [ref("Pet"), LAST]},
    }
    schemas = {"L0": {"oneOf": [*map(ref, kinds), ref("Pet")]}, **kinds, **family}
    contract = read_contract(openapi(taking(ref("L0")), components={"schemas": schemas}))
    assert contract.notes == ()
    assert len(contract.document["components"]["schemas"]["L0"]["oneOf"]) == 401


def test_a_thing_of_too_many_names_is_not_made() -> None:
    names = [f"p{place}" for place in range(21_000)]
    schemas = {"L0": {"type": "object", "properties": {name: {} for name in names}, "required": names}}
    contract = read_contract(openapi(taking(ref("L0")), components={"schemas": schemas}))
    values = Values(Schemas(contract), random.Random(0), lambda _, possible: possible[0])
    draft, _ = values.draft_for(only(contract), only(contract).bodies[0])
    assert draft.body is NO_BODY
    assert draft.broken == "no value was found that body allows"
