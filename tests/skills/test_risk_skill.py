"""How likely each test is to fail now, from each kind of evidence."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.ports import TestRecord
from whet.skills.risk import Evidence, Risk, by_churn, by_coverage, by_diff, by_history, combined, ranked

CART, USER, NEW = "tests/test_cart.py::a", "tests/test_user.py::b", "tests/test_new.py::c"


def record(test: str, failures: int, decayed: float) -> TestRecord:
    return TestRecord(
        test=test,
        executions=10,
        failures=failures,
        same_code_executions=0,
        same_code_failures=0,
        last_outcome="passed",
        mean_seconds=1.0,
        last_failed_runs_ago=None,
        decayed_failures=decayed,
    )


def evidence(**changes: Any) -> Evidence:
    fields: dict[str, Any] = {
        "tests": (CART, USER, NEW),
        "changed": {"shop/cart.py": (1, 2, 3, 4)},
        "covered": {CART: {"shop/cart.py": (1, 2, 9)}, USER: {"shop/user.py": (1,)}},
        "records": {CART: record(CART, 2, 1.0), USER: record(USER, 0, 0.0)},
        "churn": {"shop/cart.py": 8, "shop/user.py": 2},
    }
    return Evidence(**(fields | changes))


def risks(view: Callable[[Evidence], dict[str, Risk]], **changes: Any) -> list[float]:
    found = view(evidence(**changes))
    return [found[t].risk for t in (CART, USER, NEW)]


def test_coverage_counts_the_changed_lines_a_test_runs() -> None:
    # 2 of 4 changed lines: 0.5 + 0.25; no changed code; never measured
    assert risks(by_coverage) == pytest.approx([0.75, 0.01, 0.3])
    assert by_coverage(evidence())[CART].because == "runs 2 changed line(s)"


def test_entering_a_changed_file_counts_for_a_little() -> None:
    assert risks(by_coverage, changed={"shop/cart.py": (100,)})[0] == pytest.approx(0.2)


def test_running_every_changed_line_is_the_most() -> None:
    assert risks(by_coverage, changed={"shop/cart.py": (1, 2)})[0] == 1.0


def test_a_file_changed_without_lines_still_counts() -> None:
    assert risks(by_coverage, changed={"shop/cart.py": ()})[0] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("changed", "risk"),
    [
        ("tests/test_cart.py", 0.9),
        ("shop/cart.py", 0.7),
        ("tests/unit/other.py", 0.05),
        ("docs/readme.py", 0.05),
    ],
)
def test_names_and_places(changed: str, risk: float) -> None:
    assert risks(by_diff, changed={changed: (1,)})[0] == pytest.approx(risk)


def test_a_neighbour_is_one_that_shares_a_folder_of_its_own() -> None:
    near = evidence(tests=("tests/billing/test_tax.py::a",), changed={"src/billing/money.py": (1,)})
    assert by_diff(near)["tests/billing/test_tax.py::a"].risk == pytest.approx(0.2)


def test_past_failures_fade() -> None:
    # x / (1 + x) at x = 1; never failed; never ran
    assert risks(by_history) == pytest.approx([0.5, 0.02, 0.3])


def test_churn_is_measured_against_the_busiest_file() -> None:
    assert risks(by_churn) == pytest.approx([0.5, 0.125, 0.0])
    assert risks(by_churn, churn={}) == [0.0, 0.0, 0.0]


def test_any_sign_may_be_the_right_one() -> None:
    found = combined(evidence())
    # 1 − (1 − 0.75)(1 − 0.7)(1 − 0.5)
    assert found[CART].risk == pytest.approx(0.9625)
    assert found[CART].because == "runs 2 changed line(s)"


def test_the_riskiest_first_and_equals_in_their_own_order() -> None:
    told = {t: Risk(test=t, risk=r, because="") for t, r in (("a", 0.1), ("b", 0.9), ("c", 0.1), ("d", 0.5))}
    assert [r.test for r in ranked(told)] == ["b", "d", "a", "c"]


views = st.sampled_from([by_coverage, by_diff, by_history, by_churn, combined])
files = st.sampled_from(["shop/cart.py", "shop/user.py", "tests/test_cart.py", "conftest.py"])
lines = st.lists(st.integers(1, 9), max_size=5)


@given(
    views,
    st.dictionaries(files, lines),
    st.dictionaries(st.sampled_from([CART, USER, NEW]), st.dictionaries(files, lines)),
    st.dictionaries(files, st.integers(0, 50)),
    st.floats(0, 1e6),
)
def test_every_test_gets_a_probability_and_a_reason(
    view: Callable[[Evidence], dict[str, Risk]],
    changed: dict[str, list[int]],
    covered: dict[str, dict[str, list[int]]],
    churn: dict[str, int],
    decayed: float,
) -> None:
    found = view(evidence(changed=changed, covered=covered, churn=churn, records={CART: record(CART, 1, decayed)}))
    assert list(found) == [CART, USER, NEW]
    assert all(r.test == t and 0.0 <= r.risk <= 1.0 and r.because for t, r in found.items())


@given(st.dictionaries(files, lines), st.floats(0, 50))
def test_taken_together_is_never_less_than_the_strongest_sign(changed: dict[str, list[int]], decayed: float) -> None:
    told = evidence(changed=changed, records={CART: record(CART, 1, decayed)})
    together = combined(told)
    for view in (by_coverage, by_diff, by_history):
        assert all(together[t].risk >= r.risk - 1e-12 for t, r in view(told).items())
