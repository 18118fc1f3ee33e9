"""Recorded worlds as Gymnasium environments: any learner that speaks Gymnasium can be tried on them.

    environment = WorldEnvironment(of_worlds([world], profile, weights))
    observation, info = environment.reset(seed=7)  # info["action_mask"]: what was measured there
    observation, reward, terminated, truncated, info = environment.step(action)  # info["credited"], info["raw"]

A step draws one of the recorded outcomes of the chosen action; what was never measured there gives way to the agent's
safe default, as in `whet eval`: a reward for it would be invented. The episode ends with the decision, unless the
agent's history says which state followed (the commander's turns).

With room for memories, an observation also has outcomes that were recorded in this state: any number of them, from none
at all, since a project begins without and remembers more and more. So that they are worth looking at, each episode is
in another project: every action pays more or less by as much as projects were seen to differ, in what is remembered and
in what is then earned. Half of the memories are of this very state, half of one that is only like it; how like is drawn
and told, and by how much an action pays more or less there is the same to that degree and otherwise chance, as it is
for `policies.remembered`. Without memories rewards are the recorded ones.
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
from whet.policies.remembered_groups import LEAST_LIKENESS

try:
    from gymnasium import Env, spaces
except ModuleNotFoundError as missing:
    raise MissingTool("Gymnasium is not installed.", "Run pip install 'whet[deep]'.") from missing

# Codings are shares, flags and logarithms: no finite number of a state comes near this.
_BOUND = 1000.0
# No agent's visit has more turns; a history whose states follow one another in a circle would never end.
LONGEST_EPISODE = 64
_OF_THIS_STATE = 0.5  # of the memories; the others are of one that is like it


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
        self._likeness, self._alike = 1.0, dict[str, float]()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._at, self._turns = int(self.np_random.integers(len(self.scenes))), 0
        self._elsewhere = self._by_chance()
        self._likeness, self._alike = self._like_state()
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
        names = self.np_random.choice(
            list(self.scenes[self._at].draws), size=self.np_random.integers(self.layout.memories + 1)
        )
        return [self._memory(str(name), self.np_random.random() < _OF_THIS_STATE) for name in names]

    def _memory(self, action: str, of_this_state: bool) -> Floats:
        draws = self.scenes[self._at].draws[action]
        paid = draws[int(self.np_random.integers(len(draws)))].credited
        if of_this_state:
            return token(1.0, paid + self._elsewhere[action], action, self._names)
        return token(self._likeness, paid + self._alike[action], action, self._names)

    def _like_state(self) -> tuple[float, dict[str, float]]:
        """How like this one it is, and how much more or less actions pay there."""
        if not self.layout.memories:
            return 1.0, {}
        likeness = float(self.np_random.uniform(LEAST_LIKENESS, 1.0))
        apart, own = self._by_chance(), float(np.sqrt(1.0 - likeness**2))
        return likeness, {name: likeness * here + own * apart[name] for name, here in self._elsewhere.items()}

    def _by_chance(self) -> dict[str, float]:
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
