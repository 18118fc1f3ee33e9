"""Steps of Gymnasium environments, chosen by a learner, in the form that learners learn from.

    for steps in gymnasium_steps(environments, learner, seed=7):
        measures = learner.learn(steps)

Observations of any space that Gymnasium can flatten become rows of float32 (a Discrete one becomes one-hot). Actions
are discrete; `info["action_mask"]`, from `reset` and `step`, says which are allowed: all of them where it is absent.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from whet.core.errors import MissingTool, RefusedInput
from whet.policies.deep.learning import DeepLearner, Flags, Floats, Steps

try:
    from gymnasium import Env, spaces
except ModuleNotFoundError as missing:
    raise MissingTool("Gymnasium is not installed.", "Run pip install 'whet[deep]'.") from missing

Environment = Env[Any, Any]


class Sizes(NamedTuple):
    """What a learner must know of an environment to be made for it."""

    features: int
    actions: int


def sizes(environment: Environment) -> Sizes:
    if not isinstance(environment.action_space, spaces.Discrete):
        raise RefusedInput(
            f"The environment has the action space {environment.action_space}, and only Discrete ones can be learned.",
            "Wrap it so that each of its actions has a number.",
        )
    if not environment.observation_space.is_np_flattenable:
        raise RefusedInput(
            f"The environment has the observation space {environment.observation_space}, which has no fixed length.",
            "Wrap it so that each observation is an array of numbers, always as many.",
        )
    return Sizes(spaces.flatdim(environment.observation_space), int(environment.action_space.n))


def gymnasium_steps(
    environments: Sequence[Environment], learner: DeepLearner, seed: int, rounds: int | None = None
) -> Iterator[Steps]:
    """A step of every environment at a time, without end or `rounds` times.

    A finished episode's next observation is its last one; the environment has begun its next episode by then. After
    `rounds` the episodes under way are told to be truncated, so that what is begun afterwards is apart from them: with
    a seed for each such chapter, training that is saved between chapters resumes to the same result.
    """
    if len({sizes(environment) for environment in environments}) != 1:
        raise RefusedInput("The environments differ in their sizes, or there are none.", "Give one or more, all alike.")
    places = [_Place(environment, seed + number) for number, environment in enumerate(environments)]
    done = 0
    while rounds is None or done < rounds:
        done += 1
        yield _round(places, learner, cut=done == rounds)


def _round(places: list["_Place"], learner: DeepLearner, *, cut: bool) -> Steps:
    observations = np.stack([place.observation for place in places])
    masks = np.stack([place.mask for place in places])
    actions, probabilities = learner.act(observations, masks)
    shown = [place.step(int(action)) for place, action in zip(places, actions, strict=True)]
    rewards, next_observations, next_masks, terminated, truncated = zip(*shown, strict=True)
    ended = np.array(terminated, dtype=np.bool_)
    return Steps(
        observations=observations,
        masks=masks,
        actions=actions,
        probabilities=probabilities,
        rewards=np.array(rewards, dtype=np.float32),
        next_observations=np.stack(next_observations),
        next_masks=np.stack(next_masks),
        terminated=ended,
        truncated=(np.array(truncated, dtype=np.bool_) | cut) & ~ended,
    )


class _Place:
    """One environment, and what it shows now."""

    def __init__(self, environment: Environment, seed: int) -> None:
        self._environment = environment
        self._sizes = sizes(environment)
        self._first_action = int(environment.action_space.start)  # type: ignore[attr-defined]  # sizes: it is Discrete
        self.observation, self.mask = self._shown(*environment.reset(seed=seed))

    def step(self, action: int) -> tuple[float, Floats, Flags, bool, bool]:
        observation, reward, terminated, truncated, info = self._environment.step(action + self._first_action)
        row, mask = self._shown(observation, info, last=bool(terminated))
        self.observation, self.mask = row, mask
        if terminated or truncated:
            self.observation, self.mask = self._shown(*self._environment.reset())
        return float(reward), row, mask, bool(terminated), bool(truncated)

    def _shown(self, observation: Any, info: Mapping[str, Any], *, last: bool = False) -> tuple[Floats, Flags]:
        flat = spaces.flatten(self._environment.observation_space, observation)
        row = np.asarray(flat, dtype=np.float32)
        if row.shape != (self._sizes.features,):
            raise RefusedInput(
                f"The environment gave an observation of {row.size} numbers; its space has {self._sizes.features}.",
                "gymnasium.utils.env_checker.check_env says what else is wrong with it.",
            )
        return row, self._mask(None if last else info.get("action_mask"))

    def _mask(self, told: Any) -> Flags:
        """After the last step nothing is chosen, and an environment need not say what would be allowed."""
        if told is None:
            return np.ones(self._sizes.actions, dtype=np.bool_)
        mask = np.asarray(told, dtype=np.bool_)
        if mask.shape != (self._sizes.actions,):
            raise RefusedInput(
                f"The environment gave an action mask of the shape {mask.shape} for {self._sizes.actions} actions.",
                'info["action_mask"] has one flag an action.',
            )
        return mask.copy()
