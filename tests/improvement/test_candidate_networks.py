"""Networks of candidates: killed and asked again they come to the same files; what the parent knew hardly moves."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.lived import Living
from tests.improvement.test_candidate_training import files

from whet.agents.catalogue import agent_named
from whet.core.errors import RefusedInput
from whet.improvement.candidate_training import CandidateOrder, train
from whet.improvement.candidate_training_dqn import save_weights
from whet.improvement.world import shipped
from whet.policies.deep.acting import Actor
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_artefact import weights_in
from whet.policies.deep.encoding import Encoder
from whet.policies.frozen import LEARNER, opened_policy

AGENT = agent_named("test-executor")
WORLDS = {world.name: world for world in shipped()}
ENCODER = Encoder(AGENT.state_type)


def order(**changes: Any) -> CandidateOrder:
    fields = {"agent": AGENT.name, "kind": "dqn", "seed": 4, "steps": 608, "checkpoint_steps": 304}
    return CandidateOrder.model_validate(fields | changes)


def values(folder: Path, life: Living) -> Any:
    actor, everything = Actor.open(folder / LEARNER, ENCODER.layout), np.ones(len(AGENT.actions), dtype=np.bool_)
    return np.stack([actor.values_by_head(ENCODER.row(spot.state), everything).mean(axis=0) for spot in life.there])


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Living]:
    life, out = Living(WORLDS["h11-0.16.0/test-executor"], 1), tmp_path_factory.mktemp("parent") / "candidate"
    train(order(steps=800, checkpoint_steps=800), life.live(100), [], None, out)
    return out, life


_DYING = """
import os, signal, sys
from pathlib import Path
from tests.improvement.test_candidate_networks import WORLDS, Living, order, train
from whet.improvement import candidate_training_dqn

def dying(*arguments, **named):
    for progress in training(*arguments, **named):
        if progress.steps > 450:
            os.kill(os.getpid(), signal.SIGKILL)
        yield progress

training, candidate_training_dqn.train = candidate_training_dqn.train, dying
parent, out = map(Path, sys.argv[1:])
first, second = (Living(WORLDS[name], 1) for name in ("h11-0.16.0/test-executor", "shop/test-executor"))
train(order(), second.live(100), first.live(100), parent, out)
"""


def test_killed_in_the_middle_and_asked_again_it_comes_to_the_same_files(
    parent: tuple[Path, Living], tmp_path: Path
) -> None:
    out, work = tmp_path / "c", tmp_path / ".c.training"
    command = [sys.executable, "-c", _DYING, str(parent[0]), str(out)]
    died = subprocess.run(command, cwd=Path(__file__).parents[2], timeout=300, check=False)
    assert died.returncode == -signal.SIGKILL
    assert (work / "checkpoint" / "304").exists()
    assert not out.exists()

    first, second = Living(parent[1].world, 1).live(100), Living(WORLDS["shop/test-executor"], 1).live(100)
    resumed = train(order(), second, first, parent[0], out)
    whole = train(order(), second, first, parent[0], tmp_path / "whole")
    assert files(out) == files(tmp_path / "whole")
    assert resumed == whole
    assert not work.exists()


def test_what_the_parent_knew_is_kept_when_it_is_held_and_replayed(parent: tuple[Path, Living], tmp_path: Path) -> None:
    folder, first = parent
    before, batch = Living(first.world, 1).live(100), Living(WORLDS["shop/test-executor"], 1).live(100)
    tried = np.array([[action.name in spot.credits for action in AGENT.actions] for spot in first.there])
    truth = np.array(
        [np.mean(spot.credits[a.name]) for spot in first.there for a in AGENT.actions if a.name in spot.means]
    )
    found = {}
    for name, (hold, replay) in {"neither": (False, False), "held": (True, False), "both": (True, True)}.items():
        told = order(hold=hold, replay=replay, steps=800, checkpoint_steps=800)
        train(told, batch, before, folder, tmp_path / name)
        found[name] = values(tmp_path / name, first)[tried]
    known = values(folder, first)[tried]
    assert np.abs(found["held"] - known).mean() < 0.8 * np.abs(found["neither"] - known).mean()
    assert np.abs(found["both"] - truth).mean() < 0.6 * np.abs(found["neither"] - truth).mean()


def test_how_strongly_it_is_held_is_what_was_ordered(parent: tuple[Path, Living], tmp_path: Path) -> None:
    folder, first = parent
    before, batch = Living(first.world, 1).live(100), Living(WORLDS["shop/test-executor"], 1).live(100)
    moved = []
    for importance in (0.0, 1000.0):
        told = order(importance=importance, replay=False, steps=304)
        train(told, batch, before, folder, tmp_path / f"held by {importance}")
        moved.append(np.abs(values(tmp_path / f"held by {importance}", first) - values(folder, first)).mean())
    assert moved[1] < 0.8 * moved[0]


def test_it_decides_by_its_network_where_its_tables_know_nothing(parent: tuple[Path, Living]) -> None:
    folder, first = parent
    policy = opened_policy("dqn", folder, AGENT, "candidate-3", "cd" * 32, 0.1, np.random.default_rng(0))
    spot, unseen = first.there[0], Living(WORLDS["shop/test-executor"], 1).there[0]
    known, other = (policy.choose(each.state, each.allowed) for each in (spot, unseen))
    assert {each.source for each in known.alternatives} == {"individual"}
    assert {each.source for each in other.alternatives} == {"network"}
    assert known.version == other.version == "candidate-3-cdcdcdcdcdcd"
    assert spot.right(max(known.alternatives, key=lambda each: each.probability).action)


def test_a_network_for_other_actions_is_not_gone_on_from(parent: tuple[Path, Living], tmp_path: Path) -> None:
    config, _ = weights_in(parent[0] / LEARNER)
    fewer = DQN(config.model_copy(update={"actions": config.actions[:-1]}), 0)
    other = tmp_path / "other"
    train(order(kind="tables"), Living(parent[1].world, 2).live(20), [], None, other)
    save_weights(fewer, other / LEARNER)
    batch = Living(parent[1].world, 3).live(30)
    told = order(steps=64, checkpoint_steps=64)
    train(told, batch, [], other, tmp_path / "c")
    assert weights_in(tmp_path / "c" / LEARNER)[0].actions == config.actions


def test_a_damaged_network_is_refused_by_name(parent: tuple[Path, Living], tmp_path: Path) -> None:
    train(order(kind="tables"), Living(parent[1].world, 2).live(20), [], None, tmp_path / "c")
    with pytest.raises(RefusedInput, match=r"policy\.json"):
        opened_policy("dqn", tmp_path / "c", AGENT, "candidate-3", "cd" * 32, 0.1, np.random.default_rng(0))
