"""Fields that are not called like what they need: where names led nowhere, ids of any kind are tried."""

import random
from itertools import islice
from typing import Any

import pytest
from tests.skills.api.small_service import (
    Answer,
    Heard,
    contract,
    does,
    exploring,
    operation,
    record,
    served,
    told,
)  # fmt: skip

from whet.skills.api.contract.model import Schema
from whet.skills.api.explorer import Learned
from whet.skills.api.learning.company import Company
from whet.skills.api.learning.dependencies import Dependencies
from whet.skills.api.learning.entities import Entities
from whet.skills.api.values.slots import Slot

TEXT = {"type": "string"}
MADE = contract({
    "/people": {"post": does("201", "422", body=record(("title",), title=TEXT))},
    "/rooms": {"post": does("201", "422", body=record(("title",), title=TEXT))},
    "/desks": {"post": does("201", "422", body=record(("lead", "spot"), lead=TEXT, spot=TEXT))},
})  # fmt: skip


class Office:
    """A desk's lead is a person, its spot a room; a refusal does not say which is wrong."""

    def __init__(self) -> None:
        self.ids: dict[str, set[str]] = {"people": set(), "rooms": set(), "desks": set()}

    def __call__(self, heard: Heard) -> Answer:
        kind, given = heard.path.strip("/"), heard.body
        if not isinstance(given, dict) or (kind == "desks" and not self.both(given)):
            return 422, {"detail": "it cannot be made"}
        made = f"{random.Random(len(self.ids[kind])).getrandbits(64):016x}-{kind[0]}"
        self.ids[kind].add(made)
        return 201, {"id": made}

    def both(self, given: dict[str, Any]) -> bool:
        return str(given.get("lead")) in self.ids["people"] and str(given.get("spot")) in self.ids["rooms"]


@pytest.mark.parametrize("seed", range(4))
def test_two_references_that_no_name_speaks_for_are_found(seed: int) -> None:
    with served(Office()) as small, exploring(MADE, small, seed) as explorer:
        list(islice(explorer.turns(), 400))
        assert "POST /desks" in explorer.drafting.worked


def test_by_names_alone_they_are_not() -> None:
    with served(Office()) as small, exploring(MADE, small, 0, Learned(evidence=False)) as explorer:
        list(islice(explorer.turns(), 400))
        assert "POST /desks" not in explorer.drafting.worked


@pytest.mark.parametrize(
    ("schema", "required", "chosen"),
    [
        (TEXT, True, {"p1", "r1"}),  # by its id, of whichever kind; not by what it is called or holds
        (TEXT, False, set()),
        ({"type": "string", "enum": ["a"]}, True, set()),  # the contract says what to send
        ({"type": "integer"}, True, set()),
    ],
)
def test_what_is_tried_where_names_led_nowhere(schema: Schema, required: bool, chosen: set[str]) -> None:
    rng = random.Random(0)
    entities = Entities(rng)
    dependencies = Dependencies(rng, entities)
    for path, made in (("POST /people", "p1"), ("POST /rooms", "r1")):
        answer = {"id": made, "title": "x", "inside": {"id": "y"}}
        entities.take_in(told(operation(MADE, path), 201, answer))
    slot = Slot("POST /desks", "body.lead", schema, required)
    assert dependencies.choose(slot, {}, Company()) is None
    dependencies.widen("POST /desks")
    picks = [dependencies.choose(slot, {}, Company()) for _ in range(40)]
    assert {thing.fields[edge.field] for edge, thing in filter(None, picks)} == chosen
