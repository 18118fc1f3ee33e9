"""Policies that do not learn, and the shelf from which each agent gets its policy."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.policies.policy_worlds import LEFT, RIGHT, STAY, Spot, constant

from whet.core.errors import WhetError
from whet.core.ports import Policy
from whet.policies import warm_start
from whet.policies.hierarchy import Hierarchy, Weights
from whet.policies.in_process import InProcessTables
from whet.policies.shelf import DEEP, NAMES, Shelf
from whet.policies.static import FixedPolicy, RandomPolicy
from whet.policies.tabular import TabularPolicy, Thompson

SPOT = Spot(where=1)
ACTIONS = (LEFT, RIGHT, STAY)


def test_random_takes_each_action_equally_often() -> None:
    policy = RandomPolicy(np.random.default_rng(1))
    drawn = Counter(policy.choose(SPOT, ACTIONS).action for _ in range(3000))
    # χ² with two degrees of freedom exceeds 13.8 once in a thousand
    assert sum((drawn[a.name] - 1000) ** 2 / 1000 for a in ACTIONS) < 13.8


def test_random_states_its_probabilities_and_knows_nothing() -> None:
    choice = RandomPolicy(np.random.default_rng(1)).choose(SPOT, ACTIONS)
    assert [a.action for a in choice.alternatives] == ["left", "right", "stay"]
    assert [a.probability for a in choice.alternatives] == pytest.approx([1 / 3] * 3)
    assert {a.value for a in choice.alternatives} == {None}


def test_a_fixed_policy_does_what_it_is_named_for() -> None:
    policy = FixedPolicy("right")
    choice = policy.choose(SPOT, ACTIONS)
    assert (policy.name, choice.action, choice.explored) == ("always-right", "right", False)
    assert [a.probability for a in choice.alternatives] == [0.0, 1.0, 0.0]


def test_a_fixed_policy_is_sure_of_nothing_where_its_action_is_not_allowed() -> None:
    choice = FixedPolicy("right").choose(SPOT, (LEFT, STAY))
    assert (choice.action, [a.probability for a in choice.alternatives]) == ("left", [1.0, 0.0])
    assert {a.confidence for a in choice.alternatives} == {0.0}


POLICIES: list[Policy] = [
    FixedPolicy("right"),
    RandomPolicy(np.random.default_rng(1)),
    TabularPolicy(Hierarchy("walker", "walkers", InProcessTables()), Thompson(), 0.1, np.random.default_rng(1)),
]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.name)
def test_choosing_among_nothing_is_an_error_with_words(policy: Policy) -> None:
    with pytest.raises(WhetError, match="no actions"):
        policy.choose(SPOT, ())


def shelf(default: str = "thompson", **changes: Any) -> Shelf:
    fields: dict[str, Any] = {
        "tables": InProcessTables(),
        "categories": {"walker": "walkers", "runner": "walkers"},
        "actions": {"walker": ACTIONS, "runner": ACTIONS},
        "chosen": {},
        "default": default,
        "schedules": {"walker": constant(0.3), "runner": constant(0.3)},
        "weights": Weights(),
        "rate": 0.1,
        "seed": 1,
    }
    return Shelf(**(fields | changes))


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("tabular", "tabular-thompson"),
        ("thompson", "tabular-thompson"),
        ("epsilon-greedy", "tabular-epsilon-greedy"),
        ("random", "random"),
        ("stay", "always-stay"),
    ],
)
def test_policies_by_name(name: str, policy: str) -> None:
    assert shelf(name).policy_for("walker", "unit").name == policy


def test_the_choice_for_one_agent_comes_before_the_default() -> None:
    made = shelf(chosen={"runner": "random"})
    assert made.policy_for("walker", "unit").name == "tabular-thompson"
    assert made.policy_for("runner", "unit").name == "random"


def test_an_unknown_policy_lists_what_there_is() -> None:
    with pytest.raises(WhetError) as error:
        shelf("sarsa").policy_for("walker", "unit")
    assert "walker" in error.value.problem
    assert "'sarsa'" in error.value.problem
    for allowed in (*NAMES, "left", "right", "stay"):
        assert allowed in str(error.value.remedy)


def test_a_policy_is_kept_for_the_run() -> None:
    made = shelf()
    assert made.policy_for("walker", "one") is made.policy_for("walker", "two")


def choices(made: Shelf, agent: str) -> list[str]:
    return [made.policy_for(agent, "unit").choose(SPOT, ACTIONS).action for _ in range(30)]


# Those that have to be trained first have tests of their own.
@pytest.mark.parametrize("name", [name for name in NAMES if name not in (*DEEP, warm_start.NAME)])
def test_a_seed_repeats_its_choices(name: str) -> None:
    assert choices(shelf(name), "walker") == choices(shelf(name), "walker")
    assert choices(shelf(name), "walker") != choices(shelf(name, seed=2), "walker")


def test_agents_do_not_share_random_numbers() -> None:
    """What one agent draws does not depend on whether another drew before it."""
    made = shelf("random")
    choices(made, "runner")
    assert choices(made, "walker") == choices(shelf("random"), "walker")
    assert choices(shelf("random"), "walker") != choices(shelf("random"), "runner")


def test_tabular_explores_as_the_settings_of_q_learning_say() -> None:
    made = shelf("epsilon-greedy", chosen={"walker": "tabular"})
    assert made.policy_for("walker", "unit").name == "tabular-epsilon-greedy"


@pytest.mark.parametrize("name", DEEP)
def test_a_deep_policy_without_training_names_the_command(name: str, tmp_path: Path) -> None:
    made = shelf(name, states={"walker": Spot}, models=tmp_path)
    with pytest.raises(WhetError, match=f"whet train --agent walker --policy {name}"):
        made.policy_for("walker", "unit")
