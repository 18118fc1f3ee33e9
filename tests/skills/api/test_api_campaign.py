"""One run: known faults first, the budget kept, a service that dies waited for, everything told at the end."""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pytest
from tests.skills.api.small_service import (
    Answer,
    Answering,
    Heard,
    Small,
    contract,
    does,
    in_path,
    in_query,
    operation,
    record,
    served,
    service,
    told,
)  # fmt: skip
from tests.tools.http.scripted import Line, scripted

from whet.skills.api.access import Access
from whet.skills.api.campaign import Budget, Campaign
from whet.skills.api.explorer import Explorer
from whet.skills.api.faults import Fault, Kind, Suspicion
from whet.skills.api.service import Service
from whet.skills.api.suspects import Suspected
from whet.tools.http.client import Client

CONTRACT = contract({
    "/things": {"post": does("201", "422", body=record(("name",), name={"type": "string", "maxLength": 20}))},
    "/things/{id}": {"get": does("200", "404", parameters=(in_path("id"),))},
})  # fmt: skip
POST = operation(CONTRACT, "POST /things")


class Things:
    """Fails at /things/{id} in one way, if it is `broken`."""

    def __init__(self, broken: bool = True) -> None:
        self.broken, self.first = broken, random.randrange(10**6, 10**9)
        self.last = self.first

    def __call__(self, heard: Heard) -> Answer:
        if heard.method == "POST":
            name = heard.body.get("name") if isinstance(heard.body, dict) else None
            if not isinstance(name, str) or len(name) > 20:
                return 422, {"detail": "name"}
            self.last += 1
            return 201, {"id": self.last}
        given = heard.path.rpartition("/")[2]
        known = given.isdecimal() and self.first < int(given) <= self.last
        return (500, {"error": "KeyError: 'x'"}) if known and self.broken else (200, {}) if known else (404, {})


@contextmanager
def campaign(small: Small, budget: Budget, known: Sequence[Fault] = (), seed: int = 1) -> Iterator[Campaign]:
    with service(CONTRACT, small) as reached:
        explorer = Explorer(CONTRACT, CONTRACT.operations, reached.send, seed)
        yield Campaign(CONTRACT, CONTRACT.operations, reached, explorer, budget, known)


def run(answering: Answering, budget: Budget, known: Sequence[Fault] = ()) -> tuple[Campaign, Small]:
    with served(answering) as small, campaign(small, budget, known) as made:
        for _ in made.turns():
            pass
        made.conclude()
        return made, small


def errors(made: Sequence[Fault]) -> list[Fault]:
    return [fault for fault in made if fault.suspicion.kind is Kind.SERVER_ERROR]


@pytest.mark.parametrize("requests", [1, 7, 60])
def test_no_more_requests_are_sent_than_were_asked_for(requests: int) -> None:
    made, small = run(Things(), Budget(requests))
    assert len(small.heard) <= requests
    assert made.progress()[0] == len(small.heard)
    assert sum(sum(one.statuses.values()) for one in made.operations.values()) == len(small.heard)


def test_time_is_a_budget_too() -> None:
    made, small = run(Things(), Budget(None, 0.5))
    assert 0.4 < made.seconds < 30
    assert small.heard


def test_what_was_found_is_confirmed_small_and_told_once() -> None:
    made, _ = run(Things(), Budget(200))
    (fault,) = errors(made.faults)
    assert fault.confirmed
    assert [step.operation.id for step in fault.steps] == ["POST /things", "GET /things/{id}"]
    assert fault.seen >= 1
    assert made.operations["POST /things"].reached_at is not None
    assert made.curve[-1][0] <= 200
    assert [point[1] for point in made.curve] == sorted(point[1] for point in made.curve)


def test_a_healthy_service_has_no_faults() -> None:
    made, _ = run(Things(broken=False), Budget(200))
    assert made.faults == []


class TestKnownFaults:
    def known(self) -> list[Fault]:
        return run(Things(), Budget(200))[0].faults

    def test_one_that_is_still_there_is_met_again_first(self) -> None:
        known = self.known()
        with served(Things()) as small, campaign(small, Budget(100), known) as made:
            next(made.turns())
            assert [one.method for one in small.heard[:2]] == ["POST", "GET"]
            made.abandon()
        assert {fault.suspicion.cause for fault in made.faults} >= {errors(known)[0].suspicion.cause}
        assert (made.fixed, made.not_retested) == ([], [])

    def test_one_that_is_gone_is_fixed(self) -> None:
        known = self.known()
        made, _ = run(Things(broken=False), Budget(100), known)
        assert [fault.suspicion.cause for fault in errors(made.fixed)] == [errors(known)[0].suspicion.cause]
        assert errors(made.faults) == []

    def test_what_rests_on_other_things_is_not_called_fixed(self) -> None:
        known = [replace(fault, rests=True) for fault in errors(self.known())]
        made, _ = run(Things(broken=False), Budget(100), known)
        assert (made.fixed, made.not_retested) == ([], known)

    def test_nor_is_what_was_not_reached_the_way_it_was(self) -> None:
        """Nothing can be made any more, and whatever is asked for is there."""
        known = errors(self.known())
        made, _ = run(lambda heard: (422, {}) if heard.method == "POST" else (200, {}), Budget(100), known)
        assert (made.fixed, made.not_retested) == ([], known)

    def test_a_crash_that_could_not_be_made_sure_of_is_noted_and_not_forgotten(self) -> None:
        crash = Suspicion(Kind.CRASH, POST.id, "crash | POST /things | dropped", "dies", "")
        known = Fault(crash, (told(POST, None),), True)
        with served(Things()) as small, campaign(small, Budget(0), [known]) as made:
            made.suspects.add(crash, (told(POST, 201, number=7),))
            made.conclude()
        assert made.not_retested == [known]
        assert made.notes == [
            "The connection was cut at request 7 (POST /things); it was answered when it was sent again."
        ]

    def test_a_crash_is_not_asked_for_again(self) -> None:
        crash = Fault(
            Suspicion(Kind.CRASH, POST.id, "crash | POST /things | dropped", "dies", ""), (told(POST, None),), True
        )
        made, _ = run(Things(broken=False), Budget(30), [crash])
        assert made.not_retested == [crash]
        assert made.fixed == []

    def test_a_crash_that_is_met_again_is_told_once(self) -> None:
        def dies(heard: Heard) -> Answer:
            return None if heard.method == "POST" else (404, {})

        first, _ = run(dies, Budget(40))
        crashes = [one for one in first.faults if one.suspicion.kind is Kind.CRASH]
        second, _ = run(dies, Budget(40), first.faults)
        again = [one for one in second.faults if one.suspicion.kind is Kind.CRASH]
        assert len(crashes) == len(again) == 1
        assert [one for one in second.not_retested if one.suspicion.kind is Kind.CRASH] == []

    def test_those_for_which_there_was_no_time_are_kept(self) -> None:
        known = self.known() * 3
        made, _ = run(Things(broken=False), Budget(5), known)
        assert len(made.fixed) + len(made.not_retested) == len(known)
        assert made.not_retested

    def test_broken_off_while_looking_again_nothing_is_forgotten(self) -> None:
        known = self.known()

        def interrupting(heard: Heard) -> Answer:
            raise AssertionError("never reached")

        with served(interrupting) as small, campaign(small, Budget(50), known) as made:
            made.send = _interrupted  # type: ignore[method-assign,assignment]
            with pytest.raises(KeyboardInterrupt):
                next(made.turns())
            made.abandon()
        assert made.not_retested == known


def _interrupted(_: object) -> object:
    raise KeyboardInterrupt


def test_broken_off_each_suspicion_is_told_once_as_it_stands() -> None:
    with served(Things()) as small, campaign(small, Budget(200)) as made:
        for _ in made.turns():
            pass
        made.conclude()
        concluded = len(made.faults)
        made.abandon()
        assert len(made.faults) == concluded
    with served(Things()) as small, campaign(small, Budget(200)) as made:
        for _ in made.turns():
            pass
        made.abandon()
        (fault,) = errors(made.faults)
        assert not fault.confirmed
        assert fault.steps[-1].response.status == 500


def test_broken_off_while_looking_again_what_is_sure_by_then_is_told_as_sure() -> None:
    two = contract({f"/{name}": {"get": does("200", parameters=(in_query("q"),))} for name in "ab"})

    def fails(_: Heard) -> Answer:
        return 500, {"error": "boom"}

    with served(fails) as small, service(two, small) as reached:
        explorer = Explorer(two, two.operations, reached.send, 1)
        made = Campaign(two, two.operations, reached, explorer, Budget(60))
        for _ in made.turns():
            pass
        confirm, asked = made._confirmed, iter(range(2))

        def broken_off(one: Suspected, requests: int) -> Fault:
            if next(asked) == 1:
                raise KeyboardInterrupt
            return confirm(one, requests)

        made._confirmed = broken_off  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            made.conclude()
        made.abandon()
    assert sorted(fault.confirmed for fault in errors(made.faults)) == [False, True]


def test_with_little_left_failures_are_seen_again_rather_than_one_made_small() -> None:
    asked = tuple(in_query(f"q{number}") for number in range(8))
    made = contract({f"/{name}": {"get": does("200", parameters=asked)} for name in "abcdefghij"})

    def fails(heard: Heard) -> Answer:
        return (500, {"error": "boom"}) if len(heard.query) > 2 else (200, {})  # takes long to make small

    with served(fails) as small, service(made, small) as reached:
        explorer = Explorer(made, made.operations, reached.send, 1)
        ending = Campaign(made, made.operations, reached, explorer, Budget(100))
        for _ in ending.turns():
            pass
        ending.conclude()
    assert len(errors(ending.faults)) == 10
    assert sum(fault.confirmed for fault in errors(ending.faults)) >= 5


def test_connections_that_are_closed_after_every_answer_do_not_take_the_place_of_failures() -> None:
    def says_one_thing(line: Line) -> None:
        status = b"500 No" if line.read().startswith(b"POST") else b"200 OK"
        line.say(b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}" % status)

    with scripted(says_one_thing) as small, Client(small.origin, 2.0) as client:
        reached = Service(client, Access(CONTRACT), "")
        explorer = Explorer(CONTRACT, CONTRACT.operations, reached.send, 1)
        made = Campaign(CONTRACT, CONTRACT.operations, reached, explorer, Budget(40))
        for _ in made.turns():
            pass
        made.conclude()
    assert {one.suspicion.kind for one in made.suspects.by_root.values()} >= {Kind.CRASH, Kind.SERVER_ERROR}
    assert errors(made.faults)
    assert all(fault.confirmed for fault in errors(made.faults))
    assert [fault for fault in made.faults if fault.suspicion.kind is Kind.CRASH] == []


class TestGoingAway:
    def test_one_that_does_not_come_back_ends_the_run_with_a_note_and_is_waited_for_once(self) -> None:
        def serves_three(line: Line) -> None:
            for _ in range(3):
                line.read()
                line.say(b"HTTP/1.1 400 No\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
            line.read()
            line.leave()

        waits: list[float] = []

        def pause(seconds: float) -> None:
            waits.append(seconds)
            time.sleep(0.05)

        with scripted(serves_three) as small, Client(small.origin, 2.0) as client:
            reached = Service(client, Access(CONTRACT), "", pause=pause)
            explorer = Explorer(CONTRACT, CONTRACT.operations, reached.send, 1)
            made = Campaign(CONTRACT, CONTRACT.operations, reached, explorer, Budget(100, back_seconds=0.1))
            sent = [exchange.response.status for exchange in made.turns()]
            waited = len(waits)
            made.conclude()

        assert sent == [400, 400, 400]
        assert len(made.notes) == 1
        assert "did not come back" in made.notes[0]
        assert "request 4" in made.notes[0]
        assert waited > 0
        assert len(waits) == waited  # concluding does not wait all over again
        crashes = [fault for fault in made.faults if fault.suspicion.kind is Kind.CRASH]
        assert len(crashes) == 1
        assert all(not fault.confirmed for fault in made.faults)

    def test_one_that_comes_back_is_tested_on_and_the_crash_is_told_with_its_request(self) -> None:
        def dies(heard: Heard) -> Answer:
            name = heard.body.get("name") if isinstance(heard.body, dict) else None
            return None if isinstance(name, str) and 12 < len(name) <= 20 else things(heard)

        things = Things(broken=False)
        made, small = run(dies, Budget(400, back_seconds=5))
        crashes = [one for one in made.faults if one.suspicion.kind is Kind.CRASH]
        assert [one.suspicion.operation for one in crashes] == ["POST /things"]
        body = crashes[0].steps[-1].draft.body
        assert isinstance(body, dict)
        assert len(body["name"]) > 12  # the request that did it
        assert made.notes == []
        assert len(small.heard) > 100
