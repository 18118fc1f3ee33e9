"""`whet api` on the example library: planted faults are found, and a sound service gives no false alarm."""

from collections.abc import Iterator

import pytest

from examples.api.faults import CATALOGUE
from examples.api.running import running
from whet.bootstrap.api import Asked, Visit, prepare
from whet.skills.api.access import Credential
from whet.skills.api.campaign import Budget
from whet.skills.api.faults import Kind

_KEY = (Credential("header", "X-Api-Key", "library-demo-key"),)


def visited(url: str, requests: int, seed: int) -> Visit:
    budget = Budget(requests=requests, back_seconds=30)
    visit = prepare(Asked(url, budget=budget, credentials=_KEY, seed=seed, timeout_seconds=2.0), None)
    with visit.client:
        for _ in visit.campaign.turns():
            pass
        visit.campaign.conclude()
    return visit


@pytest.fixture(scope="module")
def planted() -> Iterator[Visit]:
    with running("all", supervised=True) as service:
        yield visited(service.document, 3_000, seed=1)


def found(visit: Visit) -> set[str]:
    """The planted faults that a finding of the same kind speaks of, at the same operation."""
    told = {
        (fault.suspicion.kind, operation)
        for fault in visit.campaign.faults
        for operation in visit.campaign.affected(fault)
    }
    return {fault.name for fault in CATALOGUE if (fault.kind, fault.operation) in told}


def test_faults_of_every_kind_are_found(planted: Visit) -> None:
    assert {fault.suspicion.kind for fault in planted.campaign.faults} == set(Kind)


def test_most_of_the_planted_faults_are_found(planted: Visit) -> None:
    assert len(found(planted)) >= 20, sorted({fault.name for fault in CATALOGUE} - found(planted))


def test_nothing_is_told_that_was_not_planted(planted: Visit) -> None:
    planted_places = {(fault.kind, fault.operation) for fault in CATALOGUE}
    told = {(fault.suspicion.kind, fault.suspicion.operation) for fault in planted.campaign.faults}
    assert told <= planted_places


def test_every_operation_is_reached(planted: Visit) -> None:
    unreached = {one for one, told in planted.campaign.operations.items() if told.reached_at is None}
    assert unreached <= {"POST /login"}, unreached


def test_a_sound_service_gives_no_alarm_in_5000_requests() -> None:
    with running("none") as service:
        visit = visited(service.document, 5_000, seed=2)
    assert [fault.suspicion for fault in visit.campaign.faults] == []
    assert sum(told.reached_at is not None for told in visit.campaign.operations.values()) >= 28
