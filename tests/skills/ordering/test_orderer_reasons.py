"""Why a test stands where it does: what is said is what happened."""

import math

import numpy as np
import pytest
from tests.skills.ordering.made_sheets import learned, sheet

from whet.skills.ordering import Orderer, experts
from whet.skills.ordering.hazard import Hazard
from whet.skills.ordering.reasons import reasons


def reason(orderer: Orderer, test: str = "t0", nearness: dict[str, float] | None = None) -> str:
    return next(one.reason for one in orderer.rank(["t0", "t1"], nearness) if one.test == test)


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        ("", "never ran before"),
        ("s", "was skipped so far"),
        ("pp", "passed all of its 2 runs"),
        ("xX", "passed all of its 2 runs"),
        ("f", "failed in its last run"),
        ("pfe", "failed in its last 2 runs"),
        ("fp", "failed 1 of 2 runs, last 1 run ago"),
        ("ffpspp", "failed 2 of 5 runs, last 3 runs ago"),
    ],
)
def test_by_history(runs: str, told: str) -> None:
    assert reason(learned(sheet(outcome) for outcome in runs)) == told


def test_a_failure_among_several_executions_of_one_run() -> None:
    told = reason(learned([sheet("fpp", ["t0", "t0", "t0"])]))
    assert told.startswith("failed 1 of 3 runs, last ")
    assert "4 runs ago" not in told


def test_near_the_change() -> None:
    assert reason(learned([sheet("p")]), nearness={"t0": 0.75}) == "near the change (0.75)"
    assert reason(learned([sheet("p")]), nearness={"t1": 0.9}) == "passed its only run"
    assert reason(Orderer(), nearness={"t0": 0.3}) == "near the change (0.30); never ran before"


@pytest.mark.parametrize(
    ("runs", "near", "told"),
    [
        # What passed last time counts a thousandth beside a change: a little nearness outweighs it by far.
        ("pfp", 0.1, "a little near the change (0.1)"),
        ("pp", 0.02, "a little near the change (0.02)"),
        ("pfp", 0.0, "failed 1 of 3 runs, last 1 run ago; far from the change, so it counts less"),
        ("pp", 0.0, "passed all of its 2 runs; far from the change, so it counts less"),
        # What fails anyway is not moved by so little.
        ("ff", 0.05, "failed in its last 2 runs"),
        ("ff", 0.6, "near the change (0.60); failed in its last 2 runs"),
    ],
)
def test_what_is_told_is_what_moved_it(runs: str, near: float, told: str) -> None:
    assert reason(learned(sheet(outcome) for outcome in runs), nearness={"t0": near, "t1": 0.0}) == told


def test_seconds_are_told_where_they_move_a_test() -> None:
    orderer = learned(sheet("fpp", seconds=[9.0, 1.0, 1.0]) for _ in range(3))
    orderer.learn(sheet("pfp", seconds=[9.0, 1.0, 1.0]))
    orderer.learn(sheet("ppp", seconds=[9.0, 1.0, 1.0]))
    told = [(one.test, one.reason) for one in orderer.rank(["t0", "t1", "t2"])]
    assert told == [
        ("t1", "failed 1 of 5 runs, last 1 run ago; quick, so it comes earlier"),
        ("t2", "passed all of its 5 runs; quick, so it comes earlier"),
        ("t0", "failed 3 of 5 runs, last 2 runs ago; long, so it comes later"),
    ]


def test_flaky() -> None:
    told = reason(learned(sheet(outcome, code_version="same") for outcome in "pfp"))
    assert told == "failed 1 of 3 runs, last 1 run ago; changed its verdict 2× on equal code, so it counts less"


def test_in_company_of_what_failed_last() -> None:
    """Told where that is what orders the run, which is seldom."""
    orderer = learned([sheet("ffp"), sheet("ffp"), sheet("pfp")])
    tests = ["t0", "t1", "t2"]
    told: set[str] = set()
    for orderer.sheets in range(3000):
        told.update(one.reason for one in orderer.rank(tests) if one.test != "t1")
        if any("together" in reason for reason in told):
            break
    assert {"failed 2 of 3 runs, last 1 run ago", "passed all of its 3 runs"} <= told
    assert {reason for reason in told if "fail" in reason and "failed 2" not in reason} == {
        "fails together with what failed last (0.40)",
        "does not fail with what failed last",
    }


def test_by_a_rule_of_thumb_the_change_does_not_count() -> None:
    columns = learned(sheet(outcome * 2) for outcome in "pfp").columns
    at = columns.places(["t0", "t1"])
    seen = experts.view(columns, Hazard(), at, 3, np.array([0.9, math.nan]), np.zeros(2))
    told = {
        expert: [reasons(columns, seen, at, expert, np.arange(2))(i) for i in range(2)]
        for expert in ("failure rate", "near the change")
    }
    assert told == {
        "failure rate": ["failed 1 of 3 runs, last 1 run ago"] * 2,
        "near the change": ["near the change (0.90)", "how near it is to the change is not known"],
    }
