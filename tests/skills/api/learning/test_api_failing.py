"""What made one operation fail is sent to those that take a value of the same name, and known in the next run."""

import json
from itertools import islice
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.skills.api.small_service import Answer, Heard, contract, does, exploring, in_query, record, served

from whet.skills.api import knowledge as memory
from whet.skills.api.explorer import EVERYTHING, Explorer, Learned
from whet.skills.api.learning.failing import Failing, merge_failing
from whet.skills.api.mutations.places import Place
from whet.skills.api.values.slots import NOTHING

ORDER, NOTE = Place("query", ("order",)), Place("body", ("tags", 0, "note"))
NAMES = "abcdefgh"
LISTS = contract({
    f"/{name}": {"get": does("200", parameters=(in_query("order"), in_query("page")))} for name in NAMES
})  # fmt: skip


def test_a_value_that_failed_is_offered_once_to_each_place_of_that_name() -> None:
    failing = Failing()
    assert failing.value("GET /b", ORDER) is NOTHING
    assert failing.tell("GET /a", ORDER, "a\0", failed=True)
    assert failing.value("GET /a", ORDER) is NOTHING
    assert failing.value("GET /b", Place("header", ("order",))) is NOTHING
    assert failing.value("GET /b", ORDER) == "a\0"
    assert not failing.tell("GET /b", ORDER, "a\0", failed=True)  # it is no news that it fails
    assert failing.value("GET /b", ORDER) is NOTHING
    assert failing.tell("POST /a", NOTE, {"deep": [1]}, failed=True)
    assert failing.value("POST /b", Place("body", ("note",))) == {"deep": [1]}  # wherever that name stands


def test_what_does_no_harm_anywhere_else_is_let_go_and_what_fails_more_often_comes_first() -> None:
    failing = Failing()
    failing.tell("GET /a", ORDER, "odd", failed=True)
    failing.tell("GET /a", ORDER, "bad", failed=True)
    failing.tell("GET /b", ORDER, "bad", failed=True)
    assert failing.value("GET /c", ORDER) == "bad"
    for name in "cdefg":
        failing.tell(f"GET /{name}", ORDER, "odd", failed=False)
    assert [one["value"] for one in failing.kept()] == ["bad"]


def test_true_is_not_one_what_is_no_number_is_itself_and_what_cannot_be_kept_is_not() -> None:
    failing = Failing()
    assert failing.tell("GET /a", NOTE, float("nan"), failed=True)
    assert not failing.tell("GET /a", NOTE, float("nan"), failed=True)
    assert failing.value("GET /a", NOTE) is NOTHING
    failing = Failing()
    assert failing.tell("GET /a", ORDER, 1, failed=True)
    assert failing.tell("GET /a", ORDER, True, failed=True)
    assert not failing.tell("GET /a", ORDER, b"\xff", failed=True)
    assert not failing.tell("GET /a", ORDER, "x" * 5_000, failed=True)
    for number in range(100):
        failing.tell("GET /a", ORDER, f"value {number}", failed=True)
    assert len(failing.kept()) == 8


VALUES = st.one_of(st.text(max_size=3), st.integers(0, 3), st.booleans())
TOLD = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["order", "page"]), VALUES, st.booleans()))


def heard(told: list[tuple[str, str, Any, bool]]) -> Failing:
    failing = Failing()
    for operation, name, value, failed in told:
        failing.tell(operation, Place("query", (name,)), value, failed)
    return failing


@given(TOLD, TOLD)
def test_two_runs_at_once_go_together_in_any_order_and_any_number_of_times(
    mine: list[tuple[str, str, Any, bool]], theirs: list[tuple[str, str, Any, bool]]
) -> None:
    one, other = heard(mine).kept(), heard(theirs).kept()
    both = merge_failing(one, other)
    assert both == merge_failing(other, one) == merge_failing(merge_failing(both, one), other)
    assert {_name(value) for value in both} == {_name(value) for value in (*one, *other)}
    again = Failing()
    again.restore(one)
    assert merge_failing(again.kept(), []) == merge_failing(one, [])


def _name(value: Any) -> str:
    return json.dumps([value["part"], value["name"], value["value"]])


def fragile(heard: Heard) -> Answer:
    """One value in a thousand brings each of them down, and only in `order`."""
    said = heard.query.get("order", [""])[0]
    return (500, {"error": f"KeyError in {heard.path}"}) if said == "-\u00e9?" else (200, [])


def explored(explorer: Explorer, turns: int) -> list[str]:
    """The operations that failed, in that order."""
    walk = explorer.turns()
    seen = [next(walk) for _ in range(turns)]
    return [one.exchange.operation.path for one in seen if (one.exchange.response.status or 0) >= 500]


def known(learned: Learned = EVERYTHING) -> tuple[Explorer, list[str]]:
    """A second run, whose first saw /a fail."""
    with served(fragile) as small, exploring(LISTS, small, 1, learned) as explorer:
        kept = {"part": "query", "name": "order", "value": "-\u00e9?", "family": "texts", "tried": ["GET /a"]}
        before = memory.Knowledge(failing=[{**kept, "failed": 1, "held": 0}])
        memory.teach(explorer, before, LISTS)
        return explorer, explored(explorer, 120)


def test_the_next_run_sends_it_to_all_the_others_and_keeps_who_had_it() -> None:
    explorer, failed = known()
    assert set(failed) == {f"/{name}" for name in NAMES} - {"/a"}
    (kept,) = memory.learned(explorer, memory.Knowledge(), LISTS, []).failing
    assert kept["tried"] == [f"GET /{name}" for name in NAMES]


def test_without_learning_of_mutations_nothing_is_sent_elsewhere() -> None:
    assert known(Learned(kinds=False))[1] == []


def test_what_fails_in_this_run_is_soon_sent_to_the_others() -> None:
    def mended(heard: Heard) -> Answer:
        return (500, {"error": f"in {heard.path}"}) if "\0" in heard.query.get("order", [""])[0] else (200, [])

    with served(mended) as small, exploring(LISTS, small, 4) as explorer:
        walk = explorer.turns()
        failed: list[tuple[int, str, str | None]] = []
        while len({path for _, path, _ in failed}) < len(NAMES):
            one = next(walk).exchange
            assert one.number < 1_500
            if (one.response.status or 0) >= 500:
                failed.append((one.number, one.operation.path, one.draft.mutation))
    assert failed[-1][0] - failed[0][0] < 40
    assert sum(mutation == "failed-elsewhere@query" for _, _, mutation in failed) >= 3


def test_a_value_that_failed_elsewhere_is_the_way_to_fail_that_it_was_there() -> None:
    """Where all failures say the same, what brought them about tells two apart; that is not where it came from."""

    def broken(heard: Heard) -> Answer:
        return (500, {"error": "Internal Server Error"}) if heard.query.get("order") == ["-\u00e9?"] else (200, [])

    with served(broken) as small, exploring(LISTS, small, 1) as explorer:
        explorer.failing.tell("GET /a", ORDER, "-\u00e9?", failed=True, family="texts")
        failed = [one for one in islice(explorer.turns(), 150) if one.exchange.response.status == 500]
    sent = [one.news.by for one in failed if (one.exchange.draft.mutation or "").startswith("failed-elsewhere")]
    assert set(sent[1:]) == {"texts"}  # the first may be about itself


def test_an_operation_that_always_fails_tells_nothing_about_values() -> None:
    def broken(heard: Heard) -> Answer:
        return (500, {"error": "down"}) if heard.path == "/a" else (200, [])

    with served(broken) as small, exploring(LISTS, small) as explorer:
        explored(explorer, 150)
    assert explorer.failing.kept() == []


def test_bodies_take_it_at_any_depth() -> None:
    inner = record(("note",), note={"type": "string"})
    deep = contract({
        "/a": {"post": does("200", body=inner)},
        "/b": {"post": does("200", body=record(("lines",), lines={"type": "array", "minItems": 1, "items": inner}))},
    })  # fmt: skip
    with served(lambda _: (200, {})) as small, exploring(deep, small) as explorer:
        explorer.failing.tell("POST /a", Place("body", ("note",)), "boom", failed=True)
        other = deep.operations[1]
        made = explorer.mutating.make(other, "failed-elsewhere@body")
    assert made is not None
    assert json.dumps(made.draft.body).count('"boom"') == 1
