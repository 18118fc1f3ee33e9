"""What lives in the service, as answers showed it: made, met, deleted, lost."""

import random
from typing import Any

import pytest
from tests.skills.api.small_service import contract, does, in_path, operation, record, told

from whet.skills.api.learning.entities import LONGEST_STORY, MOST_PER_KIND, Entities, Entity

ANY = record()
ORDER, LINE = in_path("id"), in_path("line")
CONTRACT = contract({
    "/orders": {"get": does("200"), "post": does("201", body=ANY), "delete": does("204")},
    "/orders/{id}": {
        method: does("200", parameters=(ORDER,)) for method in ("get", "put", "delete")
    },
    "/orders/{id}/lines": {
        "post": does("201", parameters=(ORDER,), body=ANY), "delete": does("204", parameters=(ORDER,)),
    },
    "/orders/{id}/lines/{line}": {
        "get": does("200", parameters=(ORDER, LINE)), "delete": does("204", parameters=(ORDER, LINE)),
    },
    "/customers": {"post": does("201", body=ANY)},
})  # fmt: skip


@pytest.fixture
def entities() -> Entities:
    return Entities(random.Random(0))


def show(entities: Entities, name: str, answer: Any, **draft: Any) -> None:
    entities.take_in(told(operation(CONTRACT, name), 200, answer, **draft))


def delete(entities: Entities, name: str, **path: Any) -> None:
    entities.end(told(operation(CONTRACT, name), 204, path=path))


def ids(entities: Entities, kind: str) -> list[Any]:
    return [one.fields["id"] for one in entities.alive(kind)]


def two_orders_with_lines(entities: Entities) -> None:
    for order in (71, 72):
        show(entities, "POST /orders", {"id": order})
        for line in (1, 2):
            show(entities, "POST /orders/{id}/lines", {"id": line}, path={"id": order})


class TestMeeting:
    def test_things_come_from_answers_lists_and_wrappers(self, entities: Entities) -> None:
        show(entities, "POST /orders", {"id": 1})
        show(entities, "GET /orders", [{"id": 2}, {"id": 3}])
        show(entities, "GET /orders", {"items": [{"id": 4}], "total": 1})
        show(entities, "GET /orders", {"data": {"id": 5, "tags": ["red"]}})

        assert [one.fields.get("id", one.fields.get("data.id")) for one in entities.alive("/orders")] == [1, 2, 3, 4, 5]
        assert entities.alive("/orders")[-1].fields["data.tags.*"] == "red"

    def test_what_was_sent_counts_where_the_service_accepted_it(self, entities: Entities) -> None:
        show(entities, "POST /customers", None, body={"login": "ann"})
        show(entities, "PUT /orders/{id}", None, path={"id": 9})

        assert entities.alive("/customers")[0].fields == {"sent.login": "ann"}
        assert entities.alive("/orders")[0].fields == {"sent.id": 9}

    def test_the_location_names_what_was_made(self, entities: Entities) -> None:
        entities.take_in(told(operation(CONTRACT, "POST /orders"), 201, headers={"Location": "/orders/77/?x=1"}))
        assert entities.alive("/orders")[0].fields["location"] == "77"

    @pytest.mark.parametrize("answer", [None, 7, True, [], [1, 2], {}, {"done": True, "note": ""}])
    def test_answers_without_things_give_none(self, entities: Entities, answer: Any) -> None:
        show(entities, "GET /orders", answer)
        assert not entities.lives("/orders")

    def test_the_number_kept_is_bounded_and_the_young_stay(self, entities: Entities) -> None:
        for number in range(3 * MOST_PER_KIND):
            show(entities, "POST /orders", {"id": number})

        assert ids(entities, "/orders") == list(range(2 * MOST_PER_KIND, 3 * MOST_PER_KIND))

    def test_a_story_is_told_in_order_once_and_not_too_long(self, entities: Entities) -> None:
        used: list[Entity] = []
        for number in range(1, 2 * LONGEST_STORY):
            entities.take_in(told(operation(CONTRACT, "POST /orders"), 201, {"id": number}, number=number), used)
            used = [entities.alive("/orders")[-1]] * 2

        numbers = [step.number for step in entities.story(used)]
        assert numbers == list(range(LONGEST_STORY, 2 * LONGEST_STORY))
        assert used[0].made_by == "POST /orders"


class TestEnding:
    def test_a_deleted_thing_ends_with_what_lives_below_it(self, entities: Entities) -> None:
        two_orders_with_lines(entities)
        delete(entities, "DELETE /orders/{id}", id=71)

        assert ids(entities, "/orders") == [72]
        assert {one.place["/orders/{}"] for one in entities.alive("/orders/{}/lines")} == {72}
        assert {one.fields["id"] for one in entities.deleted} == {71, 1, 2}

    def test_a_line_of_one_order_leaves_the_namesake_of_another(self, entities: Entities) -> None:
        two_orders_with_lines(entities)
        delete(entities, "DELETE /orders/{id}/lines/{line}", id=71, line=1)

        left = [(one.place["/orders/{}"], one.fields["id"]) for one in entities.alive("/orders/{}/lines")]
        assert left == [(71, 2), (72, 1), (72, 2)]
        assert ids(entities, "/orders") == [71, 72]

    def test_all_lines_of_one_order(self, entities: Entities) -> None:
        two_orders_with_lines(entities)
        delete(entities, "DELETE /orders/{id}/lines", id=71)

        assert {one.place["/orders/{}"] for one in entities.alive("/orders/{}/lines")} == {72}
        assert ids(entities, "/orders") == [71, 72]

    def test_a_whole_collection_with_all_below(self, entities: Entities) -> None:
        two_orders_with_lines(entities)
        show(entities, "POST /customers", {"id": 71})
        delete(entities, "DELETE /orders")

        assert not entities.lives("/orders")
        assert not entities.lives("/orders/{}/lines")
        assert ids(entities, "/customers") == [71]

    def test_one_that_was_not_found_is_gone_and_after_several_in_a_row_all_of_its_kind(
        self, entities: Entities
    ) -> None:
        show(entities, "POST /customers", {"id": 1})
        for number in range(20):
            show(entities, "POST /orders", {"id": number})
        first, second, *rest = entities.alive("/orders")
        entities.not_found(first, None)
        assert ids(entities, "/orders") == list(range(1, 20))
        entities.found(second)
        for thing in rest[:10]:
            entities.not_found(thing, None)
        assert not entities.lives("/orders")
        assert entities.lives("/customers")


def test_what_is_to_be_deleted_is_the_oldest_and_others_are_mostly_young(entities: Entities) -> None:
    for number in range(10):
        show(entities, "POST /orders", {"id": number})
    things = entities.alive("/orders")

    assert entities.pick(things, to_end=True).fields["id"] == 0
    picked = [entities.pick(things).fields["id"] for _ in range(300)]
    assert picked.count(9) > 150
    assert len(set(picked)) == 10
