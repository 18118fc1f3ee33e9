"""Which requests are kept for the next run, with what they rest on, and in which order they are walked."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.skills.api.shop_service import SHOP
from tests.skills.api.small_service import contract, does, in_path, operation, told

from whet.skills.api.exchange import Exchange
from whet.skills.api.learning.trail import MOST_FAILURES, WORKS, Trail
from whet.skills.api.learning.trail_kept import merge_trails, pack_trail, restore_trail

POST, GET = operation(SHOP, "POST /shelves"), operation(SHOP, "GET /shelves/{shelf_id}")
DELETE, SWEEP = operation(SHOP, "DELETE /shelves/{shelf_id}"), operation(SHOP, "POST /sweep")
MADE = told(POST, 201, {"id": "sh123456789"}, number=1, body={"name": "a"}, media="application/json")
READ = told(GET, 200, {"id": "sh123456789"}, number=2, path={"shelf_id": "sh123456789"})
ENDED = told(DELETE, 204, number=3, path={"shelf_id": "sh123456789"})


def blazed(*kept: tuple[str, tuple[Exchange, ...], Exchange]) -> Trail:
    trail = Trail()
    for sign, story, exchange in kept:
        trail.keep(sign, story, exchange, {})
    return trail


def test_a_value_of_an_earlier_answer_is_kept_as_that() -> None:
    trail = blazed((WORKS, (MADE,), READ))
    step = trail.steps[trail.ways[GET.id, WORKS].step]
    (given_by,) = step.given
    assert (given_by.place, given_by.leaf) == (("path", "shelf_id"), ("id",))
    assert trail.steps[given_by.source].draft == MADE.draft


def test_ways_share_the_steps_they_rest_on() -> None:
    trail = blazed((WORKS, (), MADE), (WORKS, (MADE,), READ), (WORKS, (MADE,), ENDED))
    assert len(trail.ways) == len(trail.steps) == 3


def test_deleting_comes_after_what_else_works_and_failures_at_last() -> None:
    failing = told(POST, 500, number=2, body={"name": "\x00"}, media="application/json", mutation="nul")
    trail = blazed((WORKS, (MADE,), ENDED), ("boom", (), failing), (WORKS, (MADE,), READ), (WORKS, (), MADE))
    assert [way.operation for way in trail.order()] == [POST.id, GET.id, DELETE.id, POST.id]


def test_what_rests_on_others_is_deleted_before_them() -> None:
    made = contract({f"/{name}": {"post": does("201")} for name in ("racks", "shelves")}
                    | {f"/{name}/{{id}}": {"delete": does("204", parameters=(in_path("id", "string"),))}
                       for name in ("racks", "shelves")})  # fmt: skip
    racks, shelves, no_rack, no_shelf = made.operations
    rack = told(racks, 201, {"id": "rk123456789"}, number=1)
    shelf = told(shelves, 201, {"id": "sh123456789"}, number=2, body={"rack": "rk123456789"}, media="application/json")
    first = told(no_rack, 204, number=3, path={"id": "rk123456789"})
    second = told(no_shelf, 204, number=4, path={"id": "sh123456789"})
    trail = blazed((WORKS, (rack,), first), (WORKS, (rack, shelf), second))
    assert [way.operation for way in trail.order()] == [no_shelf.id, no_rack.id]


def test_heights_of_what_rests_on_everything_before_are_told_at_once_and_a_damaged_trail_ends() -> None:
    trail = blazed((WORKS, (MADE,), ENDED))
    (way,) = trail.ways.values()
    step = trail.steps[way.step]
    keys = [f"k{number}" for number in range(40)]
    trail.steps |= {key: replace(step, given=(), after=tuple(keys[:at])) for at, key in enumerate(keys)}
    trail.steps[way.step] = replace(step, given=(), after=tuple(keys))
    trail.steps["k0"] = replace(step, given=(), after=(way.step,))
    assert trail.order() == [way]


def test_one_success_of_each_operation_is_wanted_a_plain_one_rather_than_a_mutated() -> None:
    mutated = told(POST, 201, {"id": "sh1"}, body={"name": "é"}, media="application/json", mutation="emoji")
    trail = blazed((WORKS, (), mutated))
    assert trail.wants(MADE.draft, WORKS)
    trail.keep(WORKS, (), MADE, {})
    assert not trail.wants(MADE.draft, WORKS)
    assert not trail.wants(mutated.draft, WORKS)


def test_failures_are_bounded_per_operation() -> None:
    trail = Trail()
    for number in range(20):
        failing = told(POST, 500, number=number, body={"name": str(number)}, media="application/json")
        if trail.wants(failing.draft, f"cause {number}"):
            trail.keep(f"cause {number}", (), failing, {})
    assert len(trail.ways) == MOST_FAILURES


def test_a_request_of_a_megabyte_is_not_kept() -> None:
    trail = blazed((WORKS, (), told(POST, 201, {"id": "x"}, body={"name": "a" * 10**6}, media="application/json")))
    assert not trail.ways


def test_what_led_nowhere_gives_way_to_another_and_a_failure_is_let_go_the_second_time() -> None:
    trail = blazed((WORKS, (), MADE), ("boom", (), told(POST, 500, number=4, body={}, media="application/json")))
    trail.miss(trail.ways[POST.id, WORKS])
    assert trail.wants(MADE.draft, WORKS)
    for _ in range(2):
        trail.miss(trail.ways[POST.id, "boom"])
    assert list(trail.ways) == [(POST.id, WORKS)]


def test_a_smaller_request_takes_the_place_unless_it_names_what_is_there_only_now() -> None:
    long = told(GET, 500, number=5, path={"shelf_id": "sh123456789"}, query={"more": "x" * 50})
    short = told(GET, 500, number=9, path={"shelf_id": "sh123456789"})
    trail = blazed(("boom", (MADE,), long))
    trail.shorten("boom", (short,))
    assert trail.steps[trail.ways[GET.id, "boom"].step].draft == long.draft
    trail.shorten("boom", (MADE, short))
    assert trail.steps[trail.ways[GET.id, "boom"].step].draft == short.draft


def test_it_survives_being_written_and_only_what_is_needed_is() -> None:
    trail = blazed((WORKS, (), MADE), (WORKS, (MADE,), READ))
    trail.keep(WORKS, (), told(POST, 201, {"id": "y"}, number=8, body={"name": "other"}, media="application/json"), {})
    back = Trail()
    restore_trail(back, json.loads(json.dumps(pack_trail(trail))), SHOP)
    assert back.ways == trail.ways
    assert back.steps == trail.walked()


WAYS = st.lists(
    st.tuples(st.sampled_from("AB"), st.sampled_from(["", "boom"]), st.sampled_from("klm"), st.integers(0, 1),
              st.integers(0, 1)).map(list),
    max_size=5, unique_by=lambda way: (way[0], way[1]),
)  # fmt: skip
TRAILS = WAYS.map(lambda ways: {"steps": {way[2]: {"draft": way[2]} for way in ways}, "ways": ways})


@given(TRAILS, TRAILS, TRAILS)
def test_trails_go_together_in_any_order_and_any_number_of_times(
    one: dict[str, Any], two: dict[str, Any], three: dict[str, Any]
) -> None:
    assert merge_trails(one, two) == merge_trails(two, one)
    assert merge_trails(merge_trails(one, two), three) == merge_trails(one, merge_trails(two, three))
    assert merge_trails(merge_trails(one, two), two) == merge_trails(one, two)
