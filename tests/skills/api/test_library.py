"""`whet api` on the example library: planted faults are found, and a sound service gives no false alarm."""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from examples.api.faults import CATALOGUE
from examples.api.running import running

from whet.bootstrap.api import Asked, Visit, prepare
from whet.reports.api.model import ApiReport
from whet.reports.api.pytest_file import function_name, write_tests
from whet.skills.api.access import Credential
from whet.skills.api.campaign import Budget
from whet.skills.api.faults import Kind

_KEY = (Credential("header", "X-Api-Key", "library-demo-key"),)
# These take the service away for a while; what is then sent depends on the clock. They have a test of their own.
_OUTAGES = {"wildcard", "empty-cover"}
_STEADY = tuple(fault for fault in CATALOGUE if fault.name not in _OUTAGES)


def visited(url: str, requests: int, seed: int, only: tuple[str, ...] = ()) -> Visit:
    budget = Budget(requests=requests, back_seconds=30)
    asked = Asked(url, budget=budget, credentials=_KEY, seed=seed, only=only, timeout_seconds=2.0)
    visit = prepare(asked, None)
    with visit.client:
        for _ in visit.campaign.turns():
            pass
        visit.campaign.conclude()
    return visit


_FAULTY = ",".join(fault.name for fault in _STEADY)
_OUTAGE = ",".join(_OUTAGES)


@pytest.fixture(scope="module")
def planted() -> Iterator[Visit]:
    with running(_FAULTY) as service:
        yield visited(service.document, 3_000, seed=1)


@pytest.fixture(scope="module")
def silent() -> Iterator[Visit]:
    only = ("POST /books", "GET /books", "PUT /books/{book_id}/cover")
    with running(_OUTAGE, supervised=True) as service:
        yield visited(service.document, 600, seed=1, only=only)


def found(visit: Visit) -> set[str]:
    """The planted faults that a finding of the same kind speaks of, at the same operation."""
    told = {
        (fault.suspicion.kind, operation)
        for fault in visit.campaign.faults
        for operation in visit.campaign.affected(fault)
    }
    return {fault.name for fault in CATALOGUE if (fault.kind, fault.operation) in told}


def test_faults_of_every_kind_are_found(planted: Visit) -> None:
    assert {fault.suspicion.kind for fault in planted.campaign.faults} == set(Kind) - {Kind.TIMEOUT, Kind.CRASH}


def test_most_of_the_planted_faults_are_found(planted: Visit) -> None:
    missed = {fault.name for fault in _STEADY} - found(planted)
    assert len(missed) <= 8, sorted(missed)


def test_nothing_is_told_that_was_not_planted(planted: Visit) -> None:
    planted_places = {(fault.kind, fault.operation) for fault in CATALOGUE}
    planted_places.add((Kind.SERVER_ERROR, "PUT /loans/{loan_id}/notes/{note_id}"))  # note-nul: the same code
    planted_places.add((Kind.INVALID_ACCEPTED, "PUT /books/{book_id}"))  # unquoted-etag: its pattern is not looked at
    told = {(fault.suspicion.kind, fault.suspicion.operation) for fault in planted.campaign.faults}
    assert told <= planted_places


def test_no_cause_is_told_twice(planted: Visit) -> None:
    told = Counter((fault.suspicion.kind, fault.suspicion.operation) for fault in planted.campaign.faults)
    there = Counter((fault.kind, fault.operation) for fault in CATALOGUE)
    assert {place: times for place, times in told.items() if times > max(1, there[place])} == {}


def test_every_operation_is_reached(planted: Visit) -> None:
    unreached = {one for one, told in planted.campaign.operations.items() if told.reached_at is None}
    assert unreached <= {"POST /login"}, unreached


def test_a_hang_and_a_crash_are_told_with_the_request_that_did_it(silent: Visit) -> None:
    told = {(fault.suspicion.kind, fault.suspicion.operation): fault.confirmed for fault in silent.campaign.faults}
    assert told == {(Kind.TIMEOUT, "GET /books"): True, (Kind.CRASH, "PUT /books/{book_id}/cover"): True}


def _outcomes(tests: Path, url: str) -> dict[str, str]:
    """By test; a skipped one has none."""
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "--tb=short", "-p", "no:cacheprovider", "-p", "no:whet"]
    variables = {"WHET_API_URL": url, "WHET_API_TIMEOUT": "2", "WHET_API_X_API_KEY": _KEY[0].value}
    done = subprocess.run(
        [*command, str(tests)], cwd=tests.parent, env=os.environ | variables, capture_output=True, text=True
    )
    return {test: how for how, test in re.findall(r"^(PASSED|FAILED|ERROR) \S+::(\w+)", done.stdout, re.MULTILINE)}


def _kinds(report: ApiReport, outcomes: dict[str, str], outcome: str) -> set[Kind]:
    return {fault.kind for fault in report.faults if outcomes.get(function_name(fault)) == outcome}


def test_written_tests_of_every_kind_are_red_with_the_faults_and_green_without(
    planted: Visit, silent: Visit, tmp_path: Path
) -> None:
    """On a library that was started anew, twice: what a test needs it makes, under names that are not taken."""
    for visit, faults in ((planted, _FAULTY), (silent, _OUTAGE)):
        report = visit.report()
        tests = write_tests(report, tmp_path / faults[:8])
        assert tests is not None
        with running(faults, supervised=True) as service:
            red = _outcomes(tests, service.url)
        assert {test: how for test, how in red.items() if how != "FAILED"} == {}
        assert _kinds(report, red, "FAILED") == {fault.kind for fault in report.faults}
        resting = {function_name(fault) for fault in report.faults if fault.rests}  # skipped where that is gone
        with running("none") as service:
            for green in (_outcomes(tests, service.url), _outcomes(tests, service.url)):
                assert {test: how for test, how in green.items() if how != "PASSED"} == {}
                assert green.keys() - resting == red.keys() - resting
    told = {fault.kind for visit in (planted, silent) for fault in visit.report().faults}
    assert told == set(Kind)


def test_what_did_not_show_again_has_no_test(planted: Visit, tmp_path: Path) -> None:
    report = planted.report()
    unsure = tuple(replace(fault, confirmed=False) for fault in report.faults)
    assert write_tests(replace(report, faults=unsure), tmp_path) is None


def test_a_sound_service_gives_no_alarm_in_5000_requests() -> None:
    with running("none") as service:
        visit = visited(service.document, 5_000, seed=2)
    assert [fault.suspicion for fault in visit.campaign.faults] == []
    assert sum(told.reached_at is not None for told in visit.campaign.operations.values()) >= 28
