"""Any Gymnasium environment with discrete actions becomes Steps; episodes end and begin where they do."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, cast

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from whet.core.errors import RefusedInput
from whet.policies.deep.gymnasium_steps import Environment, gymnasium_steps, sizes
from whet.policies.deep.learning import Acts, DeepLearner, Flags, Floats, Steps


class Corridor(gymnasium.Env[Any, Any]):
    """Three places, the right end terminates; after `limit` steps it is cut. It reuses one array for what it shows."""

    observation_space = spaces.Box(0.0, 3.0, (1,), np.float32)

    def __init__(self, limit: int = 99, first_action: int = 0, masks: dict[int, list[int]] | None = None) -> None:
        self.action_space = spaces.Discrete(2, start=first_action)
        self._first, self._limit, self._masks = first_action, limit, masks or {}
        self._place = np.zeros(1, dtype=np.float32)
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self._place[0], self._steps = 0.0, 0
        return self._place, self._info()

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        self._steps += 1
        self._place[0] += float(action - self._first)
        terminated = bool(self._place[0] == 2.0)
        return self._place, 10.0 * terminated - 1.0, terminated, self._steps == self._limit, self._info()

    def _info(self) -> dict[str, Any]:
        mask = self._masks.get(int(self._place[0]))
        return {} if mask is None else {"action_mask": np.array(mask, dtype=np.int8)}


class _Always:
    """Takes one action, and remembers what it was shown."""

    def __init__(self, action: int) -> None:
        self.action = action
        self.masks: list[list[list[bool]]] = []

    def act(self, observations: Floats, masks: Flags) -> Acts:
        self.masks.append(masks.tolist())
        return Acts(np.full(len(observations), self.action), np.ones(len(observations), dtype=np.float32))


def _steps(
    environments: Sequence[Environment], action: int, number: int, rounds: int | None = None
) -> tuple[list[Steps], _Always]:
    learner = _Always(action)
    steps = gymnasium_steps(environments, cast(DeepLearner, learner), seed=1, rounds=rounds)
    return list(islice(steps, number)), learner


def test_the_next_observation_of_a_finished_episode_is_its_last_and_the_next_episode_has_begun() -> None:
    steps, _ = _steps([Corridor()], 1, 3)
    assert [step.observations.tolist() for step in steps] == [[[0.0]], [[1.0]], [[0.0]]]
    assert [step.next_observations.tolist() for step in steps] == [[[1.0]], [[2.0]], [[1.0]]]
    assert [step.terminated.tolist() for step in steps] == [[False], [True], [False]]
    assert [step.rewards.tolist() for step in steps] == [[-1.0], [9.0], [-1.0]]
    assert not any(step.truncated.any() for step in steps)


def test_a_cut_episode_is_truncated_and_begins_anew() -> None:
    steps, _ = _steps([Corridor(limit=1)], 1, 2)
    assert [step.truncated.tolist() for step in steps] == [[True], [True]]
    assert [step.observations.tolist() for step in steps] == [[[0.0]], [[0.0]]]
    assert [step.next_observations.tolist() for step in steps] == [[[1.0]], [[1.0]]]


def test_an_episode_that_ends_when_it_is_cut_has_ended() -> None:
    last = _steps([Corridor(limit=2)], 1, 2)[0][-1]
    assert (last.terminated.tolist(), last.truncated.tolist()) == ([True], [False])


def test_after_its_rounds_the_episodes_under_way_are_cut() -> None:
    steps, _ = _steps([Corridor(), Corridor()], 1, 99, rounds=3)
    assert len(steps) == 3
    assert [step.truncated.tolist() for step in steps] == [[False, False], [False, False], [True, True]]


def test_each_environment_has_a_row_and_actions_may_begin_elsewhere() -> None:
    steps, _ = _steps([Corridor(first_action=5), Corridor(limit=1, first_action=5)], 1, 2)
    assert steps[1].observations.tolist() == [[1.0], [0.0]]
    assert (steps[1].terminated.tolist(), steps[1].truncated.tolist()) == ([True, False], [False, True])
    assert steps[1].observations.dtype == np.float32


def test_masks_come_from_info_and_what_would_follow_the_end_is_not_asked() -> None:
    steps, learner = _steps([Corridor(masks={1: [0, 1], 2: [0, 0]})], 1, 3)
    assert learner.masks == [[[True, True]], [[False, True]], [[True, True]]]
    assert [step.masks.tolist() for step in steps] == learner.masks
    assert [step.next_masks.tolist() for step in steps] == [[[False, True]], [[True, True]], [[False, True]]]


class _Structured(gymnasium.Env[Any, Any]):
    observation_space = spaces.Dict({"kind": spaces.Discrete(3), "size": spaces.Box(0.0, 9.0, (2, 2))})
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return {"kind": 2, "size": np.arange(4, dtype=np.float32).reshape(2, 2)}, {}

    def step(self, action: Any) -> Any:
        return {"kind": 0, "size": np.ones((2, 2), dtype=np.float32)}, 0.0, False, False, {}


def test_structured_observations_become_rows() -> None:
    assert sizes(_Structured()) == (7, 2)
    step = _steps([_Structured()], 0, 1)[0][0]
    assert step.observations.tolist() == [[0.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0]]
    assert step.next_observations.tolist() == [[1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]]


def test_equal_seeds_show_equal_episodes() -> None:
    def shown(seed: int) -> list[Any]:
        environments = [gymnasium.make("CartPole-v1") for _ in range(2)]
        steps = gymnasium_steps(environments, cast(DeepLearner, _Always(0)), seed, rounds=30)
        return [step.next_observations.tolist() for step in steps]

    assert shown(3) == shown(3)
    assert shown(3) != shown(4)
    assert shown(3)[0][0] != shown(3)[0][1]


class _Steered(Corridor):
    def __init__(self) -> None:
        self.action_space = spaces.Box(-1.0, 1.0, (1,))


class _Endless(Corridor):
    observation_space = spaces.Sequence(spaces.Discrete(2))  # type: ignore[assignment]  # what is refused


class _Broken(Corridor):
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return np.zeros(5, dtype=np.float32), {}


@pytest.mark.parametrize(
    ("environments", "problem"),
    [
        ([], "there are none"),
        ([Corridor(), gymnasium.make("CartPole-v1")], "differ"),
        ([_Steered()], "only Discrete"),
        ([_Endless()], "no fixed length"),
        ([_Broken()], "5 numbers"),
        ([Corridor(masks={0: [1, 1, 1]})], "mask of the shape"),
    ],
)
def test_what_cannot_be_learned_is_refused(environments: list[Environment], problem: str) -> None:
    with pytest.raises(RefusedInput, match=problem):
        _steps(environments, 0, 1)
