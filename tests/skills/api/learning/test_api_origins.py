"""The story of a thing begins with who made it, and goes on with what was done to it."""

import random
from typing import Any

import pytest
from tests.skills.api.learning.test_api_entities import CONTRACT
from tests.skills.api.small_service import operation, told

from whet.skills.api.exchange import Exchange
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.origins import MOST
from whet.skills.api.oracles.flows import flows


@pytest.fixture
def entities() -> Entities:
    return Entities(random.Random(0))


def exchange(name: str, number: int, answer: Any = None, status: int = 200, **path: Any) -> Exchange:
    return told(operation(CONTRACT, name), status, answer, number=number, path=path)


def numbers(story: tuple[Exchange, ...]) -> list[int]:
    return [step.number for step in story]


def test_what_is_met_in_a_list_was_made_by_somebody(entities: Entities) -> None:
    entities.take_in(exchange("POST /orders", 1, {"id": 7}, 201))
    entities.take_in(exchange("GET /orders", 2, [{"id": 7}, {"id": 8}]))
    made, met = entities.alive("/orders")[-2:]
    assert numbers(entities.story([made])) == [1]
    assert numbers(entities.story([met])) == [2], "nobody here made it"


@pytest.mark.parametrize("name", ["order_id", "orderId"])
def test_a_thing_is_known_by_an_identity_that_has_its_name(entities: Entities, name: str) -> None:
    entities.take_in(exchange("POST /orders", 1, {name: 7, "customer_id": 1}, 201))
    entities.take_in(exchange("GET /orders", 2, [{name: 7}, {"customer_id": 1}]))
    _, met, other = entities.alive("/orders")
    assert (numbers(entities.story([met])), numbers(entities.story([other]))) == ([1], [2])


def test_a_change_is_no_beginning(entities: Entities) -> None:
    entities.take_in(exchange("POST /orders", 1, {"id": 7}, 201))
    (order,) = entities.alive("/orders")
    entities.take_in(exchange("PUT /orders/{id}", 2, {"id": 7}, id=7), [order])
    assert numbers(tuple(entities.makers(exchange("GET /orders/{id}", 3, id=7).draft))) == [1]


def test_what_was_done_to_a_thing_belongs_to_its_history_and_not_what_was_done_to_its_neighbour(
    entities: Entities,
) -> None:
    entities.take_in(exchange("GET /orders", 1, [{"id": 7}, {"id": 8}]))
    seven, eight = entities.alive("/orders")
    for number, used in ((2, seven), (3, eight), (4, seven)):
        entities.wrote(exchange("PUT /orders/{id}", number, id=used.fields["id"]), [used])
    assert numbers(entities.history(exchange("GET /orders/{id}", 5, id=7).draft, [seven])) == [1, 2, 4]


def test_the_number_kept_is_bounded(entities: Entities) -> None:
    for number in range(1, MOST + 100):
        entities.take_in(exchange("POST /orders", number, {"id": number}, 201))
        entities.wrote(exchange("PUT /orders/{id}", number, id=number), entities.alive("/orders")[-1:])
    assert len(entities._origins._made) == len(entities._origins._since) == MOST


class TestFlows:
    """Which step a later request got an id from."""

    def test_whoever_logs_in_signed_up_before_however_short_the_name(self) -> None:
        signed_up = told(operation(CONTRACT, "POST /orders"), 201, {"username": "kim5"}, 1, body={"username": "kim5"})
        logs_in = told(operation(CONTRACT, "POST /customers"), 200, {"token": "t"}, 2, body={"username": "kim5"})
        assert self.source(signed_up, logs_in) == [1]

    def source(self, *steps: Exchange) -> list[int]:
        return [steps[flow.source].number for flow in flows(steps, len(steps) - 1)]

    def test_from_the_maker_and_not_from_who_names_it_too(self) -> None:
        order = exchange("POST /orders", 1, {"id": 7}, 201)
        line = exchange("POST /orders/{id}/lines", 2, {"id": 9, "order_id": 7}, 201, id=7)
        change = exchange("PUT /orders/{id}", 3, {"id": 7}, id=7)
        assert self.source(order, line, change, exchange("GET /orders/{id}", 4, id=7)) == [1]

    def test_what_a_create_calls_its_own_is_new_whatever_its_number(self) -> None:
        order = exchange("POST /orders", 1, {"id": 7}, 201)
        line = exchange("POST /orders/{id}/lines", 2, {"id": 7}, 201, id=7)
        read = exchange("GET /orders/{id}/lines/{line}", 3, id=7, line=7)
        assert self.source(order, line, read) == [1, 2]

    def test_an_action_repeats_the_id_it_was_given(self) -> None:
        order = exchange("POST /orders", 1, {"id": 7}, 201)
        closed = exchange("POST /orders/{id}/lines", 2, {"id": 7}, 200, id=7)
        assert self.source(order, closed, exchange("GET /orders/{id}", 3, id=7)) == [1]

    def test_the_same_value_in_the_same_place_comes_from_nowhere(self) -> None:
        def made(number: int) -> Exchange:
            body = {"a": "a long name"}
            return told(
                operation(CONTRACT, "POST /orders"), 201, body, number=number, body=body, media="application/json"
            )

        assert self.source(made(1), made(2)) == []
