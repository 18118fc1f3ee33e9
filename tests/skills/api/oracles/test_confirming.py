"""A suspicion is seen again on a real service, and what shows it becomes small."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.skills.api.oracles.made_service import CONTRACT, GOOD, SCHEMAS, draft, judge, semantics
from tests.skills.api.oracles.served import served

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Fault, Kind, Suspicion
from whet.skills.api.mutations.breaking import Breaking
from whet.skills.api.oracles import confirming
from whet.skills.api.oracles.confirming import Confirming
from whet.skills.api.oracles.minimising import reduced
from whet.skills.api.oracles.replaying import Ended

Send = Callable[[Draft], Exchange]
HEAVY = {"title": "a very heavy mug", "price": 900, "size": "large", "note": "y" * 100 + "x" * 64, "tags": ["a", "b"]}


def found_in(drafts: list[Draft], send: Send, kind: Kind | None = None) -> tuple[Suspicion, tuple[Exchange, ...]]:
    """What is suspected after these drafts, with the steps to hand on."""
    judging, watching, steps = judge(), semantics(), []
    for made in drafts:
        exchange = send(made)
        steps.append(exchange)
        for suspicion in (*judging.judge(exchange), *watching.judge(exchange)):
            if kind in (None, suspicion.kind):
                return suspicion, (*steps, *judging.evidence(suspicion), *watching.evidence(suspicion), exchange)
    raise AssertionError("nothing was suspected")


def body_of(step: Exchange) -> dict[str, Any]:
    assert isinstance(step.draft.body, dict)
    return step.draft.body


def confirmed(drafts: list[Draft], send: Send, requests: int = 60, deadly: bool = False) -> Fault:
    suspicion, steps = found_in(drafts, send)
    return Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, send, requests, deadly)


def test_a_failing_request_is_seen_again_and_made_small() -> None:
    with served("fails") as (_, send):
        fault = confirmed([draft("POST /items", body=HEAVY, extra=(("If-Match", "*"),))], send)
    assert fault.confirmed
    (step,) = fault.steps
    assert step.response.status == 500
    assert not step.draft.extra
    assert set(body_of(step)) == {"title", "price", "size", "note"}  # the required ones, and what it takes
    assert len(body_of(step)["note"]) < 20
    assert body_of(step)["price"] <= 1
    assert body_of(step)["size"] == "large"  # no shorter one keeps to the contract


def test_what_somebody_tried_in_passing_is_no_part_of_the_story() -> None:
    body = {"title": "black cat", "price": 13}
    written = b'\xef\xbb\xbf{"title": "black cat", "price": 13}'
    odd = draft("POST /items", body=body, raw=written, extra=(("Cookie", "=;;="), ("X-Whet", "x")))
    with served("poisoned") as (_, send):
        fault = confirmed([odd, draft("GET /items/{item_id}", path={"item_id": 1})], send)
    assert fault.confirmed
    assert [(step.draft.extra, step.draft.raw) for step in fault.steps] == [((), None), ((), None)]


def test_what_was_created_for_it_is_created_again_under_its_new_name() -> None:
    other, cursed = draft("POST /items", body=GOOD), draft("POST /items", body={"title": "black cat", "price": 13})
    read = draft("GET /items/{item_id}", path={"item_id": 2})
    with served("poisoned", "unique") as (items, send):
        fault = confirmed([other, cursed, read], send)
        assert len(items.stored) == 3
    assert fault.confirmed
    create, proof = fault.steps
    assert body_of(create)["price"] == 13
    assert body_of(create)["title"] != "black cat"  # that title was taken
    assert (create.response.status, proof.response.status) == (201, 500)
    assert proof.draft.path == {"item_id": 3}


def test_a_fault_that_does_not_come_back_is_kept_unconfirmed() -> None:
    with served("fails") as (items, send):
        suspicion, steps = found_in([draft("POST /items", body=HEAVY)], send)
        items.faults = frozenset()
        fault = Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, send)
    assert not fault.confirmed
    assert fault.steps == steps[:1]


@pytest.mark.parametrize("requests", [0, 1, 2, 5, 9])
def test_no_more_requests_than_handed_in(requests: int) -> None:
    with served("fails") as (items, send):
        suspicion, steps = found_in([draft("POST /items", body=HEAVY)], send)
        before = len(items.seen)
        fault = Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, send, requests)
        assert len(items.seen) - before <= requests
    assert fault.confirmed is (requests > 0)


SEVEN = {"path": {"item_id": 1}}


@pytest.mark.parametrize(
    ("fault", "drafts", "kind"),
    [
        ("keeps", [draft("POST /items", body=GOOD), draft("DELETE /items/{item_id}", **SEVEN)], Kind.READ_AFTER_DELETE),
        ("forgets", [draft("POST /items", body=GOOD)], Kind.NOT_CREATED),
        (
            "loses",
            [draft("POST /items", body=GOOD), draft("PUT /items/{item_id}", **SEVEN, body={**GOOD, "price": 9})],
            Kind.LOST_UPDATE,
        ),
    ],
)
def test_a_broken_promise_is_seen_again(fault: str, drafts: list[Draft], kind: Kind) -> None:
    with served(fault) as (items, send):
        found = confirmed([*drafts, draft("GET /items/{item_id}", **SEVEN)], send)
        before = len(items.seen)
        items.faults = frozenset()
        repaired = Confirming(CONTRACT, SCHEMAS).confirm(found.suspicion, found.steps, send)
        assert len(items.seen) > before
    assert found.confirmed
    assert found.suspicion.kind is kind
    assert len(found.steps) == len(drafts) + 1
    assert not repaired.confirmed


def test_what_was_not_there_then_and_is_now_is_deleted_first() -> None:
    """The answer to who asks for what is gone is not documented; meanwhile somebody has made that one."""
    with served("says-gone") as (items, send):
        suspicion, steps = found_in([draft("GET /items/{item_id}", **SEVEN)], send)
        send(draft("POST /items", body=GOOD))
        fault = Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, send)
        assert 1 not in items.stored
        items.faults = frozenset()
        repaired = Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, send)
    assert fault.confirmed
    assert fault.rests
    assert [step.response.status for step in fault.steps] == [204, 410]
    assert not repaired.confirmed


def test_what_should_not_have_worked_after_a_deletion_is_no_part_of_the_story() -> None:
    """On a service that is mended the second deletion would be refused."""
    delete, read = draft("DELETE /items/{item_id}", **SEVEN), draft("GET /items/{item_id}", **SEVEN)
    with served("keeps") as (_, send):
        steps = [send(one) for one in (draft("POST /items", body=GOOD), read, delete, read, delete, read)]
        suspicion, _ = found_in([draft("POST /items", body=GOOD), replace(delete, path={"item_id": 2}),
                                 replace(read, path={"item_id": 2})], send)  # fmt: skip
        fault = Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, send)
    assert fault.confirmed
    assert [step.operation.method for step in fault.steps] == ["POST", "GET", "DELETE", "GET"]


def test_an_overwritten_version_is_seen_again_with_the_versions_of_the_replay() -> None:
    read, change = draft("GET /items/{item_id}", **SEVEN), draft("PATCH /items/{item_id}", **SEVEN, body={"price": 5})
    stale = replace(change, extra=(("If-Match", '"1-0"'),))
    with served("overwrites") as (items, send):
        found = confirmed([draft("POST /items", body=GOOD), read, change, stale], send)
        items.faults = frozenset()
        repaired = Confirming(CONTRACT, SCHEMAS).confirm(found.suspicion, found.steps, send)
    assert found.confirmed
    assert found.steps[-1].draft.extra == (("If-Match", '"2-0"'),)
    assert not repaired.confirmed


def test_a_reading_that_only_repeats_what_it_was_asked_is_not_needed() -> None:
    cursed = draft("POST /items", body={"title": "black cat", "price": 13})
    read = draft("GET /items/{item_id}", path={"item_id": 1})
    with served() as (items, send):
        send(cursed)
        steps = [send(draft("GET /items")), send(read), send(read)]
        items.faults = frozenset({"poisoned"})
        steps.append(send(read))
        (suspicion,) = judge().judge(steps[-1])
        fault = Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, send)
    assert [step.request.target for step in fault.steps] == ["/v1/items", "/v1/items/1"]


def test_a_refusal_is_confirmed_beside_the_request_that_works() -> None:
    drafts = [draft("GET /items", query={"limit": limit}) for limit in (50, 100)]
    with served("refuses") as (_, send):
        fault = confirmed(drafts, send)
    assert fault.confirmed
    assert fault.suspicion.kind is Kind.VALID_REFUSED
    assert [step.response.status for step in fault.steps] == [200, 400]


def test_a_refusal_means_nothing_once_nothing_works() -> None:
    drafts = [draft("GET /items", query={"limit": limit}) for limit in (50, 100)]
    with served("refuses") as (items, send):
        suspicion, steps = found_in(drafts, send)
        items.faults = frozenset({"refuses-all"})
        fault = Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, send)
    assert not fault.confirmed


def test_accepted_invalid_input_keeps_what_is_invalid() -> None:
    body = {**GOOD, "price": 5000, "note": "n", "tags": ["a"]}
    made = draft("POST /items", body=body, broken="price must be at most 1000, is 5000")
    with served("accepts", "unique") as (_, send):
        suspicion, steps = found_in([made], send, Kind.INVALID_ACCEPTED)
        fault = Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, send)
    assert fault.confirmed
    (step,) = fault.steps
    assert set(body_of(step)) == {"title", "price"}
    assert body_of(step)["price"] == 5000


def test_a_crash_is_only_repeated_when_that_is_allowed() -> None:
    crashing = [draft("POST /items", body={**GOOD, "note": "n"})]
    with served("drops") as (items, send):
        suspicion, steps = found_in(crashing, send)
        before = len(items.seen)
        careful = Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, send)
        assert len(items.seen) == before
        bold = Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, send, deadly=True)
    assert (careful.confirmed, bold.confirmed) == (False, True)


@pytest.mark.parametrize("made", [True, False])
def test_a_crash_that_names_what_no_step_made_rests_on_it(made: bool) -> None:
    with served("drops") as (items, send):
        items.stored[7], items.last_id = {**GOOD, "id": 7}, 7
        item = 8 if made else 7
        drafts = [draft("POST /items", body=GOOD)] if made else []
        deadly = draft("PATCH /items/{item_id}", path={"item_id": item}, body={"note": "n"})
        fault = confirmed([*drafts, deadly], send, deadly=True)
    assert fault.confirmed
    assert fault.rests is not made


def test_a_step_that_was_refused_this_time_is_no_part_of_what_is_told() -> None:
    """A name too short to be changed is taken already; what it named the first time is still there."""
    with served("drops", "unique") as (_, send):
        drafts = [
            draft("POST /items", body={**GOOD, "title": "ab"}),
            draft("PATCH /items/{item_id}", path={"item_id": 1}, body={"note": "n"}),
        ]
        fault = confirmed(drafts, send, deadly=True)
    assert fault.confirmed
    assert fault.rests
    assert [step.operation.method for step in fault.steps] == ["PATCH"]


def crash(send: Send, seconds: float = 0.0) -> tuple[Fault, list[Draft]]:
    """Of a request with much that does not matter; the service takes this long to come back."""
    again: list[Draft] = []

    def waiting(draft: Draft) -> Exchange:
        again.append(draft)
        exchange = send(draft)
        time.sleep(seconds if exchange.response.status is None else 0.0)
        return exchange

    extra = (("If-Match", "*"), ("X-HTTP-Method-Override", "PUT"))
    suspicion, steps = found_in([draft("POST /items", body={**GOOD, "note": "n", "size": "small"}, extra=extra)], send)
    return Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, waiting, deadly=True), again


def test_a_crash_loses_what_was_added_and_what_is_optional_in_a_few_tries() -> None:
    with served("drops") as (_, send):
        fault, again = crash(send)
    (step,) = fault.steps
    assert step.response.status is None
    assert not step.draft.extra
    assert set(body_of(step)) == {*GOOD, "note"}
    assert len(again) <= 1 + 4


def test_what_comes_back_late_is_not_killed_for_a_smaller_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirming, "_QUICK_SECONDS", 0.05)
    with served("drops") as (_, send):
        fault, again = crash(send, seconds=0.1)
    assert fault.confirmed
    assert len(again) == 1


def test_what_was_confirmed_stays_so_when_the_run_ends_while_it_is_made_small() -> None:
    with served("fails") as (_, send):
        suspicion, steps = found_in([draft("POST /items", body=HEAVY)], send)
        sent: list[Draft] = []

        def ending(draft: Draft) -> Exchange:
            sent.append(draft)
            if len(sent) > 2:
                raise Ended
            return send(draft)

        assert Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, ending).confirmed


@pytest.mark.parametrize("note", [["whet"], [["whet" * 20] * 9] * 9])
def test_the_sentence_is_that_of_the_request_that_is_shown(note: Json) -> None:
    made = draft("POST /items", body={**GOOD, "note": note})
    made = replace(made, broken=Breaking(SCHEMAS).sentence(made, None), mutation="spoiled")
    assert made.broken is not None
    assert len(made.broken) < 250
    assert made.broken.endswith('is not of type "string"')
    with served("accepts") as (_, send):
        suspicion, steps = found_in([made], send, Kind.INVALID_ACCEPTED)
        fault = Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, send)
    assert body_of(fault.steps[-1]) == {**GOOD, "note": []}
    assert fault.suspicion.detail == 'It was answered 201 although note of the body: [] is not of type "string".'
    assert fault.suspicion.cause == suspicion.cause


def test_so_are_the_words_of_an_answer() -> None:
    with served("fails") as (_, send):
        suspicion, steps = found_in([draft("POST /items", body=HEAVY)], send)
        fault = Confirming(CONTRACT, SCHEMAS).confirm(suspicion, steps, send)
    (step,) = fault.steps
    assert json.loads(step.response.body)["request"] in fault.suspicion.detail  # the time it was answered
    assert fault.suspicion.cause == suspicion.cause


def test_a_hang_is_seen_again() -> None:
    with served("hangs") as (_, send):
        fault = confirmed([draft("POST /items", body={**GOOD, "note": "n", "size": "small"})], send)
    assert fault.confirmed
    assert fault.suspicion.kind is Kind.TIMEOUT
    assert "size" not in body_of(fault.steps[-1])


def test_what_breaks_nothing_any_more_says_so() -> None:
    body = {**HEAVY, "tags": [1]}
    with served("fails") as (_, send):
        fault = confirmed([draft("POST /items", body=body, broken="tags[] must be a string, is an integer")], send)
    assert fault.steps[-1].draft.broken is None


@given(st.lists(st.integers(), unique=True, max_size=30), st.data())
def test_reduction_finds_exactly_what_is_needed(parts: list[int], data: st.DataObject) -> None:
    wanted = set(data.draw(st.lists(st.sampled_from(parts), max_size=4))) if parts else set()
    assert set(reduced(parts, lambda kept: wanted <= set(kept))) == wanted


def test_the_steps_may_be_told_twice_and_out_of_order() -> None:
    with served("poisoned") as (_, send):
        create, read = send(draft("POST /items", body={"title": "cat", "price": 13})), None
        read = send(draft("GET /items/{item_id}", path={"item_id": 1}))
        (suspicion,) = judge().judge(read)
        fault = Confirming(CONTRACT, SCHEMAS).confirm(suspicion, (create, replace(create), read), send)
    assert fault.confirmed
    assert len(fault.steps) == 2
