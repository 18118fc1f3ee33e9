"""Drafts made to be valid are valid, say where each value came from, and can be made again from the same seed."""

import random
import re
from collections.abc import Sequence
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.skills.api.library_contract import PARAMETERS, SCHEMAS, contract, post

from whet.skills.api.contract.model import Contract, Json
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import NO_BODY, Draft
from whet.skills.api.values.constrained import scalar
from whet.skills.api.values.drafts import Values
from whet.skills.api.values.formats import FORMATS
from whet.skills.api.values.patterns import matching
from whet.skills.api.values.slots import NOTHING, Absent, Include, Slot, Source

LIBRARY = contract()
LIBRARY_SCHEMAS = Schemas(LIBRARY)


def at_random(seed: int, observed: Any = None, schemas: Schemas = LIBRARY_SCHEMAS) -> Values:
    rng = random.Random(seed)
    return Values(schemas, rng, lambda _, possible: rng.choice(possible), observed)


def always(source: Source, seed: int = 0, schemas: Schemas = LIBRARY_SCHEMAS) -> Values:
    def choose(_: Slot, possible: Sequence[Source]) -> Source:
        return source if source in possible else possible[0]

    return Values(schemas, random.Random(seed), choose)


def drafted(values: Values, library: Contract = LIBRARY, include: Include = 0.5) -> tuple[Draft, dict[str, Source]]:
    operation = post(library)
    return values.draft_for(operation, operation.bodies[0], include)


def body_of(values: Values, library: Contract = LIBRARY, include: Include = 0.5) -> Any:
    return drafted(values, library, include)[0].body


def check(schema: Any, value: Json) -> None:
    """By a validator that knows nothing of Whet."""
    named = {
        name: {**one, "required": [key for key in one.get("required", []) if key != "id"]}
        for name, one in SCHEMAS.items()
    }
    jsonschema_rs.validate({**schema, "components": {"schemas": named}}, value, validate_formats=True)


@settings(max_examples=60, deadline=None)
@given(st.integers(), st.floats(0.0, 1.0))
def test_drafts_keep_their_contract(seed: int, include: float) -> None:
    draft, _ = drafted(at_random(seed), include=include)
    assert draft.broken is None
    check({"$ref": "#/components/schemas/Book"}, draft.body)
    for one in PARAMETERS:
        values = draft.values(one["in"])
        assert not one.get("required") or one["name"] in values
        if one["name"] in values:
            jsonschema_rs.validate(one["schema"], values[str(one["name"])])


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        ("string", {"minLength": 20, "maxLength": 22}),
        ("integer", {"exclusiveMinimum": 3, "maximum": 5}),
        ("integer", {"minimum": 10, "multipleOf": 7, "exclusiveMaximum": 22}),
        ("integer", {"minimum": 1, "maximum": 9, "multipleOf": 1.5}),
        ("number", {"exclusiveMinimum": 0, "exclusiveMaximum": 0.02}),
        ("number", {"minimum": 1, "maximum": 3, "multipleOf": 0.5}),
    ],
)
def test_scalars_are_drawn_within_their_limits(kind: str, schema: dict[str, Any]) -> None:
    for seed in range(60):
        drawn = scalar(kind, schema, random.Random(seed), plain=False)
        jsonschema_rs.validate({**schema, "type": kind}, drawn)


def test_limits_that_nothing_meets_give_nothing() -> None:
    assert scalar("integer", {"minimum": 8, "maximum": 9, "multipleOf": 7}, random.Random(1), plain=True) is NOTHING


BOUNDS = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted)
TEXTS = st.one_of(
    BOUNDS.map(lambda two: {"type": "string", "minLength": two[0], "maxLength": two[1]}),
    st.sampled_from(sorted(FORMATS)).map(lambda name: {"type": "string", "format": name}),
    st.sampled_from([r"^[a-z]+$", r"\d{3}", r"^(a|b)?c*$", r"^[^/\s]{2,5}$", "^x"]).map(
        lambda one: {"type": "string", "pattern": one}
    ),
    st.lists(st.sampled_from(["a", "b", 1, None]), min_size=1, unique=True).map(lambda some: {"enum": some}),
)
NUMBERS = st.one_of(
    BOUNDS.map(lambda two: {"type": "integer", "minimum": two[0], "maximum": two[1]}),
    BOUNDS.map(lambda two: {"type": "number", "minimum": two[0], "maximum": two[1]}),
    st.integers(-50, 50).map(lambda one: {"type": "integer", "exclusiveMinimum": one, "multipleOf": 7}),
    st.integers(-50, 50).map(lambda one: {"type": "number", "exclusiveMaximum": one}),
)
OTHERS = st.sampled_from([{"type": "boolean"}, {"type": "null"}, {}, {"const": [1]}, {"type": ["string", "null"]}])


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    arrays = st.tuples(inner, st.integers(0, 3), st.integers(0, 3)).map(
        lambda made: {"type": "array", "items": made[0], "minItems": min(made[1:]), "maxItems": max(made[1:])}
    )
    objects = st.tuples(
        st.dictionaries(st.sampled_from("abc"), inner), st.sets(st.sampled_from("abc")), inner | st.booleans()
    ).map(
        lambda made: {
            "type": "object",
            "properties": made[0],
            "required": sorted(made[1] & made[0].keys()),
            "additionalProperties": made[2],
        }
    )
    unions = st.lists(inner, min_size=1, max_size=3).map(lambda some: {"anyOf": some})
    both = st.tuples(objects, objects).map(
        lambda two: {
            "allOf": [
                {
                    **one,
                    "properties": {f"{place}{key}": schema for key, schema in one["properties"].items()},
                    "required": [f"{place}{key}" for key in one["required"]],
                    "additionalProperties": True,
                }
                for place, one in enumerate(two)
            ]
        }
    )
    return arrays | objects | unions | both


@settings(max_examples=80, deadline=None)
@given(st.recursive(TEXTS | NUMBERS | OTHERS, containers, max_leaves=6), st.integers())
def test_any_schema_that_can_be_met_is_met(schema: Any, seed: int) -> None:
    library = contract(schema, schemas={})
    draft, _ = drafted(at_random(seed, schemas=Schemas(library)), library)
    assert draft.broken is None
    assert draft.body is not NO_BODY
    jsonschema_rs.validate(schema, draft.body)


@settings(max_examples=15, deadline=None)
@given(st.integers())
def test_the_same_seed_makes_the_same_draft(seed: int) -> None:
    assert drafted(at_random(seed)) == drafted(at_random(seed))


def test_what_is_read_only_is_never_sent_though_it_is_required() -> None:
    body = body_of(at_random(1), include=1.0)
    assert "id" not in body
    assert {"title", "kind", "pages", "author"} <= body.keys()


def test_only_what_is_required_when_nothing_else_is_wanted() -> None:
    draft, sources = drafted(at_random(1), include=0.0)
    assert isinstance(draft.body, dict)
    assert draft.body.keys() == {"title", "kind", "pages"}
    assert (set(draft.query), dict(draft.headers)) == ({"sort"}, {})
    assert sources.keys() == {"path.shelf", "query.sort", "body", "body.title", "body.kind", "body.pages"}


def test_each_optional_slot_is_asked_for() -> None:
    asked: list[str] = []

    def include(slot: Slot) -> bool:
        asked.append(slot.place)
        return slot.name == "price"

    assert body_of(at_random(1), include=include).keys() == {"title", "kind", "pages", "price"}
    assert {"query.limit", "header.X-Trace", "cookie.session", "body.tags", "body.author"} <= set(asked)


def test_the_discriminator_names_the_alternative() -> None:
    covers = [body_of(at_random(seed), include=1.0)["cover"] for seed in range(40)]
    assert {(cover["type"], "weight" in cover) for cover in covers} == {("hard", True), ("Soft", False)}


def test_what_names_the_alternative_is_always_given() -> None:
    """By their own word, `type` may be left out; nobody could tell which of them is meant."""
    kinds = {
        name: {"type": "object", "properties": {"type": {"const": name, "type": "string"}, "n": {"type": "integer"}}}
        for name in ("Cron", "Interval")
    }
    chosen = {"propertyName": "type", "mapping": {name: f"#/components/schemas/{name}" for name in kinds}}
    body = {"oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in kinds], "discriminator": chosen}
    library = contract(body, schemas=kinds)
    values = Values(Schemas(library), random.Random(0), lambda _, possible: possible[0])
    made = [values.draft_for(post(library), post(library).bodies[0], lambda _: False)[0].body for _ in range(20)]
    assert {one["type"] for one in made if isinstance(one, dict)} == set(kinds)


def test_examples_are_used_where_there_are_some() -> None:
    draft, sources = drafted(always(Source.EXAMPLE), include=1.0)
    assert isinstance(draft.body, dict)
    assert (draft.query["limit"], draft.body["available"]) == (10, True)
    assert sources["query.limit"] is Source.EXAMPLE
    assert sources["body.title"] is not Source.EXAMPLE


def test_boundaries_are_extreme_and_valid() -> None:
    pages = {body_of(always(Source.BOUNDARY, seed))["pages"] for seed in range(40)}
    assert {1, 5000} <= pages <= {1, 2, 4999, 5000}
    titles = {len(body_of(always(Source.BOUNDARY, seed))["title"]) for seed in range(60)}
    assert {3, 40} <= titles


def test_realistic_values_look_like_their_names() -> None:
    schema = {
        "type": "object",
        "properties": {
            name: {"type": "string"} for name in ("userEmail", "homepage_url", "country_code", "first_name")
        },
    }
    library = contract({**schema, "required": list(schema["properties"])})
    body = body_of(always(Source.REALISTIC, schemas=Schemas(library)), library)
    assert re.fullmatch(r"\S+@example\.com", body["userEmail"])
    assert body["homepage_url"].startswith("https://example.com/")
    assert re.fullmatch("[A-Z]{2}", body["country_code"])
    assert body["first_name"].istitle()


def test_observed_values_are_taken_as_the_slot_can_have_them() -> None:
    seen: dict[str, Json] = {"query.limit": "7", "path.shelf": 12, "body.pages": 99_999, "body.title": "seen before"}

    def observed(slot: Slot) -> Json | Absent:
        return seen.get(slot.place, NOTHING)

    values = Values(LIBRARY_SCHEMAS, random.Random(1), lambda _, possible: possible[-1], observed)
    draft, sources = drafted(values, include=1.0)
    assert isinstance(draft.body, dict)
    assert (draft.query["limit"], draft.path["shelf"], draft.body["title"]) == (7, "12", "seen before")
    assert sources["body.title"] is Source.OBSERVED
    assert sources["body.pages"] is not Source.OBSERVED  # 99,999 is more than the contract allows


def test_a_slot_is_chosen_once_for_all_elements_of_an_array() -> None:
    asked: list[str] = []

    def choose(slot: Slot, possible: Sequence[Source]) -> Source:
        asked.append(slot.place)
        return possible[0]

    library = contract({"type": "array", "items": {"type": "string"}, "minItems": 3})
    drafted(Values(Schemas(library), random.Random(1), choose), library)
    assert asked.count("body[]") == 1


def test_a_schema_that_contains_itself_ends() -> None:
    node: dict[str, Any] = {
        "type": "object",
        "required": ["next"],
        "properties": {"next": {"$ref": "#/components/schemas/Node"}},
    }
    endless = contract({"$ref": "#/components/schemas/Node"}, schemas={"Node": node})
    assert drafted(at_random(1, schemas=Schemas(endless)), endless)[0].broken == "no value was found that body allows"
    node["properties"] = {"next": {"anyOf": [{"$ref": "#/components/schemas/Node"}, {"type": "null"}]}}
    finite = contract({"$ref": "#/components/schemas/Node"}, schemas={"Node": node})
    assert drafted(at_random(1, schemas=Schemas(finite)), finite)[0].broken is None


def test_forms_have_files_and_no_null() -> None:
    schema = {
        "type": "object", "required": ["file", "note"],
        "properties": {"file": {"type": "string", "format": "binary"}, "note": {"type": "string", "nullable": True}},
    }  # fmt: skip
    library = contract(schema, "multipart/form-data")
    for seed in range(20):
        body = body_of(at_random(seed, schemas=Schemas(library)), library)
        assert isinstance(body["file"], bytes)
        assert isinstance(body["note"], str)


def test_a_path_value_is_never_empty_though_the_contract_allows_it() -> None:
    library = contract(parameters=[{"name": "shelf", "in": "path", "required": True, "schema": {"type": "string"}}])
    values = always(Source.BOUNDARY, schemas=Schemas(library))
    assert all(str(drafted(values, library)[0].path["shelf"]).strip(". ") for _ in range(60))


def test_one_value_for_one_slot() -> None:
    slot = Slot("POST /shelves/{shelf}/books", "query.limit", {"type": "integer", "minimum": 3, "maximum": 4}, True)
    values = at_random(1)
    assert {values.value(slot, source) for source in Source for _ in range(10)} == {3, 4}


PATTERNS = [
    r"^[a-z0-9]+(-[a-z0-9]+)*$", r"^\d{4}-\d{2}$", r"[A-F]{2}", r"^(?=.*\d).{4,8}$", r"^(?!x)[w-z]{3}$", r"^\p{L}+$",
    r"^(?<year>\d+)$", r"^[^aeiou\d]{1,4}$", r"^(a|bc|)d?$", r"^\+?[1-9]\d{1,14}$", r"^.{10,}$", r"(x)\1",
    r"^[-\w._]+$", r"^[\p{L}-]+$",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
@given(seed=st.integers())
@settings(max_examples=10, deadline=None)
def test_texts_match_their_pattern(pattern: str, seed: int) -> None:
    made = matching(pattern, random.Random(seed))
    assert made is not None
    assert re.search(
        pattern.replace(r"[\p{L}-]", "[a-zA-Z-]").replace(r"\p{L}", "[a-zA-Z]").replace("(?<y", "(?P<y"), made
    )


def test_patterns_mind_the_length_and_give_up() -> None:
    rng = random.Random(1)
    assert all(30 <= len(matching("^[a-z]+$", rng, 30, 40) or "") <= 40 for _ in range(20))
    assert len(matching("x", rng, 20) or "") >= 20
    assert matching("^abc$", rng, 5) is None
    assert matching("(unclosed", rng) is None
