"""Looks worked by hand: what was measured, and the one thing that follows from it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.improvement.rollout.rollout_scenes import BASE, HOUR, START, candidate

from whet.core.candidates import Stage
from whet.core.learning_log import UnitResult
from whet.improvement.proving.sequences import compare
from whet.improvement.rollout.arms import Arms
from whet.improvement.rollout.plan import Plan
from whet.improvement.rollout.watching import Look, Verdict, watch

DAY = 24 * HOUR
PLAN = Plan()


def _arm(rewards: Sequence[float], policy: str = BASE, success: float = 1.0, decisions: int = 5) -> list[UnitResult]:
    return [
        UnitResult(f"{policy}-{number}", policy, decisions, reward, success, START + HOUR)
        for number, reward in enumerate(rewards)
    ]


def _swing(mean: float, count: int, by: float = 10.0) -> list[float]:
    """Half of them above the mean by so much, half below: the mean is exact, the spread known."""
    return [mean + (by if number % 2 else -by) for number in range(count)]


def _look(
    own: Sequence[float], others: Sequence[float], *, hours: float = 25, share: float = 0.1, trouble: str | None = None,
    plan: Plan = PLAN, decisions: int = 5, **changes: Any,
) -> Look:  # fmt: skip
    seen = candidate(share=share, **changes)
    arms = Arms(_arm(own, "candidate-12", decisions=decisions), _arm(others), trouble)
    return watch(seen, arms, plan, START + hours * HOUR)


def test_the_sentence_of_a_candidate_on_its_way() -> None:
    """Its numbers are those of the comparison, per run; the decisions are counted, not compared."""
    own, others = _swing(54.1, 42), _swing(50.0, 400)
    bounds = compare(own, others, 0.95)
    look = _look(own, others, hours=3)
    assert look.verdict is Verdict.WAIT
    assert look.sentence == (
        "candidate 12 is at 10 % since 3 h: 210 decisions, +4.1 reward "
        f"(always-valid 95 %: {bounds.lower:+.1f} … {bounds.upper:+.1f}); next step at 500"
    )


def test_nothing_is_concluded_from_too_little() -> None:
    look = _look([-500.0] * 29, [50.0] * 400)
    assert (look.verdict, look.seen and look.seen.lower) == (Verdict.WAIT, None)
    assert "-550.0 reward (29 runs against 400: no interval yet); next step at 500" in look.sentence
    nothing = _look([], [])
    assert nothing.sentence == "candidate 12 is at 10 % since 25 h: 0 decisions, reward unknown; next step at 500"


@pytest.mark.parametrize(
    ("changes", "wanting"),
    [
        ({"decisions": 4}, "next step at 500"),
        ({"own": _swing(60, 99), "decisions": 9}, "next step at 100 runs (of 99)"),
        ({"others": _swing(50, 29)}, "next step at 30 runs of the baseline (of 29)"),
        ({"hours": 23}, "next step in 60 min"),
        ({"hours": 20}, "next step in 4 h"),
    ],
)
def test_a_step_wants_decisions_runs_and_time(changes: dict[str, Any], wanting: str) -> None:
    look = _look(**({"own": _swing(60, 100), "others": _swing(50, 900)} | changes))
    assert (look.verdict, look.sentence.partition("; ")[2]) == (Verdict.WAIT, wanting)


def test_not_worse_is_enough_for_the_next_share_and_not_for_production() -> None:
    """+1 on 50 with ±10 each way: the lower bound lies between −2.5 (95 % of the baseline) and 0."""
    own, others = _swing(51, 300), _swing(50, 2700)
    tenth, half = (_look(own, others, share=share) for share in (0.1, 0.5))
    assert tenth.seen is not None
    assert tenth.seen.lower is not None
    assert -2.5 < tenth.seen.lower < 0
    assert (tenth.verdict, tenth.sentence.partition("; ")[2]) == (
        Verdict.NEXT_SHARE,
        "it is not worse and goes to 50 %",
    )
    assert (half.verdict, half.sentence.partition("; ")[2]) == (Verdict.WAIT, "no next step yet: it may be no better")


def test_a_t_test_that_is_convinced_decides_nothing() -> None:
    """It would be, here, if this were the only look ever taken."""
    for own in (_swing(51.5, 300), _swing(48.5, 300)):
        look = _look(own, _swing(50, 2700), share=0.5)
        assert look.seen is not None
        assert look.seen.t_test_p is not None
        assert look.seen.t_test_p < 0.02
        assert look.verdict is Verdict.WAIT


def test_better_goes_to_production_from_the_last_share_alone() -> None:
    own, others = _swing(60, 300), _swing(50, 300)
    assert _look(own, others, share=0.5).verdict is Verdict.PROMOTE
    assert _look(own, others, share=0.1).verdict is Verdict.NEXT_SHARE  # one step, however good it is


def test_what_may_be_worse_waits_and_then_a_person_is_asked() -> None:
    wide = _look(_swing(50.5, 100, 30), _swing(50, 900, 30))
    assert wide.sentence.endswith("no next step yet: it may be worse by more than 2.5")
    less = _look(_swing(49.9, 100), _swing(50, 900))
    assert less.sentence.endswith("no next step yet: so far it earns less")
    last = _look(_swing(49.9, 2000), _swing(50, 18_000))
    assert (last.verdict, last.sentence.partition("; ")[2]) == (
        Verdict.PAUSE,
        "paused for a person: inconclusive after 2,000 runs, so far it earns less",
    )


@pytest.mark.parametrize(
    ("own", "others", "why"),
    [
        (_swing(34, 60), _swing(50, 540), "rolled back: its reward is 16.0 lower, and 15 is the limit"),
        (_swing(44, 60), _swing(50, 540), "rolled back: its reward is lower, below 95 % of the baseline's 50.0"),
        (_swing(-56, 60), _swing(-50, 540), "rolled back: its reward is lower, below 95 % of the baseline's -50.0"),
        (
            _swing(48, 800),
            _swing(50, 7200),
            "rolled back: its reward is lower, perhaps below 95 % of the baseline's 50.0",
        ),
        (_swing(49, 8000), _swing(50, 72_000), "rolled back: its reward is lower with a confidence of 95 %"),
        ([4.0] * 30, [5.0] * 270, "rolled back: its reward is lower, below 95 % of the baseline's 5.0"),
    ],
)
def test_the_reward_rules_of_rollback(own: list[float], others: list[float], why: str) -> None:
    look = _look(own, others, hours=1)
    assert (look.verdict, look.sentence.partition("; ")[2]) == (Verdict.ROLL_BACK, why)


def test_a_large_drop_in_few_noisy_runs_is_not_believed() -> None:
    assert _look(_swing(34, 40, 60), _swing(50, 360, 60)).verdict is Verdict.WAIT


def _failing(share: float, count: int) -> list[UnitResult]:
    return [
        each._replace(success=float(number >= share * count)) for number, each in enumerate(_arm(_swing(50, count)))
    ]


@pytest.mark.parametrize(
    ("fails", "verdict", "why"),
    [
        (0.30, Verdict.ROLL_BACK, "rolled back: its success rate is 0.20 lower, and 0.1 is the limit"),
        (0.19, Verdict.ROLL_BACK, "rolled back: its success rate is 0.09 lower, perhaps more, and 0.1 is the limit"),
        (0.12, Verdict.NEXT_SHARE, "it is not worse and goes to 50 %"),
    ],
)
def test_the_success_rule_of_rollback(fails: float, verdict: Verdict, why: str) -> None:
    arms = Arms([each._replace(policy="candidate-12") for each in _failing(fails, 400)], _failing(0.1, 3600))
    look = watch(candidate(), arms, PLAN, START + 25 * HOUR)
    assert (look.verdict, look.sentence.partition("; ")[2]) == (verdict, why)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_a_number_pauses_for_a_person(bad: float) -> None:
    for own, others, whose in (
        (_swing(60, 299), _swing(50, 300), "its 300"),
        (_swing(60, 300), _swing(50, 299), "the"),
    ):
        spoilt = [[*own, bad] if len(own) == 299 else own, [*others, bad] if len(others) == 299 else others]
        look = _look(*spoilt, share=0.5)
        assert look.verdict is Verdict.PAUSE
        assert f"paused for a person: 1 of {whose}" in look.sentence
    assert _look([bad] * 300, _swing(50, 300), share=0.5, paused=True).verdict is Verdict.WAIT


def test_missing_results_pause_for_a_person_unless_the_rest_is_worse() -> None:
    better, worse, others = _swing(60, 300), _swing(30, 300), _swing(50, 300)
    look = _look(better, others, share=0.5, trouble="half of it is missing")
    assert (look.verdict, look.sentence.partition("; ")[2]) == (
        Verdict.PAUSE,
        "paused for a person: half of it is missing",
    )
    assert _look(worse, others, share=0.5, trouble="half of it is missing").verdict is Verdict.ROLL_BACK


def test_paused_it_does_not_go_on_but_back() -> None:
    assert _look(_swing(60, 300), _swing(50, 300), share=0.5, paused=True).verdict is Verdict.WAIT
    assert _look(_swing(30, 300), _swing(50, 300), share=0.5, paused=True).verdict is Verdict.ROLL_BACK


def test_a_clock_far_behind_begins_the_step_again_and_a_little_behind_waits() -> None:
    own, others = _swing(60, 300), _swing(50, 300)
    assert _look(own, others, hours=-1).verdict is Verdict.BEGIN_AGAIN
    assert _look(own, others, hours=-0.05).verdict is Verdict.WAIT
    assert "since" not in _look(own, others, hours=-0.05).sentence


def test_a_clock_far_ahead_takes_no_step_without_runs() -> None:
    assert _look([], [], hours=24 * 365).verdict is Verdict.WAIT


def test_probation_goes_back_waits_or_ends() -> None:
    on: dict[str, Any] = {"stage": Stage.PRODUCTION, "share": 1.0}
    others = _swing(50, 300)
    assert _look(_swing(30, 300), others, **on).verdict is Verdict.ROLL_BACK
    waiting = _look(_swing(50, 300), others, **on)
    assert waiting.sentence.startswith("candidate 12 is in production since 25 h: 1,500 decisions, +0.0 reward (")
    assert waiting.sentence.endswith("; its probation ends in 6 d")
    assert _look(_swing(50, 300), others, hours=168, **on).verdict is Verdict.SETTLED
    assert _look([], others, hours=24 * 365, **on).sentence.endswith("its probation ends at 500")
    # Nothing was measured before: there is nothing to go back for, and it does not stay on probation for ever.
    assert _look(_swing(50, 300), [], hours=168, **on).verdict is Verdict.SETTLED


_rewards = st.lists(st.floats(-10_000, 10_000), max_size=80)


@given(_rewards, _rewards, st.sampled_from([0.1, 0.5]), st.floats(-1e5, 1e5), st.booleans())
@settings(max_examples=100, deadline=None)
def test_whatever_was_measured_only_better_goes_to_production_and_only_worse_goes_back(
    own: list[float], others: list[float], share: float, hours: float, paused: bool
) -> None:
    plan = Plan(fewest_units=20, fewest_decisions=1, judged_from=20, most_units=60)
    look = _look(own, others, share=share, hours=hours, paused=paused, plan=plan)
    assert look.sentence
    if look.verdict in (Verdict.NEXT_SHARE, Verdict.PROMOTE):
        assert len(own) >= 20
        assert hours >= 24
        assert not paused
        assert look.seen is not None
        assert look.seen.difference is not None
        assert look.seen.difference >= 0
    if look.verdict is Verdict.PROMOTE:
        assert share == 0.5
        assert look.seen is not None
        assert look.seen.lower is not None
        assert look.seen.lower > 0
    if look.verdict is Verdict.ROLL_BACK:
        assert look.seen is not None
        uppers = (look.seen.alarm_upper, look.seen.success_upper)
        assert any(upper is not None and upper < 0 for upper in uppers)


@pytest.mark.parametrize(
    "wrong",
    [{"shares": (0.5, 0.1)}, {"shares": ()}, {"shares": (0.1, 1.0)}, {"most_units": 50}, {"confidence": 1.0},
     {"judged_from": 2}, {"reward_drop": float("nan")}, {"fewest_hours": float("inf")}],
)  # fmt: skip
def test_plans_that_cannot_work_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Plan(**wrong)


def test_an_alarm_needs_no_more_than_a_proof() -> None:
    assert (Plan().alarm, Plan(confidence=0.8).alarm) == (0.9, 0.8)
    assert (Plan().after(0.1), Plan().after(0.5)) == (0.5, None)
    assert timedelta(hours=Plan().fewest_hours) == timedelta(days=1)
