"""A network with room for memories sees what was recalled; one without decides as if nothing had been."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.policies.deep.test_deep_deciding import ALLOWED, ENCODER, EXECUTOR, NAMES, STATE
from tests.policies.policy_memories import ELSEWHERE, SPOT, recalled
from tests.policies.policy_worlds import LEFT

from whet.core.memories import Recalled
from whet.core.ports import Choice, Entry
from whet.policies.deep.deciding import DeepPolicy
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_config import Config, Network
from whet.policies.deep.encoding import Encoder
from whet.policies.deep.opinions import layout_in, opened
from whet.policies.deep.tokens import tokens, usable, width
from whet.policies.hierarchy import Hierarchy
from whet.policies.in_process import InProcessTables

HERE = SPOT.key()
PAID = [recalled(action, reward) for action, reward in zip(ALLOWED, (40.0, -40.0, 5.0, 0.0), strict=True)]


def chosen(folder: Path, encoder: Encoder, given: list[Recalled]) -> Choice:
    network = Network(encoder=(16, 8), stream=8, heads=4, attention=8)
    DQN(Config(layout=encoder.layout, actions=NAMES, network=network, capacity=64), seed=1).save(folder)
    trained = layout_in("dqn", folder)
    again = Encoder(EXECUTOR.state_type, trained.memories, trained.memory_width)
    hierarchy = Hierarchy(EXECUTOR.name, EXECUTOR.category, InProcessTables())
    policy = DeepPolicy(opened("dqn", folder, again.layout), again, hierarchy, 0.1, np.random.default_rng(3))
    return policy.choose(STATE, ALLOWED, given)


def test_with_room_for_memories_they_change_what_it_believes(tmp_path: Path) -> None:
    roomy = Encoder(EXECUTOR.state_type, memories=3, memory_width=width(NAMES))
    without, with_them = (chosen(tmp_path / name, roomy, given) for name, given in (("a", []), ("b", PAID)))
    assert [a.value for a in without.alternatives] != [a.value for a in with_them.alternatives]
    assert without.memories == ()
    assert [m.memory for m in with_them.memories] == [each.memory.id for each in PAID[:3]]
    assert sum(m.weight for m in with_them.memories) == pytest.approx(1.0)


def test_without_room_nothing_changes(tmp_path: Path) -> None:
    assert chosen(tmp_path / "a", ENCODER, PAID) == chosen(tmp_path / "b", ENCODER, [])


@pytest.mark.parametrize("reward", [None, "much", True])
def test_what_says_nothing_becomes_no_token(reward: Any) -> None:
    assert usable([recalled(ALLOWED[0], reward), recalled(LEFT, 1.0)], NAMES, 16, HERE, {}) == []


def test_what_led_on_to_something_else_says_nothing() -> None:
    assert usable([*PAID, recalled(ALLOWED[0], 1.0, done=False)], NAMES, 16, HERE, {}) == []


def test_what_the_table_of_this_state_counts_already_is_not_seen_as_well() -> None:
    lived = [recalled(ALLOWED[0], float(reward), position=reward) for reward in range(3)]
    elsewhere = recalled(ALLOWED[0], 7.0, 0.5, ELSEWHERE, position=9)
    imported = recalled(ALLOWED[0], 8.0, origin="another project")
    visited = {ALLOWED[0].name: Entry(q_value=1.0, visits=2, mean=1.0, m2=0.0)}
    (left, *others) = usable([*lived, elsewhere, imported], NAMES, 16, HERE, visited)
    assert left in lived
    assert others == [elsewhere, imported]


def test_a_token_says_how_like_what_was_earned_and_which_action() -> None:
    (token,) = tokens([recalled(ALLOWED[1], 100.0, 0.5)], NAMES)
    assert token.tolist() == [0.5, 1.0, *(float(name == ALLOWED[1].name) for name in NAMES)]
