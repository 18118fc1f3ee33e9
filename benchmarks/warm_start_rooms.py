"""Networks that begin with the weights of other projects: what `warm_start_networks.py` compares.

    rooms = [Room(spots(world, profile, weights), actions, points=10.0) for world in of_other_projects]
    warm = pretrained(lambda: DQN(config, seed=1), rooms, decisions=1600, random=rng)
    begin_from(learner, warm)  # the new project's own

Two ways to the first weights: plain training over all worlds, and Reptile (Nichol et al., 2018), which moves the
weights towards where a short training on each single world takes them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from whet.improvement.spots import Spot
from whet.policies.deep.encoding import Encoder
from whet.policies.deep.learning import DeepLearner, Flags, Floats, Steps


class Networked(DeepLearner, Protocol):
    """A learner whose first weights can be given (DQN)."""

    @property
    def online(self) -> Any: ...
    @property
    def target(self) -> Any: ...


L = TypeVar("L", bound=Networked)


class Room:
    """One world to practise in: each decision draws a recorded outcome, and ends the episode."""

    def __init__(self, spots: Sequence[Spot], actions: Sequence[str], points: float) -> None:
        """`points` are what a reward of 1 stands for; the same for all worlds that are learned together."""
        encoder = Encoder(type(spots[0].state))
        self.spots, self.actions, self.points, self.layout = list(spots), tuple(actions), points, encoder.layout
        self.rows: Floats = np.stack([encoder.row(spot.state) for spot in spots])
        self.masks: Flags = np.array([[name in spot.means for name in actions] for spot in spots])

    def live(self, learner: DeepLearner, decisions: int, random: np.random.Generator) -> Steps:
        """What happened in these many decisions; the learner is not told."""
        places = random.integers(0, len(self.spots), decisions)
        rows, masks = self.rows[places], self.masks[places]
        acts = learner.act(rows, masks)
        drawn = [
            float(random.choice(self.spots[place].credits[self.actions[action]])) / self.points
            for place, action in zip(places, acts.actions, strict=True)
        ]
        ended = np.ones(decisions, dtype=bool)
        rewards = np.array(drawn, dtype=np.float32)
        return Steps(rows, masks, acts.actions, acts.probabilities, rewards, rows, masks, ended, ~ended)

    def accuracy(self, learner: DeepLearner) -> float:
        """The share of spots in which what it thinks best is right."""
        best = learner.values(self.rows, self.masks).argmax(axis=1)
        return float(np.mean([s.right(self.actions[action]) for s, action in zip(self.spots, best, strict=True)]))


def pretrained(
    make: Callable[[], L], rooms: Sequence[Room], decisions: int, random: np.random.Generator, at_once: int = 8
) -> L:
    """One learner that lives in all rooms, a few decisions in each in turn; `decisions` over all of them."""
    learner = make()
    for turn in range(decisions // at_once):
        learner.learn(rooms[turn % len(rooms)].live(learner, at_once, random))
    return learner


def reptile(
    make: Callable[[], L], rooms: Sequence[Room], decisions: int, random: np.random.Generator,
    inner: int = 64, rate: float = 0.3, at_once: int = 8,
) -> L:  # fmt: skip
    """Weights from which `inner` decisions in any room go far: θ ← θ + rate · (θ after these − θ), room after room."""
    slow = make()
    for turn in range(decisions // inner):
        quick = make()
        begin_from(quick, slow)
        for _ in range(inner // at_once):
            quick.learn(rooms[turn % len(rooms)].live(quick, at_once, random))
        for mine, theirs in zip(_weights(slow), _weights(quick), strict=True):
            mine.lerp_(theirs, rate)
    return slow


def begin_from(learner: Networked, warm: Networked) -> None:
    """Gives it the weights; its experiences, its doubts about when to explore and its optimiser stay its own."""
    for mine, theirs in zip(_weights(learner), _weights(warm), strict=True):
        mine.copy_(theirs)


def curve(
    learner: DeepLearner, room: Room, decisions: int, random: np.random.Generator, at_once: int = 4
) -> list[float]:
    """The accuracy before the first decision and after each few; every decision teaches."""
    told = [room.accuracy(learner)]
    for _ in range(decisions // at_once):
        learner.learn(room.live(learner, at_once, random))
        told.append(room.accuracy(learner))
    return told


def _weights(learner: Networked) -> Iterable[Any]:
    return [p.data for network in (learner.online, learner.target) for p in network.parameters()]
