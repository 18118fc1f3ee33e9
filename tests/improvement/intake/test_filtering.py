"""The filter: each kind of unfit experience is refused with its reason, and nothing that was really lived is."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.improvement.intake.lived import NOON, PROFILE, lived, world

from whet.agents.catalogue import AGENTS
from whet.core.learning_log import Quality
from whet.core.records import Experience
from whet.improvement.intake.acquaintance import CONFIRMED_BY, KNOWN_GROUND
from whet.improvement.intake.filtering import Filter
from whet.improvement.intake.retention import Retention
from whet.improvement.world import shipped
from whet.rewards import profile, reward_of
from whet.store import open_store


def fresh(**changes: Any) -> Filter:
    given: dict[str, Any] = {"profile": PROFILE, "weights": {}} | changes
    return Filter(AGENTS, **given)


def verdict(experience: Experience, judging: Filter | None = None) -> tuple[Quality, str]:
    judged = (judging or fresh()).judge(experience, NOON)
    assert (judged.key, judged.agent) == (experience.key, experience.agent)
    return judged.quality, judged.why


def acquainted(count: int = KNOWN_GROUND) -> Filter:
    judging = fresh()
    for i in range(count):
        assert verdict(lived(f"known-{i}", outcome={"duration_seconds": 2.0 + i}), judging) == (Quality.GOOD, "")
    return judging


def test_everything_that_was_really_recorded_is_good() -> None:
    for each in shipped():
        judging, count = fresh(), 0
        for context in each.contexts:
            for action, outcomes in context.outcomes.items():
                for outcome in outcomes:
                    one = context.model_copy(update={"outcomes": {action: (outcome,)}})
                    turn = lived(str(count), action, of=each.model_copy(update={"contexts": (one,)}))
                    assert verdict(turn, judging) == (Quality.GOOD, "")
                    count += 1
        assert count > 20


def _copy(**update: object) -> Callable[[Experience], Experience]:
    return lambda experience: experience.model_copy(update=update)


def _decided(**update: object) -> Callable[[Experience], Experience]:
    return lambda experience: experience.model_copy(update={"decision": experience.decision.model_copy(update=update)})


def _rewarded(**update: object) -> Callable[[Experience], Experience]:
    return lambda experience: experience.model_copy(update={"reward": experience.reward.model_copy(update=update)})


def _with_state(**update: object) -> Callable[[Experience], Experience]:
    return lambda experience: experience.model_copy(update={"state": experience.state | update})


def _with_outcome(**update: object) -> Callable[[Experience], Experience]:
    return lambda experience: experience.model_copy(update={"outcome": experience.outcome | update})


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_copy(agent="nobody"), "There is no agent 'nobody'."),
        (_decided(action="delete_everything"), "test-executor has no action 'delete_everything'."),
        (_decided(run_id="another"), "Its decision is another agent's or another run's."),
        (_with_state(num_tests=-1), "Its state is no ExecutorState: num_tests"),
        (_with_state(num_tests=float("nan")), "Its state is no ExecutorState: num_tests"),
        (_with_state(unheard_of=1), "Its state is no ExecutorState: unheard_of"),
        (_copy(state={}), "Its state is no ExecutorState"),
        (_with_state(num_tests=5000), "Its state is not the one that it is filed under."),
        (_with_outcome(tests_run="many"), "Its outcome is no ExecutorOutcome: tests_run"),
        (_with_outcome(duration_seconds=float("inf")), "Its outcome is no ExecutorOutcome: duration_seconds"),
        (_with_outcome(cut_short=True), "The budget cut it short: it says nothing about the action."),
    ],
)
def test_malformed(spoil: Callable[[Experience], Experience], why: str) -> None:
    quality, told = verdict(spoil(lived()))
    assert quality is Quality.MALFORMED
    assert told.startswith(why)


def test_an_action_that_was_not_allowed_is_malformed() -> None:
    weighed = {"value": None, "uncertainty": None, "visits": 0, "source": "none", "probability": 1.0, "confidence": 1.0}
    one = lived()
    decision = one.decision.model_validate(
        one.decision.model_dump() | {"alternatives": [{"action": "run_fast_first", **weighed}]}
    )
    quality, told = verdict(one.model_copy(update={"decision": decision}))
    assert (quality, told) == (Quality.MALFORMED, "run_all_tests was not allowed where it was taken.")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_rewarded(credited=float("nan")), "Its credited reward is nan."),
        (_rewarded(raw=float("inf")), "Its raw reward is inf."),
        (_rewarded(raw=95.0), "Its raw reward 95 is not the sum of its parts."),
        (_rewarded(credited=9000.0), "Its credited reward 9000 is outside of"),
        (_decided(probability=0.0), "Its action was chosen with probability 0.0"),
        (_decided(probability=float("nan")), "Its action was chosen with probability nan"),
        (_decided(probability=1.5), "Its action was chosen with probability 1.5"),
        (_copy(at=NOON + timedelta(days=2)), "Its time, 2026-03-04 12:00, is more than a day ahead of the clock."),
    ],
)
def test_out_of_range(spoil: Callable[[Experience], Experience], why: str) -> None:
    quality, told = verdict(spoil(lived()))
    assert quality is Quality.OUT_OF_RANGE
    assert told.startswith(why)


def test_a_part_with_more_points_than_it_can_give_is_out_of_range() -> None:
    one = lived()
    parts = tuple(
        part.model_copy(update={"points": 500.0}) if part.name == "utilization" else part for part in one.reward.parts
    )
    quality, told = verdict(_rewarded(parts=parts)(one))
    assert (quality, told) == (Quality.OUT_OF_RANGE, "Its reward has 500 points for utilization, which gives 0 to 5.")


def test_the_same_under_another_key_is_a_duplicate_and_the_same_key_is_not() -> None:
    judging = fresh()
    assert verdict(lived("a", run_id="run"), judging)[0] is Quality.GOOD
    quality, told = verdict(lived("b", run_id="run"), judging)
    assert (quality, told.split(":")[0]) == (Quality.DUPLICATE, "It is a again")
    assert verdict(lived("a", run_id="run"), judging)[0] is Quality.GOOD
    assert verdict(lived("c", run_id="another run"), judging)[0] is Quality.GOOD
    assert verdict(lived("d", run_id="run", outcome={"duration_seconds": 9.5}), judging)[0] is Quality.GOOD


def test_memory_for_duplicates_is_bounded() -> None:
    judging = fresh(retention=Retention(stream=2))
    for key in ("a", "b", "c"):
        assert verdict(lived(key), judging)[0] is Quality.GOOD
    assert verdict(lived("again", run_id="run-a"), judging)[0] is Quality.GOOD  # a is forgotten
    assert verdict(lived("again c", run_id="run-c"), judging)[0] is Quality.DUPLICATE


def test_a_restarted_filter_knows_what_came_before(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/whet.db") as store:
        for each in (lived("a", run_id="run"), lived("b", run_id="run")):
            store.experiences.learn(each, None)
        judging = fresh()
        stored = store.experiences.recent(limit=1000)[::-1]
        judging.remember(stored)
        assert [verdict(each, judging)[0] for each in stored] == [Quality.GOOD, Quality.DUPLICATE]
        assert verdict(lived("c", run_id="run"), judging)[0] is Quality.DUPLICATE
        only_remembering = fresh()
        only_remembering.remember(stored)
        assert verdict(lived("c", run_id="run"), only_remembering)[0] is Quality.DUPLICATE


def test_of_too_many_that_wait_the_oldest_are_stale() -> None:
    judging = fresh(retention=Retention(stream=3))
    told = [judging.judge(lived(str(newer)), NOON, newer) for newer in (4, 3, 2)]
    assert [each.quality for each in told] == [Quality.STALE, Quality.STALE, Quality.GOOD]
    assert told[0].why == "4 newer ones wait; of those that wait, the newest 3 are kept."


def test_old_ones_are_stale_after_seven_days() -> None:
    assert verdict(lived(at=NOON - timedelta(days=6.99)))[0] is Quality.GOOD
    old = lived(at=NOON - timedelta(days=7.5))
    assert verdict(old) == (Quality.STALE, "It is 7.5 days old; experiences are kept for 7.")
    assert verdict(old, fresh(retention=Retention(days=8)))[0] is Quality.GOOD


def test_other_reward_rules_make_it_stale() -> None:
    composite = fresh(profile=profile("composite"))
    told = "It was rewarded by the profile multi-objective; now it is composite."
    assert verdict(lived(), composite) == (Quality.STALE, told)
    dearer = fresh(weights={"execution_speed": 0.5})
    told = "It was rewarded with weight 0.15 for execution_speed; now it is 0.5."
    assert verdict(lived(), dearer) == (Quality.STALE, told)
    # What was rewarded under the present weights is not.
    turn = lived()
    agent = AGENTS[turn.agent]
    state, outcome = agent.state_type.model_validate(turn.state), agent.outcome_type.model_validate(turn.outcome)
    value = agent.value(state, agent.action("run_all_tests"), outcome)
    again = turn.with_reward(reward_of(PROFILE, value, {"execution_speed": 0.5}))
    assert verdict(again, dearer)[0] is Quality.GOOD


HUGE = {"total_duration_estimate": 5e6}


def test_first_states_of_a_new_project_are_welcome_however_far() -> None:
    judging = fresh()
    for i, seconds in enumerate((0.01, 5e6, 3.0, 1e-6, 9e8)):
        assert verdict(lived(str(i), state={"total_duration_estimate": seconds}), judging)[0] is Quality.GOOD


def test_a_hundredfold_off_is_off_distribution_until_other_runs_confirm_it() -> None:
    judging = acquainted()
    quality, why = verdict(lived("far", state=HUGE), judging)
    assert quality is Quality.OFF_DISTRIBUTION
    assert why == (
        "total_duration_estimate is 5e+06, a hundredfold off everything in the 50 states before; "
        "it will be believed when 3 runs say so."
    )
    # The same run saying it again confirms nothing.
    again = lived("far again", run_id="run-far", state=HUGE, outcome={"duration_seconds": 7.0})
    assert verdict(again, judging)[0] is Quality.OFF_DISTRIBUTION
    later = [verdict(lived(f"later-{i}", state=HUGE), judging)[0] for i in range(CONFIRMED_BY - 1)]
    assert later == [Quality.OFF_DISTRIBUTION, Quality.GOOD]


@pytest.mark.parametrize(
    "state",
    [
        {"num_tests": 780, "affected_tests": 780},
        {"total_duration_estimate": 60.0},
        {"total_duration_estimate": None},
        {"ci_environment": True, "test_complexity": "complex"},
        {"flaky_test_rate": 1.0},
    ],
)
def test_new_situations_are_not_thrown_away(state: dict[str, Any]) -> None:
    """Ten times the tests, sixty times the time, other names, other shares, unknown ones."""
    assert verdict(lived("new", state=state), acquainted()) == (Quality.GOOD, "")


def test_suspected_hacks_are_refused_with_their_sentence() -> None:
    quality, why = verdict(lived(outcome={"tests_run": 3}))
    assert quality is Quality.SUSPECTED_HACK
    assert why.startswith("run_all_tests is for all tests, but ran 3 of 78 and none failed")


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FIELDS = sorted(world().contexts[0].state) + sorted(world().contexts[0].outcomes["run_all_tests"][0])


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=8), junk, max_size=3), st.booleans())
def test_whatever_it_is_given_it_answers_with_a_reason(fields: dict[str, object], in_state: bool) -> None:
    spoil = _with_state(**fields) if in_state else _with_outcome(**fields)
    quality, why = verdict(spoil(lived()))
    assert bool(why) == (quality is not Quality.GOOD)


@pytest.mark.parametrize("wrong", [{"days": 0}, {"days": float("nan")}, {"stream": 0}])
def test_unusable_retention_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Exception, match="Experiences cannot be kept"):
        Retention(**wrong)
