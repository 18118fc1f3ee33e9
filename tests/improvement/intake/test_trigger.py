"""When training is due: by count and age, whatever the clock does."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.improvement.intake.lived import NOON

from whet.core.errors import RefusedInput
from whet.improvement.intake.trigger import Rule, due


def after(hours: float) -> datetime:
    return NOON + timedelta(hours=hours)


@pytest.mark.parametrize(
    ("waiting", "hours", "expected", "sentence"),
    [
        (612, 5, False, "612 of 1,000 experiences; 5 h of 24 h"),
        (1000, 5, False, "1,000 of 1,000 experiences; 5 h of 24 h"),
        (1000, 23.99, False, "1,000 of 1,000 experiences; 23 h of 24 h"),
        (1000, 24, True, "1,000 of 1,000 experiences; 24 h of 24 h"),
        (999, 48, False, "999 of 1,000 experiences; 48 h of 24 h"),
        (0, 0.5, False, "0 of 1,000 experiences; 30 min of 24 h"),
    ],
)
def test_both_are_needed_and_told(waiting: int, hours: float, expected: bool, sentence: str) -> None:
    assert due(waiting, NOON, NOON, after(hours)) == (expected, sentence)


def test_the_first_batch_needs_no_waiting() -> None:
    assert due(1000, NOON, None, NOON) == (True, "1,000 of 1,000 experiences; the first batch needs no waiting")
    assert not due(999, NOON, None, after(1000)).due


def test_more_than_enough_and_a_single_one_are_told_as_people_say_it() -> None:
    told = [due(waiting, NOON, None, NOON, Rule(1, 0.0)).sentence for waiting in (0, 1, 2)]
    assert [each.partition(";")[0] for each in told] == [
        "0 of 1 experience",
        "1 of 1 experience",
        "2 experiences, 1 needed",
    ]


def test_a_clock_that_went_back_does_not_block_for_ever() -> None:
    """The last batch was closed under a clock that was a year ahead."""
    last = after(365 * 24)
    waits = due(5000, NOON, last, after(23))
    assert waits.due is False
    assert waits.sentence.endswith(
        "23 h of 24 h since the oldest was collected (the clock went back since the last batch)"
    )
    assert due(5000, NOON, last, after(24)).due
    # Also when everything was collected under the wrong clock.
    assert due(5000, last, last, NOON).due


def test_a_clock_that_jumps_ahead_and_back_makes_one_batch_of_the_same_experiences() -> None:
    """A pipeline of 1,000 experiences, looked at before, during and after the jump."""
    waiting, last, closed = 1000, NOON, 0
    for now in (after(1), after(1000), after(1), after(2), after(30)):
        if due(waiting, NOON, last, now).due:
            waiting, last, closed = 0, now, closed + 1
    assert closed == 1


def test_the_rule_is_configurable() -> None:
    rule = Rule(fewest=10, hours=0.5)
    assert due(10, NOON, NOON, after(0.5), rule) == (True, "10 of 10 experiences; 30 min of 0.5 h")


@given(st.integers(0, 10_000), st.floats(-1e4, 1e4), st.floats(-1e4, 1e4) | st.none(), st.floats(-1e4, 1e4))
def test_never_with_too_few(waiting: int, oldest: float, last: float | None, now: float) -> None:
    """Whatever the clocks say; and once the last batch and the wait are past, always with enough."""
    found = due(waiting, after(oldest), None if last is None else after(last), after(now))
    assert not (found.due and waiting < 1000)
    assert (
        found.due
        or waiting < 1000
        or (last is not None and after(now) - after(max(last, oldest)) < timedelta(hours=24))
    )


@pytest.mark.parametrize("wrong", [{"fewest": 0}, {"hours": -1.0}, {"hours": float("nan")}, {"hours": float("inf")}])
def test_unusable_rules_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(RefusedInput, match="cannot be due"):
        Rule(**wrong)  # type: ignore[arg-type]


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(RefusedInput, match="-1 experiences cannot wait"):
        due(-1, None, None, NOON)
