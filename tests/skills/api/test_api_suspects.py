"""Which sighting of a suspicion is kept to be made sure of: one that makes what it names can be seen again anywhere."""

from dataclasses import replace
from typing import Any

import pytest
from tests.skills.api.small_service import contract, does, in_path, operation, record, told

from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Exchange
from whet.skills.api.faults import Kind, Suspicion
from whet.skills.api.oracles.replaying import Purse, Replay
from whet.skills.api.oracles.resting import nouns
from whet.skills.api.suspects import Suspects

IF_MATCH = {"name": "If-Match", "in": "header", "schema": {"type": "string"}}
CONTRACT = contract({
    "/loans": {"post": does("201", body=record(thing_id={"type": "integer"}, other_id={"type": "integer"}))},
    "/things": {"post": does("201", body=record(name={"type": "string"}))},
    "/things/{id}": {
        "get": does("200", parameters=(in_path("id"),)),
        "delete": does("204", parameters=(in_path("id"), IF_MATCH)),
    },
})  # fmt: skip
POST, GET, DELETE = (operation(CONTRACT, name) for name in ("POST /things", "GET /things/{id}", "DELETE /things/{id}"))


def failing(thing: int, made: bool) -> tuple[Exchange, ...]:
    read = told(GET, 500, {"error": "boom"}, path={"id": thing})
    return (told(POST, 201, {"id": thing}, body={}), read) if made else (read,)


def seen(*stories: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    suspects, suspicion = Suspects([]), Suspicion(Kind.SERVER_ERROR, GET.id, "boom", "fails", "")
    for story in stories:
        suspects.add(suspicion, story)
    (one,) = suspects.by_root.values()
    assert one.latest is not None
    return one.latest[1]


def test_the_latest_is_kept_until_one_makes_what_it_names() -> None:
    first, resting, later = failing(11111, False), failing(22222, False), failing(33333, False)
    grounded = failing(44444, True)
    assert seen(first, resting, later) == later
    assert seen(first, resting, grounded, later) == grounded


@pytest.mark.parametrize(("version", "told_before", "rests"), [
    ('"v1"', True, False), ('"v1"', False, True), ("*", False, False),
])  # fmt: skip
def test_what_worked_by_a_version_that_no_step_told_rests_on_what_was_there(
    version: str, told_before: bool, rests: bool
) -> None:
    made = told(POST, 201, {"id": 55555}, body={}, headers={"ETag": '"v1"'} if told_before else {})
    plain = told(DELETE, 204, path={"id": 55555})
    gone = replace(plain, draft=replace(plain.draft, headers={"If-Match": version}))
    replay = Replay(Schemas(CONTRACT), (made, gone), Purse(lambda _: gone, 1))
    assert replay.rests(1) is rests


@pytest.mark.parametrize(("body", "made", "rests"), [
    ({"thing_id": 13}, False, True),
    ({"thing_id": 13}, True, False),
    ({"thing_id": None}, False, False),
    ({"other_id": 13, "id": 13}, False, False),  # nothing here is called an other
])  # fmt: skip
def test_what_worked_with_a_thing_that_no_step_made_rests_on_it(body: Any, made: bool, rests: bool) -> None:
    loan = told(operation(CONTRACT, "POST /loans"), 201, {"id": 1}, body=body)
    steps = (told(POST, 201, {"id": 13}, body={}), loan) if made else (loan,)
    replay = Replay(Schemas(CONTRACT), steps, Purse(lambda _: loan, 1), nouns(CONTRACT))
    assert replay.rests(len(steps) - 1) is rests
    refused = told(operation(CONTRACT, "POST /loans"), 404, body=body)
    assert not Replay(Schemas(CONTRACT), (refused,), Purse(lambda _: loan, 1), nouns(CONTRACT)).rests(0)
