"""Recorded worlds as Gymnasium environments: any learner that speaks Gymnasium can be tried on them.

    environment = WorldEnvironment(of_worlds([world], profile, weights))
    observation, info = environment.reset(seed=7)  # info["action_mask"]: what was measured there
    observation, reward, terminated, truncated, info = environment.step(action)  # info["credited"], info["raw"]

A step draws one of the recorded outcomes of the chosen action; what was never measured there gives way to the agent's
safe default, as in `whet eval`: a reward for it would be invented. The episode ends with the decision, unless the
agent's history says which state followed (the commander's turns).

With room for memories, an observation also has what was measured in this very state before: any number of its recorded
outcomes, from none at all, since a project begins without and remembers more and more. So that they are worth looking
at, each episode is in another project: every action pays more or less by as much as projects were seen to differ, in
what is remembered and in what is then earned. Without memories rewards are the recorded ones.
"""

from typing import Any

import numpy as np

from whet.agents.catalogue import agent_named
from whet.core.errors import MissingTool
from whet.improvement.training_scenes import Draw, Scene, Scenes
from whet.policies.deep.encoding import Encoder
from whet.policies.deep.learning import Flags, Floats
from whet.policies.deep.opinions import UNSEEN_POINTS
from whet.policies.deep.tokens import token, width

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

    def __init__(self, scenes: Scenes, points: float | None = None, memories: int = 0) -> None:
        self.scenes, self.points = scenes.scenes, scenes.spread if points is None else points
        self.actions, self._agent = scenes.actions, agent_named(scenes.agent)
        self._names = tuple(action.name for action in self.actions)
        self._encoder = encoder = encoder_of(scenes, memories)
        self._rows = [encoder.row(scene.state) for scene in self.scenes]
        self._masks = [self._mask(scene) for scene in self.scenes]
        self.layout = encoder.layout
        self.observation_space = spaces.Box(-_BOUND, _BOUND, (encoder.layout.size,), np.float32)
        self.action_space = spaces.Discrete(len(self.actions))
        self._at, self._turns = 0, 0
        self._elsewhere: dict[str, float] = {}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._at, self._turns = int(self.np_random.integers(len(self.scenes))), 0
        self._elsewhere = self._other_project()
        return self._observation(), self._told()

    def step(self, action: np.int64) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        played = self._played(int(action))
        draws = self.scenes[self._at].draws[played]
        draw = draws[int(self.np_random.integers(len(draws)))]
        self._turns += 1
        ended = draw.next_scene is None
        self._at = self._at if draw.next_scene is None else draw.next_scene
        told = {**self._told(), "played": played, "credited": draw.credited, "raw": draw.raw}
        cut = not ended and self._turns >= LONGEST_EPISODE
        return self._observation(), self._earned(played, draw) / self.points, ended, cut, told

    def _observation(self) -> Floats:
        if not self.layout.memories:
            return self._rows[self._at].copy()
        return self._encoder.row(self.scenes[self._at].state, self._recalled())

    def _recalled(self) -> list[Floats]:
        draws, random = self.scenes[self._at].draws, self.np_random
        names = random.choice(list(draws), size=random.integers(self.layout.memories + 1))
        earned = [self._earned(name, draws[name][int(random.integers(len(draws[name])))]) for name in names]
        return [token(1.0, reward, name, self._names) for name, reward in zip(names, earned, strict=True)]

    def _other_project(self) -> dict[str, float]:
        apart = self.np_random.normal(0.0, UNSEEN_POINTS, len(self._names)) if self.layout.memories else ()
        return dict(zip(self._names, map(float, apart), strict=False))

    def _earned(self, action: str, draw: Draw) -> float:
        return draw.credited + self._elsewhere.get(action, 0.0)

    def _played(self, action: int) -> str:
        scene, name = self.scenes[self._at], self.actions[action].name
        default = self._agent.safe_default(scene.state).name
        return next(each for each in (name, default, *scene.draws) if each in scene.draws)

    def _told(self) -> dict[str, Any]:
        return {"action_mask": self._masks[self._at].astype(np.int8)}

    def _mask(self, scene: Scene) -> Flags:
        return np.array([action.name in scene.draws for action in self.actions], dtype=np.bool_)


def encoder_of(scenes: Scenes, memories: int = 0) -> Encoder:
    """Of the states of these scenes; with room for as many memories."""
    return Encoder(type(scenes.scenes[0].state), memories, width([a.name for a in scenes.actions]) if memories else 0)
