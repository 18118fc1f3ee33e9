"""What the Q-tables keep beside their cells, and what cannot enter them."""

import pytest
from sqlalchemy import select

from whet.checks.store_samples import CATEGORY, OWN, experience, lesson
from whet.core.errors import RefusedInput, WhetError
from whet.core.ports import Lesson, Move
from whet.store import SqlStore, open_store
from whet.store.schema import q_tables


def _counts(store: SqlStore) -> dict[str, tuple[int, float | None]]:
    with store._database.engine.connect() as connection:
        rows = connection.execute(select(q_tables.c.owner, q_tables.c.total_updates, q_tables.c.avg_reward))
        return {row.owner: (row.total_updates, row.avg_reward) for row in rows}


def test_updates_and_mean_reward_are_kept(store_url: str) -> None:
    """Rewards 4, 1, 4 have the running means 4, 2.5, 3. A lesson counts once for each table it touches."""
    two_cells = Lesson(target=1.0, own=tuple(Move(cell=OWN._replace(state_key=key), rate=0.1) for key in "ab"))
    with open_store(store_url) as store:
        store.tables.initialise({CATEGORY: 3.0})
        for key, credited in (("a", 4.0), ("b", 1.0), ("c", 4.0)):
            store.experiences.learn(experience(key, credited=credited), two_cells)
        store.experiences.learn(experience("c"), two_cells)
        store.tables.replay(two_cells)
        assert _counts(store) == {OWN.owner: (3, 3.0), CATEGORY.owner: (0, None)}
        store.experiences.learn(experience("d", credited=5.0), lesson(1.0, cell=CATEGORY))
        assert _counts(store)[CATEGORY.owner] == (1, 5.0)


def test_squared_deviations_never_turn_negative(store_url: str) -> None:
    """Equal targets whose running mean rounds: the textbook form gives tiny negative sums here."""
    with open_store(store_url) as store:
        for number in range(30):
            store.experiences.learn(experience(str(number)), lesson(0.1 + 1e-17 * number))
        assert store.tables.read([OWN])[OWN].m2 >= 0.0


def test_names_too_long_for_an_index_are_refused(store_url: str) -> None:
    with open_store(store_url) as store:
        cell = OWN._replace(state_key="🧪" * 201)
        with pytest.raises(RefusedInput, match=r"201 characters.*At most 200"):
            store.experiences.learn(experience("a"), lesson(1.0, cell=cell))
        assert store.experiences.count() == 0
        longest = OWN._replace(state_key="\0" * 200, action="\ud800" * 200, owner="🧪" * 200)
        store.experiences.learn(experience("a"), lesson(1.0, cell=longest))
        assert store.tables.read([longest])[longest].visits == 1


def test_a_lost_server_is_told_as_a_sentence() -> None:
    with pytest.raises(WhetError, match="cannot be used"):
        open_store("postgresql://nobody@127.0.0.1:1/nowhere")
