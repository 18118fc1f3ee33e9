"""What agents with different states and actions have in common: the situation they are in, and kinds of actions."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from whet.agents.catalogue import agent_named
from whet.core.records import ActionKind
from whet.improvement.training_scenes import Scenes
from whet.policies.deep.encoding import Encoder
from whet.policies.deep.learning import Flags, Floats, Steps
from whet.policies.deep.sharing import Policy, greedy_policy, rows_of

if TYPE_CHECKING:  # it imports torch
    from whet.policies.deep.dqn import DQN

_KINDS = tuple(ActionKind)
Matrix = npt.NDArray[np.float64]


class CommonGround:
    """One agent's: its states by their situation, its actions by their kind.

    A *common step* has the situation instead of the state, the place of the kind instead of that of the action, and the
    reward in standard deviations from the mean of all that the agent is trained on.
    """

    def __init__(self, scenes: Scenes, rows: Floats, masks: Flags) -> None:
        self.category = agent_named(scenes.agent).category
        self._rows, self._masks = rows, masks
        self._size = Encoder(type(scenes.scenes[0].state)).situation_size
        self._of_kind = np.array([[action.kind is kind for kind in _KINDS] for action in scenes.actions], dtype=float)
        self._mean, self._spread = float(np.mean(scenes.credits)), scenes.spread
        keys = self._keys(rows[:, : self._size])
        self._places = {key: np.flatnonzero([other == key for other in keys]) for key in keys}

    def lent(self, steps: Steps, learner: "DQN") -> Steps:
        """Those that ended an episode, before the learner learns from them; what follows others is the agent's own."""
        steps = rows_of(steps, np.flatnonzero(steps.terminated))
        kinds = self._of_kind[steps.actions].argmax(axis=1)
        policy = self._policy(learner, steps.observations, steps.masks) if len(kinds) else np.ones((0, len(_KINDS)))
        situations, masks = steps.observations[:, : self._size], steps.masks @ self._of_kind > 0.0
        return steps._replace(
            observations=situations,
            masks=masks,
            actions=kinds,
            probabilities=np.minimum(policy[np.arange(len(kinds)), kinds], 1.0).astype(np.float32),
            rewards=((steps.rewards - self._mean) / self._spread).astype(np.float32),
            next_observations=situations,
            next_masks=masks,
        )

    def policy(self, learner: "DQN") -> Policy:
        """How likely this agent takes an action of each kind in a situation; 0 where it knows no such state."""
        own = self._policy(learner, self._rows, self._masks)
        by_key = {key: own[places].mean(axis=0) for key, places in self._places.items()}
        unknown = np.zeros(len(_KINDS))
        return lambda situations, _: np.array([by_key.get(key, unknown) for key in self._keys(situations)], np.float32)

    def expected(self, common: Steps, learner: "DQN") -> Floats:
        """What it would expect of such steps, as a common reward; NaN where it has no such state or action."""
        values = np.where(self._masks, (learner.values(self._rows, self._masks) - self._mean) / self._spread, 0.0)
        keys = self._keys(common.observations)
        told = [self._mean_of_kind(values, key, int(kind)) for key, kind in zip(keys, common.actions, strict=True)]
        return np.array(told, dtype=np.float32)

    def taken(self, common: Steps, random: np.random.Generator) -> Steps:
        """As steps of its own: any of its states in that situation, and any of its actions of that kind there."""
        pairs = [
            self._any(key, int(kind), random)
            for key, kind in zip(self._keys(common.observations), common.actions, strict=True)
        ]
        places, actions = (np.array(column) for column in zip(*pairs, strict=True))
        rows, masks = self._rows[places], self._masks[places]
        rewards = (common.rewards * self._spread + self._mean).astype(np.float32)
        return common._replace(
            observations=rows, masks=masks, actions=actions, rewards=rewards, next_observations=rows, next_masks=masks
        )

    def _policy(self, learner: "DQN", rows: Floats, masks: Flags) -> Matrix:
        return np.asarray(greedy_policy(learner, learner.epsilon)(rows, masks) @ self._of_kind)

    def _mean_of_kind(self, values: Matrix, key: bytes, kind: int) -> float:
        places = self._places.get(key)
        there = None if places is None else self._masks[places] & (self._of_kind[:, kind] > 0.0)
        return float(values[places][there].mean()) if there is not None and there.any() else float("nan")

    def _any(self, key: bytes, kind: int, random: np.random.Generator) -> tuple[int, int]:
        places = self._places[key]
        choices = np.argwhere(self._masks[places] & (self._of_kind[:, kind] > 0.0))
        place, action = choices[random.integers(len(choices))]
        return int(places[place]), int(action)

    def _keys(self, situations: Floats) -> list[bytes]:
        return [row.tobytes() for row in np.ascontiguousarray(situations)]
