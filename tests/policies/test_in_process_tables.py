"""The dictionary tables keep the port's contract, checked against a model that only remembers what it was told."""

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.core.errors import RefusedInput
from whet.core.ports import Cell, Entry, Lesson, Move, Scope
from whet.policies.in_process import InProcessTables

OWN = Cell(Scope.INDIVIDUAL, "walker", "state", "left")
ABSTRACT = Cell(Scope.INDIVIDUAL, "walker", "abstract", "left")
CATEGORY = Cell(Scope.CATEGORY, "walkers", "abstract", "faster")
FLEET = Cell(Scope.FLEET, "fleet", "fleet", "faster")


def lesson(target: float, *, averaged: bool = False, share: float = 1.0) -> Lesson:
    return Lesson(
        target=target,
        own=(Move(cell=OWN, rate=0.1 * share, averaged=averaged), Move(cell=ABSTRACT, rate=0.1, averaged=averaged)),
        shared=(
            Move(cell=CATEGORY, rate=0.1 * share, averaged=averaged),
            Move(cell=FLEET, rate=0.05 * share, averaged=averaged),
        ),
    )


def values(tables: InProcessTables, *cells: Cell) -> list[float]:
    found = tables.read(cells)
    return [found[cell].q_value for cell in cells]


def test_a_lesson_moves_own_cells_to_the_target_and_shared_ones_to_the_learned_value() -> None:
    tables = InProcessTables()
    tables.learn(lesson(100.0))
    # own 0.1 · 100 = 10; category 0.1 · 10 = 1; fleet 0.05 · 10 = 0.5
    assert values(tables, OWN, ABSTRACT, CATEGORY, FLEET) == pytest.approx([10.0, 10.0, 1.0, 0.5])
    tables.learn(lesson(100.0))
    # own 10 + 9 = 19; category 1 + 0.1 · 18 = 2.8; fleet 0.5 + 0.05 · 18.5 = 1.425
    assert values(tables, OWN, ABSTRACT, CATEGORY, FLEET) == pytest.approx([19.0, 19.0, 2.8, 1.425])


def test_averaged_propagation_starts_from_the_first_value_learned() -> None:
    tables = InProcessTables()
    tables.learn(lesson(40.0, averaged=True))
    tables.learn(lesson(60.0, averaged=True))
    # own 40 → 50; the shared tables saw 40, then 50
    assert values(tables, OWN, CATEGORY, FLEET) == pytest.approx([50.0, 45.0, 45.0])


def test_shared_statistics_are_those_of_the_values_passed_up() -> None:
    tables = InProcessTables()
    tables.learn(lesson(40.0, averaged=True))
    tables.learn(lesson(60.0, averaged=True))
    shared = tables.read([FLEET])[FLEET]
    assert shared.visits == 2
    assert [shared.mean, shared.variance()] == pytest.approx([45.0, 50.0])


def test_replay_moves_values_without_counting() -> None:
    tables = InProcessTables()
    tables.learn(lesson(100.0))
    before = tables.read([OWN, CATEGORY, FLEET])
    tables.replay(lesson(100.0, share=0.5))
    after = tables.read([OWN, CATEGORY, FLEET])
    # own 10 + 0.05 · 90 = 14.5; category 1 + 0.05 · 13.5; fleet 0.5 + 0.025 · 14
    assert [after[c].q_value for c in (OWN, CATEGORY, FLEET)] == pytest.approx([14.5, 1.675, 0.85])
    for cell in after:
        assert after[cell].model_copy(update={"q_value": 0.0}) == before[cell].model_copy(update={"q_value": 0.0})


def test_replay_invents_no_cells() -> None:
    """There is nothing to move again in a table that was wiped; the SQL store does the same."""
    tables = InProcessTables()
    tables.replay(lesson(100.0))
    assert tables.owners() == []


def test_a_cell_named_twice_moves_once() -> None:
    """As in the SQL store: one experience is one visit, by the first move that names the cell."""
    tables = InProcessTables()
    tables.learn(Lesson(target=10.0, own=(Move(cell=OWN, rate=0.5), Move(cell=OWN, rate=0.1))))
    assert tables.read([OWN])[OWN].visits == 1


def test_absent_cells_are_absent() -> None:
    assert InProcessTables().read([OWN]) == {}


def test_initialise_sets_only_what_is_missing() -> None:
    tables = InProcessTables()
    tables.learn(lesson(100.0))
    assert tables.initialise({OWN: -5.0, OWN._replace(action="right"): 7.0}) == 1
    assert tables.initialise({OWN._replace(action="right"): 8.0}) == 0
    assert values(tables, OWN, OWN._replace(action="right")) == pytest.approx([10.0, 7.0])
    assert tables.read([OWN._replace(action="right")])[OWN._replace(action="right")].visits == 0


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 2e6])
def test_initialise_refuses_what_is_no_value_and_keeps_nothing_of_it(bad: float) -> None:
    tables = InProcessTables()
    with pytest.raises((ValueError, RefusedInput)):
        tables.initialise({FLEET: 1.0, OWN: bad})
    assert tables.owners() == []


def test_tables_are_told_apart_by_scope_and_owner() -> None:
    tables = InProcessTables()
    tables.learn(lesson(1.0))
    tables.initialise({OWN._replace(owner="runner"): 1.0, CATEGORY._replace(owner="walker"): 1.0})
    assert set(tables.rows(Scope.INDIVIDUAL, "walker")) == {OWN, ABSTRACT}
    assert tables.owners() == [
        (Scope.CATEGORY, "walker"),
        (Scope.CATEGORY, "walkers"),
        (Scope.FLEET, "fleet"),
        (Scope.INDIVIDUAL, "runner"),
        (Scope.INDIVIDUAL, "walker"),
    ]


def test_wipe_forgets_one_table_and_says_how_much() -> None:
    tables = InProcessTables()
    tables.learn(lesson(1.0))
    assert tables.wipe(Scope.INDIVIDUAL, "walker") == 2
    assert tables.wipe(Scope.INDIVIDUAL, "walker") == 0
    assert tables.owners() == [(Scope.CATEGORY, "walkers"), (Scope.FLEET, "fleet")]


def test_a_table_is_restored_as_it_was_and_the_others_are_left_alone() -> None:
    tables = InProcessTables()
    tables.learn(lesson(1.0))
    kept = tables.rows(Scope.INDIVIDUAL, "walker")
    tables.learn(lesson(9.0))
    tables.initialise({OWN._replace(action="right"): 3.0})
    shared = tables.read([CATEGORY, FLEET])
    tables.restore(Scope.INDIVIDUAL, "walker", kept)
    assert tables.rows(Scope.INDIVIDUAL, "walker") == kept
    assert tables.read([CATEGORY, FLEET]) == shared
    tables.restore(Scope.INDIVIDUAL, "walker", {})
    assert tables.owners() == [(Scope.CATEGORY, "walkers"), (Scope.FLEET, "fleet")]


def test_a_restored_table_has_cells_of_its_own_and_values_that_can_be() -> None:
    tables = InProcessTables()
    tables.learn(lesson(1.0))
    kept = tables.rows(Scope.INDIVIDUAL, "walker")
    with pytest.raises(RefusedInput, match="rows of one table"):
        tables.restore(Scope.INDIVIDUAL, "walker", {FLEET: kept[OWN]})
    for wrong in (float("nan"), 1e7, -float("inf")):
        with pytest.raises(RefusedInput, match="within"):
            tables.restore(Scope.INDIVIDUAL, "walker", {OWN: kept[OWN].model_copy(update={"q_value": wrong})})
    assert tables.rows(Scope.INDIVIDUAL, "walker") == kept


def test_what_was_read_does_not_change_later() -> None:
    tables = InProcessTables()
    tables.learn(lesson(100.0))
    before = tables.rows(Scope.INDIVIDUAL, "walker")
    tables.learn(lesson(100.0))
    assert before[OWN].visits == 1


def test_concurrent_learners_lose_no_visit() -> None:
    tables = InProcessTables()

    def study() -> None:
        for _ in range(200):
            tables.learn(lesson(5.0))

    _together(study, study, study, study)
    assert {e.visits for e in tables.read([OWN, ABSTRACT, CATEGORY, FLEET]).values()} == {800}


def test_tables_can_be_read_while_they_grow() -> None:
    tables = InProcessTables()

    def grow() -> None:
        for i in range(3000):
            tables.initialise({OWN._replace(state_key=str(i)): 1.0})

    def look() -> None:
        for _ in range(60):
            tables.rows(Scope.INDIVIDUAL, "walker")
            tables.owners()

    _together(grow, look, look)
    assert len(tables.rows(Scope.INDIVIDUAL, "walker")) == 3000


def test_two_wipes_at_once_share_the_work() -> None:
    for _ in range(20):
        tables = InProcessTables()
        tables.initialise({OWN._replace(state_key=str(i)): 1.0 for i in range(500)})
        counts: list[int] = []
        _together(*[lambda: counts.append(tables.wipe(Scope.INDIVIDUAL, "walker")) for _ in range(3)])  # noqa: B023 - joined before the next round
        assert sum(counts) == 500


def _together(*jobs: Callable[[], object]) -> None:
    """Run all at once, switching as often as the interpreter can; the first error of any is raised here."""
    errors: list[BaseException] = []

    def attempt(job: Callable[[], object]) -> None:
        try:
            job()
        except BaseException as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=attempt, args=(job,)) for job in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if errors:
        raise errors[0]


CELLS = (OWN, ABSTRACT, CATEGORY, FLEET, OWN._replace(action="right"), OWN._replace(owner="runner"))


@dataclass
class Remembered:
    """All that ever happened to one cell. Its statistics are worked out from scratch when asked for."""

    q_value: float = 0.0
    seen: list[float] = field(default_factory=list)

    def entry(self) -> Entry:
        mean = float(np.mean(self.seen)) if self.seen else 0.0
        m2 = float(np.sum((np.array(self.seen) - mean) ** 2)) if self.seen else 0.0
        return Entry(q_value=self.q_value, visits=len(self.seen), mean=mean, m2=m2)


class Model:
    """The port's words, as plainly as they can be written."""

    def __init__(self) -> None:
        self.cells: dict[Cell, Remembered] = {}

    def learn(self, lesson: Lesson) -> None:
        for move in lesson.own:
            self._move(move, lesson.target)
        for move in lesson.shared:
            self._move(move, self.cells[lesson.own[0].cell].q_value)

    def _move(self, move: Move, target: float) -> None:
        cell = self.cells.setdefault(move.cell, Remembered())
        weight = 1 / (len(cell.seen) + 1)
        rate = weight if move.averaged and weight > move.rate else move.rate
        cell.q_value = (1 - rate) * cell.q_value + rate * target
        cell.seen.append(target)

    def replay(self, lesson: Lesson) -> None:
        known = {cell: list(self.cells[cell].seen) for cell in self.cells}
        self.learn(lesson)
        for cell, seen in known.items():
            self.cells[cell].seen = seen


moves = st.builds(
    lambda cells, rate, averaged: tuple(Move(cell=c, rate=rate, averaged=averaged) for c in cells),
    st.lists(st.sampled_from(CELLS), min_size=2, max_size=4, unique=True),
    st.floats(0.01, 1.0),
    st.booleans(),
)
lessons = st.builds(
    lambda moves, target, own: Lesson(target=target, own=moves[:own], shared=moves[own:]),
    moves,
    st.floats(-1000, 1000),
    st.integers(1, 2),
)
steps = st.one_of(
    st.tuples(st.sampled_from(["learn", "replay"]), lessons),
    st.tuples(st.just("initialise"), st.dictionaries(st.sampled_from(CELLS), st.floats(-1000, 1000), min_size=1)),
    st.tuples(st.just("wipe"), st.sampled_from(CELLS)),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, max_size=15))
def test_any_history_gives_what_the_model_says(history: Sequence[tuple[str, object]]) -> None:
    tables, model = InProcessTables(), Model()
    for what, argument in history:
        if isinstance(argument, Lesson):
            if what == "learn":
                tables.learn(argument)
                model.learn(argument)
            elif {m.cell for m in argument.own + argument.shared} <= set(model.cells):
                tables.replay(argument)
                model.replay(argument)
        elif isinstance(argument, dict):
            new = [cell for cell in argument if cell not in model.cells]
            assert tables.initialise(argument) == len(new)
            model.cells.update({cell: Remembered(argument[cell]) for cell in new})
        elif isinstance(argument, Cell):
            gone = [cell for cell in model.cells if cell[:2] == argument[:2]]
            assert tables.wipe(argument.scope, argument.owner) == len(gone)
            for cell in gone:
                del model.cells[cell]
    found = tables.read(CELLS)
    assert set(found) == set(model.cells)
    for cell, told in model.cells.items():
        expected = told.entry()
        assert found[cell].visits == expected.visits
        for name in ("q_value", "mean", "m2"):
            assert getattr(found[cell], name) == pytest.approx(getattr(expected, name), rel=1e-7, abs=1e-6)
