"""Which tests first, and which at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.ports import TestRecord
from whet.skills.ordering import affected, failed_first, fast_first, named_after

TESTS = ("tests/test_cart.py::a", "tests/test_cart.py::b", "tests/test_user.py::c", "tests/test_user.py::d")
A, B, C, D = TESTS


def record(test: str, *, failing: float = 0.0, seconds: float = 1.0) -> TestRecord:
    return TestRecord(
        test=test,
        executions=10,
        failures=1 if failing else 0,
        same_code_executions=0,
        same_code_failures=0,
        last_outcome="passed",
        mean_seconds=seconds,
        last_failed_runs_ago=1 if failing else None,
        decayed_failures=failing,
    )


def records(**fields: dict[str, float]) -> dict[str, TestRecord]:
    names = {"a": A, "b": B, "c": C, "d": D}
    return {names[n]: record(names[n], **values) for n, values in fields.items()}


def test_what_failed_most_lately_goes_first() -> None:
    known = records(a={"failing": 0.0}, b={"failing": 0.7}, d={"failing": 1.49})
    assert failed_first(TESTS, known) == (D, B, A, C)


def test_the_quickest_goes_first_and_an_untimed_one_in_the_middle() -> None:
    known = records(a={"seconds": 9.0}, b={"seconds": 1.0}, c={"seconds": 4.0})
    # the average is 14/3
    assert fast_first(TESTS, known) == (B, C, D, A)


def test_without_history_the_own_order_stays() -> None:
    assert failed_first(TESTS, {}) == fast_first(TESTS, {}) == TESTS


@given(st.permutations(TESTS), st.dictionaries(st.sampled_from(TESTS), st.floats(0, 10)))
def test_ordering_loses_and_invents_no_test(tests: list[str], numbers: dict[str, float]) -> None:
    known = {t: record(t, failing=n, seconds=n) for t, n in numbers.items()}
    assert sorted(failed_first(tests, known)) == sorted(fast_first(tests, known)) == sorted(TESTS)


COVERED: dict[str, dict[str, tuple[int, ...]]] = {
    A: {"shop/cart.py": (1, 2), "shop/money.py": (5,)},
    B: {"shop/cart.py": (3,)},
    C: {"shop/user.py": (1,)},
    D: {"shop/user.py": (2,), "shop/money.py": (5,)},
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (["shop/cart.py"], (A, B)),
        (["shop/money.py"], (A, D)),
        (["shop/money.py", "shop/user.py"], (A, C, D)),
        (["tests/test_user.py"], (C, D)),
        ([], ()),
    ],
)
def test_tests_that_ran_what_changed_are_affected(changed: list[str], expected: tuple[str, ...]) -> None:
    assert affected(TESTS, dict.fromkeys(changed, (1,)), COVERED) == expected


def test_without_a_coverage_map_nothing_is_left_out() -> None:
    assert affected(TESTS, {"shop/cart.py": (1,)}, {}) == TESTS


def test_a_test_without_coverage_is_never_left_out() -> None:
    known = {t: lines for t, lines in COVERED.items() if t != C}
    assert affected(TESTS, {"shop/cart.py": (1,)}, known) == (A, B, C)


@pytest.mark.parametrize("file", ["conftest.py", "tests/conftest.py", "pyproject.toml", "data/prices.csv", "Makefile"])
def test_what_every_test_may_read_affects_every_test(file: str) -> None:
    assert affected(TESTS, {file: (1,)}, COVERED) == TESTS


def test_a_test_named_after_what_changed_is_affected() -> None:
    """Lines that run at import are nobody's coverage, so the name is what tells."""
    known = COVERED | {A: {"shop/money.py": (5,)}, B: {"shop/money.py": (5,)}, C: {"shop/cart.py": (9,)}}
    assert affected(TESTS, {"shop/cart.py": (1,)}, known) == (A, B, C)


def test_a_changed_file_that_no_test_is_known_to_run_may_matter_to_any() -> None:
    """Constants run at import; no test is seen to run them, and every test may depend on them."""
    assert affected(TESTS, {"shop/constants.py": (1,)}, COVERED) == TESTS


@pytest.mark.parametrize(
    ("test", "file", "expected"),
    [
        ("tests/test_cart.py::a", "shop/cart.py", True),
        ("tests/cart_test.py::a", "shop/cart.py", True),
        ("tests/test_shopping_cart.py::a", "shop/cart.py", True),
        ("tests/test_cart.py::a", "shop/_cart.py", True),
        ("tests/test_cart.py::test_user", "shop/user.py", False),
        ("tests/test_user.py::a", "shop/cart.py", False),
        ("tests/test_io.py::a", "shop/io.py", False),
        ("tests/test_cart.py::a", "tests/test_cart.py", False),
    ],
)
def test_names(test: str, file: str, expected: bool) -> None:
    assert named_after(test, file) is expected
