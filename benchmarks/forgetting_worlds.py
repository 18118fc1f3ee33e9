"""Candidates trained one after the other, each in another project: what is left of the first? Used by forgetting.py.

Three recorded worlds of one agent, drawn and ordered by the seed, none of whose states are the same. In each, live
tables log experiences, and a candidate is trained with them that goes on from the one before. Told is how much of the
accuracy that was reached in the first two worlds is left after the third, with and without each of the product's two
means: holding on to the parent (its tables; of a network by EWC) and replaying earlier experiences.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.lived import Living, worth

from whet.agents.catalogue import agent_named
from whet.core.candidates import ModelKind
from whet.core.records import Experience
from whet.improvement.candidate_training import CandidateOrder, train
from whet.improvement.spots import Spot
from whet.improvement.world import shipped
from whet.policies.deep.acting import Actor
from whet.policies.deep.encoding import Encoder
from whet.policies.frozen import LEARNER, opened_policy

AGENT = agent_named("test-executor")  # of the others, every project has the same few states
WORLDS = 3


def forgetting(
    kind: ModelKind, seed: int, ways: Mapping[str, tuple[bool, bool]], decisions: int = 300, steps: int = 8000
) -> dict[str, tuple[float, float]]:
    """By way: the share of old accuracy that is kept, and the accuracy in the last world."""
    lives = _lives(seed)
    batches = [life.live(decisions) for life in lives]
    with TemporaryDirectory() as place:
        first, order = Path(place) / "first", CandidateOrder(agent=AGENT.name, kind=kind, seed=seed, steps=steps)
        train(order, batches[0], [], None, first)  # all ways begin with it
        return {
            way: _life(order.model_copy(update={"hold": hold, "replay": replay}), first, lives, batches)
            for way, (hold, replay) in ways.items()
        }


def _life(
    order: CandidateOrder, first: Path, lives: Sequence[Living], batches: Sequence[Sequence[Experience]]
) -> tuple[float, float]:
    parent, before = first, list(batches[0])
    reached = [accuracy(order.kind, first, lives[0].there)]
    with TemporaryDirectory() as place:
        for number in range(1, WORLDS):
            out = Path(place) / str(number)
            train(order, batches[number], before, parent, out)
            parent, before = out, [*before, *batches[number]]
            reached.append(accuracy(order.kind, out, lives[number].there))
        left = [accuracy(order.kind, parent, life.there) for life in lives[:-1]]
    return float(np.mean(np.array(left) / np.array(reached[:-1]))), reached[-1]


def _lives(seed: int) -> list[Living]:
    """Three in which a candidate can be right at once."""
    known = [world for world in shipped() if world.agent == AGENT.name]
    chosen: list[Living] = []
    for place in np.random.default_rng(seed).permutation(len(known)):
        life = Living(known[place], seed)
        taken = {spot.place.state_key for other in chosen for spot in other.there}
        if not taken & {spot.place.state_key for spot in life.there}:
            chosen.append(life)
    return chosen[:WORLDS]


def accuracy(kind: ModelKind, folder: Path, there: Sequence[Spot]) -> float:
    """Of a network what it thinks best by itself, without the tables that decide together with it."""
    if kind == "tables":
        policy = opened_policy(kind, folder, AGENT, "candidate-1", "0" * 64, 0.1, np.random.default_rng(0))
        return worth(policy, there)[1]
    encoder = Encoder(AGENT.state_type)
    actor = Actor.open(folder / LEARNER, encoder.layout)
    return float(np.mean([_right(actor, encoder, spot) for spot in there]))


def _right(actor: Actor, encoder: Encoder, spot: Spot) -> bool:
    names = {action.name for action in spot.allowed}
    mask = np.array([name in names for name in actor.config.actions])
    return spot.right(actor.config.actions[actor.best(encoder.row(spot.state), mask)])
