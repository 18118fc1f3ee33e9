"""The three ε schedules, with numbers worked by hand from S2 §4.2 (and its last *reward* not read as ε)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import WhetError
from whet.policies.exploration import Exponential, RewardBased, Schedule, Step, schedule


def after(made: Schedule, *rewards: float) -> float:
    for reward in rewards:
        made.observe(reward)
    return made.epsilon


@pytest.mark.parametrize(
    ("rewards", "epsilon"), [(0, 0.2), (1, 0.199), (2, 0.198005), (100, 0.1211540), (597, 0.0100325), (598, 0.01)]
)
def test_exponential_decay(rewards: int, epsilon: float) -> None:
    assert after(Exponential(), *[0.0] * rewards) == pytest.approx(epsilon, abs=5e-7)


@pytest.mark.parametrize(
    ("rewards", "epsilon"),
    [(0, 0.2), (99, 0.2), (100, 0.1), (499, 0.1), (500, 0.05), (999, 0.05), (1000, 0.01), (5000, 0.01)],
)
def test_step_decay(rewards: int, epsilon: float) -> None:
    assert after(Step(), *[0.0] * rewards) == pytest.approx(epsilon)


def test_reward_based_waits_for_ten_rewards() -> None:
    assert after(RewardBased(), *[1000.0] * 9) == 0.2


@pytest.mark.parametrize(
    ("reward", "factor"),
    [(50.1, 0.99), (50.0, 0.995), (35.1, 0.995), (35.0, 0.998), (0.0, 0.998), (-80.0, 0.998)],
)
def test_reward_based_decays_faster_the_better_it_goes(reward: float, factor: float) -> None:
    assert after(RewardBased(), *[reward] * 10) == pytest.approx(0.2 * factor)
    assert after(RewardBased(), *[reward] * 12) == pytest.approx(0.2 * factor**3)


def test_reward_based_looks_at_the_mean_of_its_window() -> None:
    # ten bad ones (one decay ×0.998), then good ones push the bad ones out of a window of ten
    made = RewardBased(window=10)
    assert after(made, *[0.0] * 10) == pytest.approx(0.2 * 0.998)
    # means 10, 20, 30 (poor), 40, 50 (reasonable), 60 (good)
    assert after(made, *[100.0] * 6) == pytest.approx(0.2 * 0.998**4 * 0.995**2 * 0.99)


def test_a_window_holds_no_more_than_it_says() -> None:
    made = RewardBased(window=100)
    after(made, *[0.0] * 100)
    before = made.epsilon
    after(made, *[100.0] * 100)
    # 35 rewards of 100 in a window of 100 make no more than 70 % of the target; 50 no more than all of it
    assert made.epsilon == pytest.approx(max(0.01, before * 0.998**35 * 0.995**15 * 0.99**50))


@pytest.mark.parametrize("target", [0.0, -20.0])
def test_a_target_at_or_below_nought_still_means_better_is_faster(target: float) -> None:
    """Settings allow such targets: a suite whose rewards are costs only has one."""
    above = after(RewardBased(target=target), *[target + 10.0] * 20)
    below = after(RewardBased(target=target), *[target - 10.0] * 20)
    assert above == pytest.approx(0.2 * 0.99**11)
    assert below == pytest.approx(0.2 * 0.998**11)


@given(
    st.sampled_from(["exponential", "step", "reward_based"]),
    st.floats(0.0, 1.0),
    st.floats(0.0, 1.0),
    st.lists(st.floats(-1e4, 1e4), max_size=60),
)
def test_epsilon_only_falls_and_stays_between_floor_and_start(
    strategy: str, one: float, other: float, rewards: list[float]
) -> None:
    floor, initial = sorted((one, other))
    made = schedule(strategy, initial, floor, decay=0.5)
    seen = [made.epsilon] + [after(made, reward) for reward in rewards]
    assert seen == sorted(seen, reverse=True)
    assert seen[0] == initial
    assert all(floor <= epsilon <= initial for epsilon in seen)


@pytest.mark.parametrize("strategy", ["exponential", "step", "reward_based"])
def test_every_schedule_ends_at_its_floor_and_never_below(strategy: str) -> None:
    made = schedule(strategy)
    assert after(made, *[60.0] * 1500) == 0.01


@pytest.mark.parametrize(
    ("strategy", "kind"), [("exponential", Exponential), ("step", Step), ("reward_based", RewardBased)]
)
def test_schedules_by_name(strategy: str, kind: type) -> None:
    assert isinstance(schedule(strategy), kind)


def test_the_settings_reach_the_schedule() -> None:
    assert after(schedule("exponential", 0.8, 0.1, 0.5), 0.0) == pytest.approx(0.4)
    assert after(schedule("step", 0.8, 0.1), *[0.0] * 100) == pytest.approx(0.4)
    assert after(schedule("reward_based", 0.8, 0.1, target=1.0, window=10), *[2.0] * 10) == pytest.approx(0.792)


def test_an_unknown_strategy_names_the_known_ones() -> None:
    with pytest.raises(WhetError, match=r"'linear'.*exponential, step or reward_based"):
        schedule("linear")
