"""Where a value is found: nearest first, and really across agents that share nothing but the situation."""

import pytest
from tests.policies.policy_worlds import ELSEWHERE, HERE, LEFT, RIGHT, Mood, Spot, experience

from whet.core.ports import Cell, Scope
from whet.core.records import Action, ActionKind
from whet.policies.hierarchy import FLEET, Hierarchy, Known, Place, Weights
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner

SPOT = Spot(where=1)
PLACE = Place.of(SPOT)
EXACT = Cell(Scope.INDIVIDUAL, "walker", PLACE.state_key, "left")
ABSTRACT = Cell(Scope.INDIVIDUAL, "walker", PLACE.category_key, "left")
CATEGORY = Cell(Scope.CATEGORY, "walkers", PLACE.category_key, "faster")
SHARED = Cell(Scope.FLEET, FLEET, PLACE.fleet_key, "faster")


def look(tables: InProcessTables, weights: Weights | None = None, place: Place = PLACE) -> Known:
    (known,) = Hierarchy("walker", "walkers", tables, weights or Weights()).recall(place, [LEFT])
    return known


def with_values(*cells: Cell) -> InProcessTables:
    tables = InProcessTables()
    tables.initialise(dict.fromkeys(cells, 10.0))
    return tables


def visited(tables: InProcessTables) -> InProcessTables:
    hierarchy = Hierarchy("walker", "walkers", tables)
    tables.learn(QLearner(hierarchy, {"left": LEFT}).lesson(experience(SPOT, LEFT, 42.0)))
    return tables


@pytest.mark.parametrize(
    ("cells", "value", "source"),
    [
        ((ABSTRACT, CATEGORY, SHARED), 10.0, "abstract"),
        ((CATEGORY, SHARED), 7.0, "category"),
        ((SHARED,), 5.0, "fleet"),
        ((), None, "none"),
    ],
)
def test_the_nearest_table_lends_at_its_weight(cells: tuple[Cell, ...], value: float | None, source: str) -> None:
    known = look(with_values(*cells))
    assert (known.value, known.source, known.visits) == (value, source, 0)


def test_own_experience_comes_before_everything() -> None:
    known = look(visited(with_values(ABSTRACT, CATEGORY, SHARED)))
    assert (known.value, known.source, known.visits) == (42.0, "individual", 1)


def test_an_own_cell_nobody_visited_does_not_hide_what_others_know() -> None:
    known = look(with_values(EXACT, CATEGORY))
    assert (known.value, known.source, known.visits) == (7.0, "category", 0)


def test_a_value_of_nought_is_a_value() -> None:
    tables = InProcessTables()
    tables.initialise({CATEGORY: 0.0, SHARED: 100.0})
    known = look(tables)
    assert (known.value, known.source) == (0.0, "category")


def test_a_state_never_met_starts_from_own_experience_in_such_situations() -> None:
    known = look(visited(InProcessTables()), place=Place.of(Spot(where=99)))
    assert (known.value, known.source, known.visits) == (42.0, "abstract", 0)


@pytest.mark.parametrize(
    ("weights", "value", "source"),
    [
        (Weights(category=0.0), 5.0, "fleet"),
        (Weights(fleet=0.0), 7.0, "category"),
        (Weights(category=0.0, fleet=0.0), None, "none"),
        (Weights(category=0.25), 2.5, "category"),
    ],
)
def test_a_shared_table_of_weight_nought_is_not_asked(weights: Weights, value: float | None, source: str) -> None:
    known = look(with_values(CATEGORY, SHARED), weights)
    assert (known.value, known.source) == (value, source)


def test_an_own_table_of_weight_nought_is_not_asked() -> None:
    known = look(visited(InProcessTables()), Weights(individual=0.0))
    # the category learned 42 from the same experience and lends 0.7 of it
    assert known.value == pytest.approx(29.4)
    assert known.source == "category"


def test_the_weight_of_the_own_table_counts_in_its_exact_rows_too() -> None:
    known = look(visited(InProcessTables()), Weights(individual=0.5))
    assert known.value == pytest.approx(21.0)


def test_recall_answers_in_the_order_asked() -> None:
    hierarchy = Hierarchy("walker", "walkers", with_values(ABSTRACT))
    assert [k.action for k in hierarchy.recall(PLACE, [RIGHT, LEFT])] == ["right", "left"]


# Agents that share no state and no action name, only a situation and a kind of action.
SPRINT = Action(name="sprint", kind=ActionKind.FASTER, summary="Run.")
DIG = Action(name="dig", kind=ActionKind.DEEPER, summary="Dig.")


def borrowed(agent: str, category: str, state: Mood, action: Action) -> Known:
    """What another agent finds after the walker once earned 40 by going left."""
    tables = visited(InProcessTables())
    tables.learn(QLearner(Hierarchy("walker", "walkers", tables)).lesson(experience(SPOT, LEFT, 38.0)))
    (known,) = Hierarchy(agent, category, tables).recall(Place.of(state), [action])
    return known


def test_an_agent_of_the_same_category_finds_it_through_the_category() -> None:
    known = borrowed("runner", "walkers", Mood(mood="keen"), SPRINT)
    # the walker's value went 42 → 40; the category averaged them to 41, and lends 0.7 of that
    assert known.value == pytest.approx(28.7)
    assert (known.source, known.visits) == ("category", 0)


def test_an_agent_of_another_category_finds_it_through_the_fleet() -> None:
    known = borrowed("digger", "diggers", Mood(mood="keen"), SPRINT)
    assert known.value == pytest.approx(20.5)
    assert known.source == "fleet"


def test_another_kind_of_action_finds_nothing() -> None:
    assert borrowed("runner", "walkers", Mood(mood="keen"), DIG).value is None


def test_another_situation_finds_nothing() -> None:
    assert borrowed("runner", "walkers", Mood(mood="keen", situation=ELSEWHERE), SPRINT).value is None


def test_the_fleet_is_coarser_than_the_category() -> None:
    """A situation that differs only in what the fleet does not look at is found in the fleet's table."""
    bigger = HERE.model_copy(update={"suite": "large", "history": "rich"})
    known = borrowed("runner", "walkers", Mood(mood="keen", situation=bigger), SPRINT)
    assert known.value == pytest.approx(20.5)
    assert known.source == "fleet"
