"""A service that demands what its contract does not say is listened to."""

import random
from dataclasses import replace
from typing import Any

import pytest
from tests.skills.api.small_service import Answer, Heard, contract, does, exploring, operation, record, served, told

from whet.skills.api.exchange import Draft
from whet.skills.api.learning.hints import Hints
from whet.skills.api.values.slots import NOTHING, Slot

CONTRACT = contract({"/accounts": {"post": does("201", "422", body=record(name={"type": "string"}))}})
POST = operation(CONTRACT, "POST /accounts")


def asked(answer: Any, body: Any, status: int = 422) -> list[tuple[str, ...]]:
    hints = Hints(random.Random(0))
    hints.listen(told(POST, status, answer, body=body))
    return list(hints.asked.get(POST.id, {}))


@pytest.mark.parametrize(
    ("answer", "way"),
    [
        ({"detail": [{"loc": ["body", "owner"], "msg": "missing"}]}, ("owner",)),
        ({"errors": [{"field": "owner"}]}, ("owner",)),
        ({"errors": {"name": "data.owner"}}, ("data", "owner")),
        ({"pointer": "/data/owner"}, ("data", "owner")),
        ({"owner": ["Missing data for required field."]}, ("owner",)),
        ({"message": {"data": {"owner": ["This field is required."]}}}, ("data", "owner")),
        ({"errors": {"owner": ["can't be blank", "is too short"]}}, ("owner",)),
    ],
)
def test_the_forms_errors_have(answer: Any, way: tuple[str, ...]) -> None:
    assert asked(answer, {"data": {}}) == [way]


@pytest.mark.parametrize("status", [200, 500])
def test_only_refusals_ask(status: int) -> None:
    assert asked({"field": "owner"}, {}, status) == []


@pytest.mark.parametrize(
    "answer",
    [
        {"field": "name"},
        {"loc": ["query", "owner"]},
        {"field": "a sentence about it"},
        {"field": 7},
        {"errors": ["owner is required"]},
        {"owner": ["is too short"]},
        {"owner": "is required"},
        {"field": ""},
        None,
    ],
)
def test_what_was_sent_or_is_no_field_of_the_body_is_not_asked_for(answer: Any) -> None:
    assert asked(answer, {"name": "x"}) == []


@pytest.mark.parametrize("name", ["_schema", "non_field_errors", "__all__", "__root__"])
def test_what_a_whole_object_is_refused_under_is_no_field(name: str) -> None:
    assert asked({"errors": {name: ["Missing data for required field."]}}, {}) == []


def test_names_of_several_words_are_heard_in_a_sentence() -> None:
    hints = Hints(random.Random(0))
    hints.listen(told(POST, 400, {"detail": "Either an alias or handshake protocols must be given"}, body={}))
    wanted = Slot(POST.id, "body.handshake_protocols", {}, False)
    assert any(hints.wants(wanted) for _ in range(20))
    assert not any(hints.wants(replace(wanted, place="body.handshake_partners")) for _ in range(20))


BARE = contract({"/jobs": {"post": does("201", "400"), "get": does("200")}})


@pytest.mark.parametrize(("name", "status", "said", "given"), [
    ("POST /jobs", 400, {"error": "request body is not JSON"}, True),
    ("POST /jobs", 415, {"error": "unsupported media type"}, True),
    ("POST /jobs", 400, {"error": "no such job"}, False),
    ("POST /jobs", 404, {"error": "no body here"}, False),
    ("GET /jobs", 400, {"error": "request body is not JSON"}, False),
])  # fmt: skip
def test_a_body_that_the_contract_forgot_is_given_where_a_refusal_speaks_of_one(
    name: str, status: int, said: Any, given: bool
) -> None:
    job, hints = operation(BARE, name), Hints(random.Random(0))
    assert hints.listen(told(job, status, said)) == given
    drafts = [hints.heeded(Draft(job), lambda _: NOTHING) for _ in range(20)]
    assert {(one.body == {}, one.media) for one in drafts} - {(False, None)} == (
        {(True, "application/json")} if given else set()
    )


def test_the_number_of_fields_is_bounded() -> None:
    assert len(asked([{"field": f"f{number}"} for number in range(50)], {})) <= 4


def test_an_undeclared_field_that_the_service_demands_is_soon_given() -> None:
    def demanding(heard: Heard) -> Answer:
        if isinstance(heard.body, dict) and heard.body.get("owner"):
            return 201, {"id": 1}
        return 422, {"detail": [{"loc": ["body", "owner"], "msg": "field required"}]}

    with served(demanding) as small, exploring(CONTRACT, small) as explorer:
        turns = explorer.turns()
        reached = next((at for at in range(30) if next(turns).exchange.ok), None)

    assert reached is not None
    assert explorer.drafting.worked[POST.id]


PLACED = record(("size",), size={"type": "integer"}, name={"type": "string"}, colour={"type": "string"})


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("Names must be provided for all accounts.", {"name"}),
        ("name is required", {"name"}),
        ("colour.tone is missing", {"colour"}),
        ("There is no such account; its name is unknown.", set()),
        ("Either name or colour must be set.", {"name", "colour"}),
        ("1 validation error: either name must be set, input: {" + "x: 1, " * 100 + "colour: 2}", {"name"}),
    ],
)
def test_an_optional_value_that_a_sentence_demands_is_wanted(said: str, wanted: set[str]) -> None:
    hints = Hints(random.Random(0))
    assert hints.listen(told(POST, 422, {"detail": said})) is bool(wanted)
    assert not hints.listen(told(POST, 422, {"detail": said}))  # the second time it is no news
    slots = [Slot(POST.id, f"body.{name}", {}, False) for name in ("name", "colour", "size")]
    assert {slot.name for slot in slots for _ in range(20) if hints.wants(slot)} == wanted


def test_a_value_that_the_service_knows_may_stand_in_a_field_it_asked_for() -> None:
    hints = Hints(random.Random(0))
    hints.listen(told(POST, 422, {"field": "owner"}, body={}))
    given = [hints.heeded(Draft(POST, body={}), lambda _: "known").body for _ in range(40)]
    assert {"owner": "known"} in given
    assert any(one not in ({}, {"owner": "known"}) for one in given)


def test_a_value_demanded_in_a_sentence_is_soon_given() -> None:
    made = contract({"/accounts": {"post": does("201", "422", body=PLACED)}})

    def demanding(heard: Heard) -> Answer:
        if isinstance(heard.body, dict) and heard.body.get("name") and heard.body.get("colour"):
            return 201, {"id": 1}
        return 422, {"detail": "Names and colours must be provided."}

    with served(demanding) as small, exploring(made, small) as explorer:
        turns = explorer.turns()
        assert any(next(turns).exchange.ok for _ in range(8))


def test_a_sentence_that_is_no_json_is_heard_too() -> None:
    hints = Hints(random.Random(0))
    refused = told(POST, 422)
    plain = replace(refused, response=replace(refused.response, body=b"Set colour: it is required"))
    assert hints.listen(plain)
    slot = Slot(POST.id, "body.colour", {}, False)
    assert any(hints.wants(slot) for _ in range(20))
