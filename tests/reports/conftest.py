from datetime import UTC, datetime, timedelta

import pytest

from whet.core.records import Finding, Part
from whet.reports.model import (
    CoverageLine,
    FlakyLine,
    FoundLine,
    RiskLine,
    RunReport,
    StepLine,
    TestLine,
    VisitLine,
)

BEGUN = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
FIFTY = "tests/test_shipping.py::test_fifty_euros_travel_free"
BULK = "tests/test_discounts.py::test_bulk_codes_are_all_different"
OPENS = "tests/test_discounts.py::test_shop_opens_without_codes"
LABEL = "tests/test_catalogue.py::test_label_lists_tags"
PICKUP = "tests/test_shipping.py::test_pickup_is_asked_for_again"


def failing() -> Finding:
    return Finding(
        kind="failing-test",
        title=f"{FIFTY} fails every time",
        severity="high",
        evidence="Failed in 6 of 6 executions.\n> assert cost(euros('50'), 900) == 0\nE   assert Decimal('3.90') == 0",
        reproduce=f"python -m pytest {FIFTY}",
        file="tests/test_shipping.py",
        line=29,
        test=FIFTY,
    )


def flaky() -> Finding:
    return Finding(
        kind="flaky-test",
        title=f"{BULK} sometimes fails",
        severity="medium",
        evidence="Failed in 7 of 24 executions of the same code; more often when the random seed changes.",
        reproduce=f"PYTHONHASHSEED=0 python -m pytest {BULK} --count 20",
        test=BULK,
        probability=0.29,
    )


def gap() -> Finding:
    return Finding(
        kind="coverage-gap",
        title="Refunds are not tested",
        severity="low",
        evidence="14 lines of Desk.refund were never executed.",
        file="src/shop/orders.py",
        line=89,
    )


def steps() -> tuple[StepLine, ...]:
    return (
        StepLine(
            agent="test-executor",
            action="parallel_two",
            action_summary="Run the suite with two workers",
            decided_by="policy",
            explored=False,
            confidence=0.86,
            probability=0.93,
            reward_raw=31.5,
            reward_shaped=31.5,
            reward_credited=18.9,
            parts=(
                Part(name="failures found", points=20.0, because="2 failing tests"),
                Part(name="time saved", points=14.5, because="3.1 s instead of 5.2 s"),
                Part(name="memory", points=-3.0),
                Part(name="satisfaction", points=None, because="nobody rated the run"),
            ),
            started_seconds=0.4,
            duration_seconds=3.1,
            why="Two workers were 1.7 times as fast in three earlier visits, and found the same failures.",
            highlights={"tests": "177", "failed": "3", "wall time": "3.1 s"},
        ),
        StepLine(
            agent="flaky-test-hunter",
            action="repeat_shuffled",
            action_summary="Repeat suspects in shuffled order",
            decided_by="policy",
            explored=True,
            confidence=0.41,
            probability=0.07,
            reward_raw=12.0,
            reward_shaped=12.4,
            reward_credited=9.0,
            parts=(Part(name="flaky tests found", points=18.0), Part(name="time", points=-6.0)),
            started_seconds=3.6,
            duration_seconds=11.2,
            why="Tried to learn more: shuffling was used once before in this state.",
            highlights={"suspects": "6", "confirmed flaky": "2"},
        ),
        StepLine(
            agent="coverage-analyzer",
            action="measure_all",
            action_summary="Measure the whole suite",
            decided_by="safe-default",
            explored=False,
            confidence=None,
            probability=None,
            reward_raw=None,
            reward_shaped=None,
            reward_credited=None,
            started_seconds=None,
            duration_seconds=None,
            why="Nothing is known of this state yet, so the whole suite was measured.",
        ),
    )


@pytest.fixture
def report() -> RunReport:
    return RunReport(
        project="shop",
        run_id="5f0c2b7e9d",
        started_at=BEGUN,
        ended_at=BEGUN + timedelta(seconds=24),
        seed=4711,
        budget_seconds=60,
        used_seconds=23.7,
        status="finished",
        python_path="/srv/shop/.venv/bin/python",
        python_version="3.11.9",
        whet_version="0.1.0",
        tests=(
            TestLine(id=FIFTY, last_outcome="failed", mean_seconds=0.002, executions=6, failures=6),
            TestLine(id=PICKUP, last_outcome="passed", mean_seconds=0.7, executions=6, failures=0),
            TestLine(id=BULK, last_outcome="passed", mean_seconds=0.31, executions=24, failures=7),
            TestLine(id=LABEL, last_outcome="failed", mean_seconds=0.12, executions=24, failures=11),
            TestLine(id=OPENS, last_outcome=None, mean_seconds=None, executions=0, failures=0),
        ),
        findings=(
            FoundLine(finding=gap(), new=False),
            FoundLine(finding=flaky(), new=False),
            FoundLine(finding=failing(), new=True),
        ),
        steps=steps(),
        coverage=(
            CoverageLine(path="src/shop/cart.py", percent=100.0),
            CoverageLine(path="src/shop/orders.py", percent=79.3, missing=tuple(range(89, 103))),
            CoverageLine(path="src/shop/price_lists.py", percent=87.0, missing=(38, 39, *range(46, 52), 82)),
            CoverageLine(path="src/shop/labels.py", percent=None),
        ),
        flaky=(
            FlakyLine(
                test=BULK, probability=0.29, low=0.15, high=0.49, failures=7, executions=24, causes=("randomness",)
            ),
            FlakyLine(
                test=LABEL, probability=0.46, low=0.28, high=0.65, failures=11, executions=24, causes=("hash seed",)
            ),
            FlakyLine(test=OPENS, probability=None, failures=1, executions=3),
        ),
        risks=(
            RiskLine(test=FIFTY, risk=0.81, reason="executes src/shop/shipping.py:40, changed in the newest commit"),
            RiskLine(test=PICKUP, risk=None, reason="not in the coverage map yet"),
        ),
        what_changed=(
            "Durations of 177 tests from 3 earlier visits put the slow ones first.",
            "Two workers were chosen because they paid off in 3 of 3 visits.",
        ),
        learning=(
            VisitLine(number=1, started_at=BEGUN - timedelta(days=2), credited=-4.2, seconds_used=58, findings=5),
            VisitLine(number=2, started_at=BEGUN - timedelta(days=1), credited=None, seconds_used=None, findings=None),
            VisitLine(number=3, started_at=BEGUN - timedelta(hours=3), credited=16.0, seconds_used=31, findings=4),
            VisitLine(number=4, started_at=BEGUN, credited=27.9, seconds_used=23.7, findings=3),
        ),
        exit_code=1,
    )
