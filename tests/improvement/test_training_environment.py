"""Recorded worlds as Gymnasium environments: nothing is shown there that was not recorded."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from tests.improvement.test_evaluation import PROFILE, world

from whet.agents.catalogue import agent_named
from whet.improvement.environment import LONGEST_EPISODE, WorldEnvironment
from whet.improvement.training_scenes import Draw, Scene, Scenes, of_worlds
from whet.improvement.world import shipped

RISK = agent_named("regression-risk-analyzer")
BY_HAND = of_worlds([world()], PROFILE, {})


def test_every_shipped_world_passes_gymnasiums_own_check() -> None:
    for recorded in shipped():
        check_env(WorldEnvironment(of_worlds([recorded], PROFILE, {})), skip_render_check=True)


def test_steps_draw_recorded_outcomes_of_the_chosen_action_and_one_decision_is_an_episode() -> None:
    environment = WorldEnvironment(BY_HAND)
    seen: dict[str, set[float]] = {}
    environment.reset(seed=1)
    for _ in range(400):
        _, info = environment.reset()
        action = int(environment.np_random.choice(np.flatnonzero(info["action_mask"])))
        _, reward, terminated, truncated, told = environment.step(np.int64(action))
        assert (terminated, truncated) == (True, False)
        assert reward * environment.points == pytest.approx(told["credited"])
        assert told["played"] == environment.actions[action].name
        seen.setdefault(told["played"], set()).add(round(told["raw"], 3))
    assert seen == {
        "assess_by_coverage": {30.0},
        "assess_by_history": {0.0, 30.0},
        "assess_combined": {29.0},
        "assess_by_churn": {30.0},
    }


def test_rewards_are_of_size_one_and_the_mask_is_what_was_measured() -> None:
    environment = WorldEnvironment(BY_HAND)
    assert environment.points == pytest.approx(np.std([30, 0, 30, 29, 0, 30]))
    masks = {tuple(environment.reset(seed=seed)[1]["action_mask"]) for seed in range(20)}
    names = [action.name for action in RISK.actions]
    assert masks == {tuple(int(name in scene.draws) for name in names) for scene in BY_HAND.scenes}


def test_what_was_never_measured_gives_way_to_the_safe_default() -> None:
    environment = WorldEnvironment(BY_HAND)
    names = [action.name for action in environment.actions]
    for seed in range(20):
        _, info = environment.reset(seed=seed)
        if info["action_mask"][names.index("assess_combined")]:
            *_, told = environment.step(np.int64(names.index("assess_by_diff")))
            assert told["played"] == "assess_combined"
            return
    pytest.fail("no seed began in the first state")


def chained(*following: int | None) -> Scenes:
    """One scene after another, each worth one more."""
    state = BY_HAND.scenes[0].state
    scenes = [Scene(state, {"assess_combined": [Draw(float(n), None, led_to)]}) for n, led_to in enumerate(following)]
    return Scenes(RISK.name, RISK.actions, tuple(scenes), ("by hand",))


def test_where_history_says_what_followed_the_episode_goes_on() -> None:
    environment = WorldEnvironment(chained(1, 2, None), points=1.0)
    combined = np.int64([action.name for action in RISK.actions].index("assess_combined"))
    seed = next(seed for seed in range(50) if environment.reset(seed=seed) and environment._at == 0)
    environment.reset(seed=seed)
    lived = [environment.step(combined)[1:4] for _ in range(3)]
    assert lived == [(0.0, False, False), (1.0, False, False), (2.0, True, False)]


def test_a_circle_is_cut() -> None:
    environment = WorldEnvironment(chained(0), points=1.0)
    environment.reset(seed=1)
    combined = np.int64([action.name for action in RISK.actions].index("assess_combined"))
    cut = [environment.step(combined)[3] for _ in range(LONGEST_EPISODE)]
    assert cut == [False] * (LONGEST_EPISODE - 1) + [True]
