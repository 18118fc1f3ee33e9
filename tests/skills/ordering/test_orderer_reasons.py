"""Why a test stands where it does: what is said is what happened."""

import pytest
from tests.skills.ordering.made_sheets import learned, sheet

from whet.skills.ordering import Orderer


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
    assert reason(learned([sheet("p")]), nearness={"t0": 0.1}) == "passed all of its 1 runs"
    assert reason(learned([sheet("p")]), nearness={"t1": 0.9}) == "passed all of its 1 runs"
    assert reason(Orderer(), nearness={"t0": 0.3}) == "near the change (0.30); never ran before"


def test_flaky() -> None:
    told = reason(learned(sheet(outcome, code_version="same") for outcome in "pfp"))
    assert told == "failed 1 of 3 runs, last 1 run ago; changed its verdict 2× on equal code, so it counts less"


def test_in_company_of_what_failed_last() -> None:
    orderer = learned([sheet("ff"), sheet("ff"), sheet("pf")])
    assert reason(orderer) == "failed 2 of 3 runs, last 1 run ago"  # what it did itself is said first
    # A new name for what always failed with t1: nothing of its own is known but that.
    orderer.company.together["t1"]["t2"] = 3.0
    orderer.learn(sheet("p", ["t2"]))
    ranked = orderer.rank(["t2"])
    assert ranked[0].reason == "fails together with what failed last"
