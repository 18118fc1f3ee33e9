"""502, 503 and 504 in the service's place: waited for and said, and never held against a request."""

from collections.abc import Callable

import pytest
from tests.skills.api.small_service import Answer, Heard, contract, does, operation, record, served, service

from whet.skills.api.campaign import Budget, Campaign
from whet.skills.api.exchange import Draft
from whet.skills.api.explorer import Explorer
from whet.skills.api.faults import Kind
from whet.skills.api.gateway import Away
from whet.skills.api.service import Service

CONTRACT = contract({
    "/things": {"get": does("200"), "post": does("201", "422", body=record(("name",), name={"type": "string"}))},
    "/other": {"get": does("200")},
})  # fmt: skip
GET, OTHER = (Draft(operation(CONTRACT, name)) for name in ("GET /things", "GET /other"))


def healthy(heard: Heard) -> Answer:
    if heard.method != "POST":
        return 200, []
    named = isinstance(heard.body, dict) and isinstance(heard.body.get("name"), str)
    return (201, {"id": 1}) if named else (422, {"detail": "name"})


class Before:
    """Says `status` for the requests with these numbers."""

    def __init__(self, status: int, away: Callable[[int], bool], service: Callable[[Heard], Answer] = healthy) -> None:
        self._status, self._away, self._service, self._heard = status, away, service, 0

    def __call__(self, heard: Heard) -> Answer:
        self._heard += 1
        return (self._status, None) if self._away(self._heard) else self._service(heard)


def run(answering: Callable[[Heard], Answer], requests: int = 150, patience: float = 60.0) -> tuple[Campaign, Service]:
    with served(answering) as small, service(CONTRACT, small, pause=lambda _: None, patience_seconds=patience) as one:
        explorer = Explorer(CONTRACT, CONTRACT.operations, one.send, 1)
        made = Campaign(CONTRACT, CONTRACT.operations, one, explorer, Budget(requests, back_seconds=patience))
        for _ in made.turns():
            pass
        made.conclude()
        assert len(small.heard) == one.requests <= requests
        return made, one


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_burst_is_waited_for_said_and_no_fault(status: int) -> None:
    made, reached = run(Before(status, lambda number: 20 <= number < 27))
    assert made.faults == []
    assert all(str(status) not in told.statuses for told in made.operations.values())
    assert "not held against it" in (reached.gateway.note() or "")
    assert made.progress()[0] > 100


def test_single_answers_of_a_gateway_that_do_not_come_again_are_no_faults() -> None:
    made, reached = run(Before(502, lambda number: number % 9 == 0))
    assert made.faults == []
    assert reached.gateway.times > 3


def test_pauses_grow_and_end() -> None:
    pauses: list[float] = []
    answering = Before(503, lambda number: number > 1)
    with served(answering) as small, service(CONTRACT, small, pause=pauses.append, patience_seconds=20) as reached:
        reached.send(GET)
        with pytest.raises(Away):
            reached.send(OTHER)
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 4.5]


def test_one_operation_that_always_answers_so_is_its_own_fault() -> None:
    def broken(heard: Heard) -> Answer:
        return (502, {"error": "upstream"}) if heard.path == "/other" else healthy(heard)

    made, reached = run(broken)
    assert [fault.suspicion.operation for fault in made.faults if fault.suspicion.kind is Kind.SERVER_ERROR] == [
        "GET /other"
    ]
    assert reached.gateway.note() is None


def test_a_service_that_never_answered_otherwise_is_tested_all_the_same() -> None:
    """There is nothing to compare with: it is waited for once, and then believed."""
    pauses: list[float] = []
    with served(lambda _: (503, None)) as small, service(CONTRACT, small, pause=pauses.append) as reached:
        assert [reached.send(GET).response.status for _ in range(3)] == [503, 503, 503]
    assert sum(pauses) == pytest.approx(4.0)


def test_one_that_stays_away_ends_the_run_with_a_note() -> None:
    made, _ = run(Before(502, lambda number: number > 40), patience=5.0)
    assert made.faults == []
    assert len(made.notes) == 1
    assert "502, 503 or 504" in made.notes[0]
    assert made.progress()[0] < 60


def test_waiting_does_not_exceed_the_budget() -> None:
    made, _ = run(Before(504, lambda number: number > 30), requests=36)
    assert made.progress()[0] == 36
    assert made.faults == []


def test_what_is_being_waited_for_is_said_at_once() -> None:
    said: list[str] = []
    answering = Before(503, lambda number: number in (2, 3))
    with served(answering) as small, service(CONTRACT, small, pause=lambda _: None) as reached:
        reached.gateway.hear = said.append
        reached.send(GET)
        again = reached.send(OTHER)
    assert again.response.status == 200
    assert again.response.resent
    assert said == ["503 instead of an answer: waiting up to 60 s for the service."]
