"""What is forgiven is forgiven within `oneOf` and `anyOf` too, and no more."""

from typing import Any

import pytest
from tests.skills.api.library_contract import contract, post

from whet.skills.api.contract.reading import read_contract
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.oracles.answers import Answers
from whet.skills.api.oracles.keeping import Keeping
from whet.skills.api.oracles.routing import Routing
from whet.skills.api.writing import write
from whet.tools.http.messages import Response

COUNT = {"type": "integer", "minimum": 1}
CAT = {
    "type": "object", "required": ["lives"], "additionalProperties": False,
    "properties": {"kind": {"type": "string"}, "lives": COUNT, "id": {"type": "integer", "readOnly": True}},
}  # fmt: skip
DOG = {
    "type": "object", "required": ["barks"], "additionalProperties": False,
    "properties": {
        "kind": {"type": "string"}, "barks": {"type": "boolean"}, "tags": {"type": "array", "uniqueItems": True},
    },
}  # fmt: skip
NAMED = {"oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}]}
TOLD = {**NAMED, "discriminator": {"propertyName": "kind"}}
PETS = {"type": "object", "properties": {"pet": NAMED, "all": {"type": "array", "items": {"anyOf": [CAT, DOG]}}}}
LOOSE = {"oneOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}]}


def judged(schema: Any, value: Any, media: str = "application/json") -> tuple[bool, bool]:
    """Whether it breaks the contract for certain; and if so, whether only for a strict reader."""
    library = contract(schema, media, {"Cat": CAT, "Dog": DOG}, parameters=[])
    draft = Draft(post(library), path={"shelf": "ab"}, body=value, media=media)
    keeping = Keeping(Schemas(library))
    return bool(keeping.broken(draft)), keeping.forgivable(draft)


@pytest.mark.parametrize("where", [lambda one: one, lambda one: {"pet": one}, lambda one: {"all": [one, {"lives": 9}]}])
@pytest.mark.parametrize(
    ("pet", "broken", "forgivable"),
    [
        ({"lives": 9}, False, False),
        ({"lives": 9, "id": 7}, False, False),  # read-only: ignored
        ({"barks": True, "tags": [1, 1]}, False, False),  # a set
        ({"lives": "9"}, True, True),
        ({"barks": "true"}, True, True),
        ({"lives": "nine"}, True, False),
        ({"lives": "0"}, True, False),  # read as a number it is still too small
        ({"lives": "9", "wings": 2}, True, False),
        ({"lives": 9, "barks": True}, True, False),
        ({}, True, False),
    ],
)
def test_within_alternatives(where: Any, pet: Any, broken: bool, forgivable: bool) -> None:
    value = where(pet)
    schema = NAMED if value is pet else PETS
    assert judged(schema, value) == (broken, forgivable)


def test_where_the_value_says_which_it_is_no_other_alternative_forgives() -> None:
    assert judged(TOLD, {"kind": "Cat", "lives": "9"}) == (True, True)
    assert judged(TOLD, {"kind": "Cat", "barks": "true"}) == (True, False)
    assert judged(NAMED, {"kind": "Cat", "barks": "true"}) == (True, True)


def test_alternatives_that_overlap_are_nobodys_fault() -> None:
    assert judged(LOOSE, {"a": 1}) == (False, False)
    library = contract(LOOSE, parameters=[])
    draft = Draft(post(library), path={"shelf": "ab"}, body={"a": 1}, media="application/json")
    assert not Keeping(Schemas(library)).kept(draft), "but whoever refuses it has the letter on his side"


def test_an_answer_that_fits_several_alternatives_is_as_promised() -> None:
    answers = {"200": {"description": "", "content": {"application/json": {"schema": LOOSE}}}}
    made = contract(parameters=[])
    document = {**made.given, "paths": {"/a": {"get": {"responses": answers}}}}
    read = read_contract(document)
    draft = Draft(read.operations[0])
    told = Answers(read, Schemas(read), Routing(read))

    def said(body: bytes) -> list[str]:
        response = Response(200, (("content-type", "application/json"),), body)
        return [one.kind for one in told.judge(Exchange(1, draft, write(draft, ""), response))]

    assert said(b'{"a": 1}') == []
    assert said(b"[]") == ["schema-violation"]


@pytest.mark.parametrize(
    ("ids", "broken"), [("1,2", False), ("1,b", True), ([1, 2], False), ("5", False), ("0,5", True), (["x"], True)]
)
def test_a_list_in_a_query_is_read_to_its_end(ids: Any, broken: bool) -> None:
    """Forgiven is the comma, not what stands between commas."""
    parameter = {"name": "ids", "in": "query", "schema": {"type": "array", "items": COUNT}}
    library = contract(parameters=[parameter])
    get = library.operation("GET /shelves/{shelf}/books")
    assert get is not None
    assert bool(Keeping(Schemas(library)).broken(Draft(get, path={"shelf": "ab"}, query={"ids": ids}))) is broken
