"""Where a kind of mutation is tried: at any value, in requests that have all there can be."""

import json

from tests.skills.api.small_service import Answer, Heard, contract, does, exploring, operation, record, served

TEXT = {"type": "string"}
MAYBE = {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"like": TEXT, "any": {"type": "array",
         "items": TEXT}}}], "default": None}  # fmt: skip
SEARCH = {"requestBody": {"content": {"application/json": {"schema": record((), names=MAYBE, limit={
    "type": "integer", "nullable": True})}}}}  # fmt: skip
MADE = contract({
    "/search": {"post": {**does("200"), **SEARCH}},
    "/notes": {"post": does("201", body=record(("a", "b", "c"), a=TEXT, b=TEXT, c=TEXT))},
}, openapi="3.1.0")  # fmt: skip
SEARCHING, NOTING = operation(MADE, "POST /search"), operation(MADE, "POST /notes")


def answering(_: Heard) -> Answer:
    return 200, {}


def test_a_full_request_has_its_optional_body_and_no_null_where_something_else_may_stand() -> None:
    with served(answering) as small, exploring(MADE, small) as explorer:
        for _ in range(40):
            body = explorer.drafting.full(SEARCHING).draft.body
            assert isinstance(body, dict)
            assert isinstance(body["limit"], int)
            assert body["names"].keys() == {"like", "any"}
            assert body["names"]["any"]


def test_kinds_that_have_a_place_in_what_is_optional_are_found_with_every_seed() -> None:
    for seed in range(10):
        with served(answering) as small, exploring(MADE, small, seed) as explorer:
            explorer._survey(SEARCHING)
            at = explorer.sequencing.kinds.place
            weights = explorer.sequencing._weight[0]
            assert all(weights[at[kind]] for kind in ("lone-surrogate@body", "infinity@body", "cut-json"))
            assert not weights[at["lone-surrogate@path"]]


def test_any_value_of_what_worked_may_be_changed() -> None:
    with served(answering) as small, exploring(MADE, small) as explorer:
        plain = explorer.drafting.new(NOTING)
        explorer.drafting.remember(plain, ok=True)
        made = [explorer.mutating.make(NOTING, "nul-character@body") for _ in range(40)]
    bodies = [one.draft.body for one in made if one is not None]
    assert {name for body in bodies if isinstance(body, dict) for name in body if "\0" in body[name]} == set("abc")


def test_where_what_worked_has_no_such_value_others_are_given() -> None:
    """What worked was empty; the contract allows more."""
    with served(answering) as small, exploring(MADE, small) as explorer:
        plain = explorer.drafting.new(SEARCHING)
        while plain.draft.body != {}:
            plain = explorer.drafting.new(SEARCHING)
        explorer.drafting.remember(plain, ok=True)
        made = [explorer.mutating.make(SEARCHING, "nul-character@body") for _ in range(10)]
    changed = [json.dumps(one.draft.body) for one in made if one is not None]
    assert len(changed) == 10
    assert all("\\u0000" in body for body in changed)
