"""`$ref` in every place and form, circles included; nothing outside the document is fetched."""

from typing import Any

import pytest
from tests.skills.api.contract.made_contracts import answering, only, openapi, swagger, taking

from whet.skills.api.contract.model import Contract
from whet.skills.api.contract.reading import read_contract
from whet.skills.api.contract.schemas import Schemas

HOME = "#/components/schemas/"


def seen(contract: Contract) -> Any:
    """The answer's schema with its reference followed."""
    return Schemas(contract).resolve(only(contract).answers[0].contents["application/json"] or {})


@pytest.mark.parametrize("ref", [f"{HOME}a~1b c", f"{HOME}a~1b%20c", f"{HOME}a%2Fb%20c"])
def test_escapes(ref: str) -> None:
    document = openapi(answering({"$ref": ref}), components={"schemas": {"a/b c": {"type": "integer"}}})
    assert seen(read_contract(document)) == {"type": "integer"}


def test_a_reference_to_a_reference() -> None:
    named = {"A": {"$ref": f"{HOME}B"}, "B": {"$ref": f"{HOME}C"}, "C": {"type": "integer"}}
    assert seen(read_contract(openapi(answering({"$ref": f"{HOME}A"}), components={"schemas": named}))) == {
        "type": "integer"
    }


def test_references_that_circle_say_nothing() -> None:
    named = {"A": {"$ref": f"{HOME}B"}, "B": {"$ref": f"{HOME}A"}}
    contract = read_contract(openapi(answering({"$ref": f"{HOME}A"}), components={"schemas": named}))
    assert seen(contract) == {}
    assert Schemas(contract).errors({"$ref": f"{HOME}A"}, 3, direction="response") == []


def test_a_tree_stays_finite() -> None:
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": f"{HOME}Tree"}}}}
    contract = read_contract(openapi(answering({"$ref": f"{HOME}Tree"}), components={"schemas": {"Tree": tree}}))
    value = {"children": [{"children": [{"children": 3}]}]}
    (error,) = Schemas(contract).errors({"$ref": f"{HOME}Tree"}, value, direction="response")
    assert error.instance == "children/0/children/0/children"
    assert error.schema == "components/schemas/Tree/properties/children/type"


def test_a_reference_into_the_middle_of_the_document() -> None:
    paths = answering({"type": "object", "properties": {"id": {"type": "integer"}}})
    there = "#/paths/~1thing/get/responses/200/content/application~1json/schema/properties/id"
    paths["/thing"]["get"]["parameters"] = [{"in": "query", "name": "id", "schema": {"$ref": there}}]
    contract = read_contract(openapi(paths))
    assert Schemas(contract).resolve(only(contract).parameters[0].schema) == {"type": "integer"}


@pytest.mark.parametrize(
    "ref", ["http://169.254.169.254/x.json", "other.yaml#/Pet", "file:///etc/passwd", "../a.json", f"{HOME}Nobody", "#"]
)
def test_what_is_not_there_allows_anything_and_is_noted(ref: str) -> None:
    contract = read_contract(openapi(answering({"type": "object", "properties": {"a": {"$ref": ref}}})))
    schemas = Schemas(contract)
    schema = only(contract).answers[0].contents["application/json"]
    assert schema is not None
    assert schemas.errors(schema, {"a": object}, direction="response") == []
    assert (ref == "#") or any(ref in note for note in contract.notes)


def test_siblings_count_from_3_1_on_and_descriptions_always() -> None:
    beside = {"$ref": f"{HOME}A", "description": "mine", "maxLength": 3}
    components = {"schemas": {"A": {"type": "string", "description": "theirs"}}}
    old = seen(read_contract(openapi(answering(beside), components=components)))
    assert old == {"type": "string", "description": "mine"}
    new = seen(read_contract(openapi(answering(beside), version="3.1.0", components=components)))
    assert new == {"type": "string", "description": "mine", "maxLength": 3}


def test_nullable_beside_a_reference_is_heard() -> None:
    components = {"schemas": {"A": {"type": "string"}}}
    contract = read_contract(openapi(answering({"$ref": f"{HOME}A", "nullable": True}), components=components))
    assert seen(contract) == {"anyOf": [{"$ref": f"{HOME}A"}, {"type": "null"}]}


def test_anchors_ids_and_bare_names() -> None:
    named = {"A": {"$id": "https://example.com/a", "type": "integer"}, "B": {"$anchor": "bee", "type": "boolean"}}
    for ref, kind in (("https://example.com/a", "integer"), ("#bee", "boolean")):
        document = openapi(answering({"$ref": ref}), version="3.1.0", components={"schemas": named})
        assert seen(read_contract(document))["type"] == kind
    answers = {"200": {"description": "", "schema": {"$ref": "Pet"}}}
    document = swagger({"/a": {"get": {"responses": answers}}}, definitions={"Pet": {"type": "integer"}})
    contract = read_contract(document)
    assert Schemas(contract).resolve(only(contract).answers[0].contents["*/*"] or {}) == {"type": "integer"}


def test_parameters_answers_bodies_and_paths_by_reference() -> None:
    thing: dict[str, Any] = {"parameters": [{"$ref": "#/components/parameters/Limit"}]}
    thing |= {"requestBody": {"$ref": "#/components/requestBodies/Pet"}}
    thing |= {"responses": {"200": {"$ref": "#/components/responses/Pet"}}}
    content = {"application/json": {"schema": {"type": "integer"}}}
    components = {
        "parameters": {
            "Limit": {"$ref": "#/components/parameters/Real"},
            "Real": {"in": "query", "name": "limit", "schema": {"type": "integer"}},
        },
        "requestBodies": {"Pet": {"content": content}},
        "responses": {"Pet": {"description": "", "content": content}},
        "pathItems": {"Thing": {"post": thing}},
    }
    operation = only(read_contract(openapi({"/a": {"$ref": "#/components/pathItems/Thing"}}, components=components)))
    assert operation.id == "POST /a"
    assert [one.name for one in operation.parameters] == ["limit"]
    assert operation.bodies[0].schema == operation.answers[0].contents["application/json"] == {"type": "integer"}


def test_circles_outside_schemas_are_left_out() -> None:
    circle = {"$ref": "#/components/parameters/A"}
    paths = taking({})
    paths["/thing"]["post"] |= {"parameters": [circle], "responses": {"200": {"$ref": "#/components/responses/A"}}}
    components = {"parameters": {"A": circle}, "responses": {"A": {"$ref": "#/components/responses/A"}}}
    paths["/b"] = {"$ref": "#/paths/~1b"}
    contract = read_contract(openapi(paths, components=components))
    assert only(contract).parameters == ()
    assert only(contract).answers[0].contents == {}
    assert sum("refers to itself" in note for note in contract.notes) == 3


def test_equal_names_from_different_places_stay_apart() -> None:
    answers = {"200": {"description": "", "content": {"a/b": {"schema": {"$ref": f"{HOME}A"}}}}}
    other = {"$ref": "#/components/x-more/A"}
    paths = {"/a": {"get": {"parameters": [{"in": "query", "name": "q", "schema": other}], "responses": answers}}}
    document = openapi(paths, components={"schemas": {"A": {"type": "integer"}}, "x-more": {"A": {"type": "boolean"}}})
    contract = read_contract(document)
    schemas = Schemas(contract)
    assert schemas.resolve(only(contract).parameters[0].schema) == {"type": "boolean"}
    assert schemas.resolve(only(contract).answers[0].contents["a/b"] or {}) == {"type": "integer"}


def test_what_a_discriminator_names_is_found() -> None:
    pet = {"oneOf": [{"$ref": f"{HOME}Cat"}], "discriminator": {"propertyName": "kind", "mapping": {"cat": "Cat"}}}
    contract = read_contract(openapi(answering(pet), components={"schemas": {"Cat": {"type": "object"}}}))
    mapping = seen(contract)["discriminator"]["mapping"]
    assert Schemas(contract).resolve({"$ref": mapping["cat"]}) == {"type": "object"}
