"""What the contract does not know may be refused: that contradicts nothing."""

from typing import Any

import pytest
from tests.skills.api.library_contract import contract, post
from tests.skills.api.oracles.made_service import CONTRACT, GOOD, answer, draft, kinds

from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft
from whet.skills.api.oracles.keeping import Keeping
from whet.skills.api.oracles.undeclared import undeclared

MANY = {f"whet_{number}": number for number in range(1_000)}
A = {"type": "object", "properties": {"a": {"type": "integer"}}}
B = {"type": "object", "properties": {"b": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("schema", "value", "unknown"),
    [
        (A, {"a": 1}, False),
        (A, {"a": 1, "z": 1}, True),
        (A, {}, False),
        ({**A, "additionalProperties": True}, {"z": 1}, False),
        ({**A, "additionalProperties": {"type": "integer"}}, {"z": 1}, False),
        ({"type": "object"}, {"z": 1}, False),
        ({}, {"z": {"y": 1}}, False),
        ({"allOf": [A, B]}, {"a": 1, "b": 1}, False),
        ({"allOf": [A, B]}, {"a": 1, "z": 1}, True),
        ({"oneOf": [A, B]}, {"b": 1}, False),
        ({"oneOf": [A, B]}, {"z": 1}, True),
        ({"anyOf": [A, {"type": "object"}]}, {"z": 1}, False),
        ({"anyOf": [A, {"type": "null"}]}, {"z": 1}, True),
        ({"type": "array", "items": A}, [{"a": 1}, {"z": 1}], True),
        ({**A, "properties": {"a": A}}, {"a": {"a": 1}}, False),
        ({**A, "properties": {"a": A}}, {"a": {"z": 1}}, True),
    ],
)
def test_properties(schema: Any, value: Any, unknown: bool) -> None:
    library = contract(schema, parameters=[])
    assert undeclared(Schemas(library), Draft(post(library), body=value, media="application/json")) is unknown


def test_a_thousand_unknown_fields_are_no_valid_input() -> None:
    """Nor is one, nor a parameter nobody declared: whoever refuses them refuses nothing that was promised."""
    refused: dict[str, Any] = {"detail": "what is all this?"}
    keeping = Keeping(Schemas(CONTRACT))
    for body in ({**GOOD, **MANY}, {**GOOD, "whet": 1}):
        assert not keeping.kept(draft("POST /items", body=body))
        assert kinds(*[answer(draft("POST /items", body={**body, "price": price}), 400, refused)
                       for price in range(20)]) == []  # fmt: skip
    assert keeping.kept(draft("POST /items", body=GOOD))
    assert kinds(answer(draft("GET /items", query={"whet": "1"}), 404, refused)) == []
    assert kinds(answer(draft("POST /items", body=GOOD), 404, refused)) == ["undocumented-status"]


def test_half_a_character_is_no_valid_input() -> None:
    """A lone surrogate fits a schema that says "string", and no encoding knows it."""
    keeping = Keeping(Schemas(CONTRACT))
    for title, kept in (("half \ud83d", False), ("whole \U0001f600", True)):
        assert keeping.kept(draft("POST /items", body={**GOOD, "title": title})) is kept
