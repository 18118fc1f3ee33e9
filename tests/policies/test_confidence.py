"""One meaning of confidence: the map by hand, what was shipped, and that every learning policy uses it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agents.catalogue import agent_named
from whet.core.errors import WhetError
from whet.fleet.gate import Gate
from whet.improvement.world import shipped as worlds
from whet.policies.confidence import Calibration, Raw, calibration_of, shipped
from whet.policies.exploration import Exponential
from whet.policies.hierarchy import Hierarchy, Place
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner
from whet.policies.tabular import EpsilonGreedy, TabularPolicy, Thompson

EXECUTOR = agent_named("test-executor")
STATE = next(world for world in worlds() if world.agent == EXECUTOR.name).states()[0]
CHANGED_ONLY = EXECUTOR.action("run_changed_only")
DEFAULT = EXECUTOR.action("run_all_tests")


def policy(calibration: Calibration | None, tables: InProcessTables) -> TabularPolicy:
    hierarchy = Hierarchy(EXECUTOR.name, EXECUTOR.category, tables)
    return TabularPolicy(hierarchy, Thompson(), 0.1, np.random.default_rng(1), calibration)


def confidences(calibration: Calibration | None, tables: InProcessTables) -> list[float]:
    told = policy(calibration, tables).choose(STATE, (DEFAULT, CHANGED_ONLY)).alternatives
    return [each.confidence for each in told if each.confidence is not None]


def after(visits: int, earned: float) -> InProcessTables:
    """The safe default ran that often."""
    tables = InProcessTables()
    learner = QLearner(Hierarchy(EXECUTOR.name, EXECUTOR.category, tables))
    for luck in np.resize([-1.0, 1.0], visits):
        lesson = learner.lesson_at(Place.of(STATE), DEFAULT.name, DEFAULT.kind, earned + luck, 0.1, averaged=True)
        tables.learn(lesson)
    return tables


def test_the_map_by_hand() -> None:
    told = Calibration(offset=1.0, slope=2.0, untried=-3.0)(np.array([0.5, 0.5, 0.8]), np.array([False, True, False]))
    odds = (1.0, -2.0, 1.0 + 2.0 * math.log(4.0))
    assert told == pytest.approx([1.0 / (1.0 + math.exp(-each)) for each in odds])


@given(
    probabilities=st.lists(st.floats(0.0, 1.0), min_size=2, max_size=8),
    name=st.sampled_from(["thompson", "epsilon-greedy", "dqn", "ppo"]),
    untried=st.booleans(),
)
def test_the_order_stays_and_nobody_is_ever_quite_sure(probabilities: list[float], name: str, untried: bool) -> None:
    before = np.sort(np.array(probabilities))
    told = calibration_of(name)(before, np.full(len(before), untried))
    assert (np.diff(told) >= 0.0).all()
    assert ((told > 0.0) & (told < 1.0)).all()


def test_what_is_shipped_was_not_fitted_on_worlds_that_count_as_proof() -> None:
    tuning = {world.name for world in worlds() if world.used_for_tuning}
    assert set(shipped().worlds) == tuning
    for fit in shipped().policies.values():
        assert fit.error_left_out <= 0.05 < fit.error_before


def test_tables_say_what_the_calibration_of_their_policy_makes_of_their_beliefs() -> None:
    tables = after(3, 5.0)
    raw = np.array(confidences(Raw(), tables))
    assert confidences(None, tables) == pytest.approx(calibration_of("thompson")(raw, np.array([False, True])))
    greedy = TabularPolicy(
        Hierarchy(EXECUTOR.name, EXECUTOR.category, tables), EpsilonGreedy(Exponential()), 0.1, np.random.default_rng(1)
    )
    assert greedy.calibration == calibration_of("epsilon-greedy")


def test_a_policy_nobody_fitted_says_so() -> None:
    with pytest.raises(WhetError, match=r"Nobody knows how sure the policy 'guess' is"):
        calibration_of("guess")


@pytest.mark.parametrize("visits", [1, 2, 5, 20])
def test_what_may_hide_something_does_not_run_before_it_was_ever_tried(visits: int) -> None:
    """Against the safe default alone beliefs call it even; that is no reason to leave tests out."""
    chooser = policy(None, after(visits, 0.0))
    choice = chooser.choose(STATE, (DEFAULT, CHANGED_ONLY))
    decision = Gate().decide(
        run_id="r", agent=EXECUTOR.name, state_key="k", policy=chooser.name, default=DEFAULT, ruling=None,
        choice=choice.model_copy(update={"action": CHANGED_ONLY.name}), allowed=(DEFAULT, CHANGED_ONLY),
    )  # fmt: skip
    assert (decision.decided_by, decision.action, decision.review) == ("safe-default", DEFAULT.name, "pending")
