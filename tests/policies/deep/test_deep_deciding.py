"""A deep policy's decisions: by hand where own experience meets a network, and as often as it says."""

from pathlib import Path

import numpy as np
import pytest

from whet.agents.catalogue import agent_named
from whet.core.errors import MissingTool, RefusedInput
from whet.core.ports import Entry
from whet.core.records import State
from whet.fleet.gate import Gate
from whet.improvement.world import shipped
from whet.policies.beliefs import LEVEL_POINTS, Beliefs, believe, together
from whet.policies.confidence import Raw
from whet.policies.deep.deciding import DeepPolicy
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_config import Config as DqnConfig
from whet.policies.deep.dqn_config import Network
from whet.policies.deep.encoding import Encoder
from whet.policies.deep.extra import require
from whet.policies.deep.learning import Flags, Floats
from whet.policies.deep.opinions import PREFERENCE_POINTS, UNSEEN_POINTS, Opinion, opened
from whet.policies.deep.ppo import PPO
from whet.policies.deep.ppo_config import Config as PpoConfig
from whet.policies.hierarchy import Hierarchy, Known, Place
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner

EXECUTOR = agent_named("test-executor")
ENCODER = Encoder(EXECUTOR.state_type)
NAMES = tuple(action.name for action in EXECUTOR.actions)
STATE: State = next(world for world in shipped() if world.agent == EXECUTOR.name).states()[0]
ALLOWED = EXECUTOR.actions[:4]


def saved(kind: str, folder: Path) -> DQN | PPO:
    network = Network(encoder=(16, 8), stream=8, heads=4, attention=8)
    learner: DQN | PPO = (
        DQN(DqnConfig(layout=ENCODER.layout, actions=NAMES, network=network, capacity=64), seed=1)
        if kind == "dqn"
        else PPO(PpoConfig(layout=ENCODER.layout, actions=NAMES, hidden=(16, 16)), seed=1)
    )
    learner.save(folder)
    return learner


def policy(opinion: Opinion, tables: InProcessTables | None = None) -> DeepPolicy:
    hierarchy = Hierarchy(EXECUTOR.name, EXECUTOR.category, tables or InProcessTables())
    calibration = Raw() if opinion.name == "fixed" else None
    return DeepPolicy(opinion, ENCODER, hierarchy, 0.1, np.random.default_rng(3), calibration)


def test_own_experience_and_a_network_are_weighed_by_their_precision() -> None:
    visited = Entry(q_value=4.0, visits=9, mean=4.0, m2=9.0)
    known = [Known("a", visited, None, "individual"), Known("b", None, None, "none")]
    network = Beliefs(np.array([1.0, 2.0]), np.array([5.0, 5.0]))
    own = believe(known, 0.1)
    weight = 1 / (25 + own.errors[0] ** 2)
    level = weight * (4.0 - 1.0) / (weight + LEVEL_POINTS**-2)
    precision = 1 / 25 + 1 / own.errors[0] ** 2
    mean = ((1.0 + level) / 25 + 4.0 / own.errors[0] ** 2) / precision
    both = together(network, known, 0.1)
    assert both.means == pytest.approx([mean, 2.0 + level])
    assert both.errors == pytest.approx([precision**-0.5, 5.0])


def test_without_own_experience_the_network_decides_alone() -> None:
    network = Beliefs(np.array([1.0, 2.0]), np.array([5.0, 6.0]))
    both = together(network, [Known(name, None, None, "none") for name in "ab"], 0.1)
    assert both.means == pytest.approx(network.means)
    assert both.errors == pytest.approx(network.errors)


def test_the_opinions_are_those_of_the_learners(tmp_path: Path) -> None:
    dqn, ppo = saved("dqn", tmp_path / "dqn"), saved("ppo", tmp_path / "ppo")
    row, mask = ENCODER.row(STATE), np.array([name in NAMES[:4] for name in NAMES])
    assert isinstance(dqn, DQN)
    heads = dqn.values_by_head(row[None], mask[None])[0]
    told = opened("dqn", tmp_path / "dqn", ENCODER.layout).beliefs(row, mask)
    assert told.means == pytest.approx(heads.mean(axis=0), abs=1e-5)
    assert told.errors == pytest.approx(np.sqrt(heads.var(axis=0, ddof=1) + UNSEEN_POINTS**2), abs=1e-5)
    preferred = ppo.values(row[None], mask[None])[0]
    told = opened("ppo", tmp_path / "ppo", ENCODER.layout).beliefs(row, mask)
    assert told.means[:4] == pytest.approx(PREFERENCE_POINTS * (preferred[:4] - preferred.max()), abs=1e-4)


class Fixed:
    """An opinion that is known exactly."""

    name, values, actions, version = "fixed", True, NAMES, "1"

    def beliefs(self, observation: Floats, mask: Flags) -> Beliefs:
        return Beliefs(np.arange(len(mask), dtype=np.float64) * 4.0, np.full(len(mask), 5.0))


def test_actions_are_taken_as_often_as_it_says() -> None:
    chooser = policy(Fixed())
    chances = {a.action: a.probability for a in chooser.choose(STATE, ALLOWED).alternatives}
    drawn = [chooser.choose(STATE, ALLOWED).action for _ in range(1000)]
    assert sum(chances.values()) == pytest.approx(1.0)
    assert list(chances.values()) == sorted(chances.values())
    assert max(chances.values()) > 0.6
    for name, chance in chances.items():
        assert drawn.count(name) / len(drawn) == pytest.approx(chance, abs=0.06)


@pytest.mark.parametrize("kind", ["dqn", "ppo"])
def test_alternatives_say_that_they_come_from_training(kind: str, tmp_path: Path) -> None:
    saved(kind, tmp_path)
    chooser = policy(opened(kind, tmp_path, ENCODER.layout))
    for alternative in chooser.choose(STATE, ALLOWED).alternatives:
        assert alternative.source == "network"
        assert (alternative.value is None) == (kind == "ppo")  # a preference is no expected reward
        assert alternative.confidence is not None
    assert chooser.name == f"deep-{kind}"


def test_what_the_project_shows_overrules_the_network(tmp_path: Path) -> None:
    saved("dqn", tmp_path)
    tables = InProcessTables()
    chooser = policy(opened("dqn", tmp_path, ENCODER.layout), tables)
    learner = QLearner(chooser.hierarchy)
    for action, earned in zip(ALLOWED, (0.0, 0.0, 30.0, 0.0), strict=True):
        for luck in (-0.5, 0.5) * 10:
            tables.learn(
                learner.lesson_at(Place.of(STATE), action.name, action.kind, earned + luck, 0.1, averaged=True)
            )
    choice = chooser.choose(STATE, ALLOWED)
    best = max(choice.alternatives, key=lambda a: a.probability)
    assert (best.action, best.source, best.visits) == (ALLOWED[2].name, "individual", 20)
    assert best.value == pytest.approx(30.0, abs=1.0)
    assert best.confidence is not None
    assert best.confidence > 0.95


def test_a_preference_alone_is_enough_to_act_on(tmp_path: Path) -> None:
    saved("ppo", tmp_path)
    choice = policy(opened("ppo", tmp_path, ENCODER.layout)).choose(STATE, ALLOWED)
    decision = Gate(review_below=0.0, review_hiding_below=0.0).decide(
        run_id="r", agent=EXECUTOR.name, state_key="k", policy="deep-ppo", choice=choice, allowed=ALLOWED,
        default=ALLOWED[0], ruling=None,
    )  # fmt: skip
    assert (decision.decided_by, decision.action) == ("policy", choice.action)


def test_a_policy_made_for_another_state_is_refused(tmp_path: Path) -> None:
    saved("ppo", tmp_path)
    with pytest.raises(RefusedInput, match="another layout"):
        opened("ppo", tmp_path, Encoder(agent_named("coverage-analyzer").state_type).layout)


def test_a_missing_extra_says_how_to_get_it() -> None:
    with pytest.raises(
        MissingTool, match=r"Training needs no_such_module, which is not installed. Run pip install 'whet\[deep\]'."
    ):
        require("Training", ("numpy", "no_such_module"))
