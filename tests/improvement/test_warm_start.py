"""What other worlds taught is where a new one begins."""

import numpy as np
import pytest
from benchmarks.warm_start import _config as config
from benchmarks.warm_start import _room as room_of
from benchmarks.warm_start import reached

from whet.improvement.warm_start import Room, begin_from, curve, pretrained, reptile
from whet.improvement.world import shipped
from whet.policies.deep.dqn import DQN


@pytest.fixture(scope="module")
def rooms() -> dict[str, Room]:
    return {world.project: room_of(world) for world in shipped() if world.agent == "regression-risk-analyzer"}


def test_a_room_pays_what_was_recorded(rooms: dict[str, Room]) -> None:
    room = rooms["shop"]
    steps = room.live(DQN(config(room), 0), 50, np.random.default_rng(0))
    for row, action, reward in zip(steps.observations, steps.actions, steps.rewards, strict=True):
        spot = room.spots[int((room.rows == row).all(axis=1).argmax())]
        recorded = spot.credits[room.actions[action]] / room.points
        assert np.isclose(recorded, reward, atol=1e-5).any()
    assert steps.terminated.all()


@pytest.mark.parametrize("practise", [pretrained, reptile])
def test_a_held_out_project_begins_with_what_the_others_taught(practise: object, rooms: dict[str, Room]) -> None:
    held_out, others = rooms["xmltodict-1.0.4"], [rooms[name] for name in ("cachetools-8.0.0", "toolz-1.2.0")]
    assert callable(practise)
    warm = practise(lambda: DQN(config(held_out), 3), others, 256, np.random.default_rng(1))
    new, cold = DQN(config(held_out), 0), DQN(config(held_out), 0)
    begin_from(new, warm)
    assert (new.values(held_out.rows, held_out.masks) == warm.values(held_out.rows, held_out.masks)).all()
    assert (new.steps, len(new.replay)) == (0, 0)
    told = [curve(learner, held_out, 16, np.random.default_rng(2)) for learner in (new, cold)]
    assert np.mean(told[0]) >= np.mean(told[1])
    assert told[0][0] == 1.0


def test_when_the_bar_is_reached_and_kept() -> None:
    cold = np.array([[0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]])
    warm = np.ones((1, 8))
    assert reached({"cold": cold, "plain": warm, "reptile": np.zeros((1, 8))}) == {
        "cold": 16,
        "plain": 0,
        "reptile": None,
    }
