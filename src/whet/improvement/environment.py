"""Recorded worlds as Gymnasium environments: any learner that speaks Gymnasium can be tried on them.

    environment = WorldEnvironment(of_worlds([world], profile, weights))
    observation, info = environment.reset(seed=7)  # info["action_mask"]: what was measured there
    observation, reward, terminated, truncated, info = environment.step(action)  # info["credited"], info["raw"]

A step draws one of the recorded outcomes of the chosen action; what was never measured there gives way to the agent's
safe default, as in `whet eval`: a reward for it would be invented. The episode ends with the decision, unless the
agent's history says which state followed (the commander's turns).
"""

from typing import Any

import numpy as np

from whet.agents.catalogue import agent_named
from whet.core.errors import MissingTool
from whet.improvement.training_scenes import Scene, Scenes
from whet.policies.deep.encoding import Encoder
from whet.policies.deep.learning import Flags, Floats

try:
    from gymnasium import Env, spaces
except ModuleNotFoundError as missing:
    raise MissingTool("Gymnasium is not installed.", "Run pip install 'whet[deep]'.") from missing

# Codings are shares, flags and logarithms: no finite number of a state comes near this.
_BOUND = 1000.0
# No agent's visit has more turns; a history whose states follow one another in a circle would never end.
LONGEST_EPISODE = 64


class WorldEnvironment(Env[Floats, np.int64]):
    """`points` is what a reward of 1 stands for: by default the spread of all credits, so that any learner's usual
    rates fit."""

    def __init__(self, scenes: Scenes, points: float | None = None) -> None:
        self.scenes, self.points = scenes.scenes, scenes.spread if points is None else points
        self.actions, self._agent = scenes.actions, agent_named(scenes.agent)
        encoder = Encoder(type(self.scenes[0].state))
        self._rows = [encoder.row(scene.state) for scene in self.scenes]
        self._masks = [self._mask(scene) for scene in self.scenes]
        self.layout = encoder.layout
        self.observation_space = spaces.Box(-_BOUND, _BOUND, (encoder.layout.size,), np.float32)
        self.action_space = spaces.Discrete(len(self.actions))
        self._at, self._turns = 0, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._at, self._turns = int(self.np_random.integers(len(self.scenes))), 0
        return self._rows[self._at].copy(), self._told()

    def step(self, action: np.int64) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        played = self._played(int(action))
        draws = self.scenes[self._at].draws[played]
        draw = draws[int(self.np_random.integers(len(draws)))]
        self._turns += 1
        ended = draw.next_scene is None
        self._at = self._at if draw.next_scene is None else draw.next_scene
        told = {**self._told(), "played": played, "credited": draw.credited, "raw": draw.raw}
        cut = not ended and self._turns >= LONGEST_EPISODE
        return self._rows[self._at].copy(), draw.credited / self.points, ended, cut, told

    def _played(self, action: int) -> str:
        scene, name = self.scenes[self._at], self.actions[action].name
        default = self._agent.safe_default(scene.state).name
        return next(each for each in (name, default, *scene.draws) if each in scene.draws)

    def _told(self) -> dict[str, Any]:
        return {"action_mask": self._masks[self._at].astype(np.int8)}

    def _mask(self, scene: Scene) -> Flags:
        return np.array([action.name in scene.draws for action in self.actions], dtype=np.bool_)
