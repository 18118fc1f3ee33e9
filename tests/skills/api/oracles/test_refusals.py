"""When a refusal of valid input is told, and when a lenient reading is."""

from typing import Any

import pytest
from tests.skills.api.oracles.made_service import GOOD, STORED, answer, draft, judge

from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Suspicion
from whet.skills.api.oracles.slots import closed, difference

REFUSED = {"detail": "cannot be done"}


def told(*exchanges: Exchange) -> list[Suspicion]:
    judging = judge()
    return [suspicion for exchange in exchanges for suspicion in judging.judge(exchange)]


def create(**fields: Any) -> Draft:
    return draft("POST /items", body={**GOOD, **fields})


def refused(made: Draft, said: str = "cannot be done") -> Exchange:
    return answer(made, 422, {"detail": said})


WORKS = answer(create(), 201, STORED)


def test_one_refusal_says_little() -> None:
    assert told(refused(create())) == []
    assert told(WORKS, refused(create())) == []  # nothing differs: it is the state
    assert told(WORKS, refused(create(title="other", price=4))) == []  # which of the two?


@pytest.mark.parametrize("fields", [{"price": 1000}, {"size": "large"}, {"title": "x" * 40}])
def test_one_slot_within_the_contract_turns_a_working_request(fields: dict[str, Any]) -> None:
    (found,) = told(WORKS, refused(create(**fields)))
    assert found.kind == "valid-input-refused"
    assert found.cause.endswith(f"body.{next(iter(fields))}")


def test_leaving_out_what_is_optional() -> None:
    works = answer(create(size="small"), 201, STORED)
    assert [one.kind for one in told(works, refused(create()))] == ["valid-input-refused"]


@pytest.mark.parametrize("fields", [{"note": "free text"}, {"title": "naïve"}, {"title": " x"}, {"tags": ["a"]}])
def test_what_no_schema_can_tell_is_forgiven(fields: dict[str, Any]) -> None:
    assert told(WORKS, refused(create(**fields))) == []


@pytest.mark.parametrize(
    "said", ["such an item already exists", "title must be longer for this price", "quota is used up"]
)
def test_refusals_of_state_or_of_another_slot_are_forgiven(said: str) -> None:
    assert told(WORKS, refused(create(price=1000), said)) == []


def test_a_whole_number_written_as_a_float_may_be_refused() -> None:
    works = answer(draft("GET /items", query={"limit": 5}), 200, [])
    assert told(works, answer(draft("GET /items", query={"limit": 20.0}), 400, REFUSED)) == []
    assert told(works, answer(draft("GET /items", query={"limit": 20}), 400, REFUSED)) != []


def test_what_fits_only_when_read_generously_may_be_refused() -> None:
    works = answer(draft("GET /items", query={"limit": 5}), 200, [])
    for written in (True, "5", [5]):
        assert told(works, answer(draft("GET /items", query={"limit": written}), 400, REFUSED)) == [], written


def test_a_number_that_is_written_otherwise_is_another_one() -> None:
    whole, other = draft("GET /items", query={"limit": 3}), draft("GET /items", query={"limit": 3.0})
    assert difference(whole, other) == (("query", "limit"),)
    assert difference(whole, whole) == ()


def test_a_list_of_one_in_a_query_is_written_as_its_entry() -> None:
    keeping = judge().symptoms.keeping
    assert keeping.broken(draft("GET /items", query={"limit": [8]})) == ()
    assert keeping.broken(draft("GET /items", query={"limit": [8, 9]}))


def test_the_working_request_is_evidence() -> None:
    judging = judge()
    judging.judge(WORKS)
    (found,) = judging.judge(refused(create(price=1000)))
    assert judging.evidence(found) == (WORKS,)


def test_probes_change_one_slot_of_what_works_and_do_not_ask_for_ever() -> None:
    judging = judge()
    judging.judge(WORKS)
    both = refused(create(size="large", price=1000, note="x"))
    judging.judge(both)
    asked = [judging.probes(both) for _ in range(5)]
    assert {str(one.body) for one in asked[0]} == {str(create(size="large").body), str(create(price=1000).body)}
    assert asked[-1] == []


def test_a_listed_value_that_is_never_taken() -> None:
    exchanges = []
    for number in range(20):
        exchanges.append(answer(create(size="small", title=f"cup {number}"), 201, STORED))
        exchanges.append(refused(create(size="large", title=f"mug {number}", price=number)))
    found = told(*exchanges)
    assert {one.cause for one in found} == {"valid-input-refused | POST /items | body.size"}


def test_where_much_is_refused_two_refusals_are_chance() -> None:
    exchanges = []
    for number in range(100, 110):
        exchanges.append(answer(create(size="small", title=f"cup {number}"), 201, STORED))
        exchanges.append(refused(create(size="small", title=f"jar {number}", price=number, note="n")))
    large = [refused(create(size="large", title=f"mug {number}", price=number)) for number in range(200, 202)]
    assert told(*exchanges, *large) == []


def test_a_listed_value_that_is_taken_once_is_not_told() -> None:
    taken = answer(create(size="large", price=2), 201, STORED)
    exchanges = [taken]
    for number in range(100, 120):
        exchanges.append(answer(create(size="small", title=f"cup {number}"), 201, STORED))
        exchanges.append(refused(create(size="large", title=f"mug {number}", price=number)))
    assert told(*exchanges) == []


def test_an_operation_of_listed_values_only_that_takes_nothing() -> None:
    limits = [answer(draft("GET /items", query={"limit": limit}), 400, REFUSED) for limit in range(1, 11)]
    assert told(*limits[:9]) == []
    assert [one.kind for one in told(*limits)] == ["valid-input-refused"]
    assert told(*limits[:5], answer(draft("GET /items"), 200, []), *limits[5:]) != told(*limits)


def _number_for_text(place: str, status: int) -> Exchange:
    made = draft("POST /items", body={**GOOD, place: 3}, broken=f"{place} must be a string, is a number")
    return answer(made, status, STORED if status == 201 else REFUSED)


def _text_for_number(place: str, status: int) -> Exchange:
    body = {**GOOD, place: "3"}
    made = draft("POST /items", body=body, broken=f"{place} must be a number, is a string")
    return answer(made, status, STORED if status == 201 else REFUSED)


def test_reading_text_as_a_number_is_a_habit_or_a_slip() -> None:
    slip = _text_for_number("price", 201)
    strict = [_text_for_number(place, 422) for place in ("length", "weight", "height")]
    assert told(slip) == []
    assert [one.kind for one in told(*strict, slip)] == ["invalid-input-accepted"]
    habit = [_text_for_number(place, 201) for place in ("depth", "width")]
    assert told(*strict, *habit, slip)[1:] == []


@pytest.mark.parametrize("name", ["page", "offset", "skip"])
def test_whether_there_is_such_a_page_no_schema_can_tell(name: str) -> None:
    schema = {"type": "integer", "minimum": 1, "maximum": 10_000}
    assert not closed(schema, name, 11)
    assert closed(schema, "limit", 11)


def test_who_refuses_numbers_for_texts_may_read_texts_as_numbers() -> None:
    """pydantic does both: one is no sign that the other is a slip."""
    refused_texts = [_number_for_text(place, 422) for place in ("title", "note")]
    keeping = judge().symptoms.keeping
    assert all(keeping.forgivable(one.draft) for one in refused_texts), "else they would not count at all"
    strict = [_text_for_number(place, 422) for place in ("length", "weight")]
    assert told(*refused_texts, *strict, _text_for_number("price", 201)) == []
