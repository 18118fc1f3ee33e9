"""Which experiences a decision is reminded of: of the states most like this one, the newest of each action."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fleet.strollers import Corner

from whet.core.memories import Kind, Memory, Recalled
from whet.core.records import now
from whet.fleet.recalling import MOST_STATES, Recalling
from whet.memory.embedding import HashedEmbedder
from whet.memory.remembering_cues import state_cue
from whet.memory.retrieval import Retrieval
from whet.store.sql_store import SqlStore, open_store

HIGH = Corner(street="high", houses=8)
EMBEDDER = HashedEmbedder()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with open_store(f"sqlite:///{tmp_path}/memories.db") as opened:
        yield opened


def walked(action: str, hours_ago: int, state: Corner = HIGH, **about: str) -> Memory:
    return Memory(
        project="own",
        kind=Kind.EPISODIC,
        topic="experience",
        source=f"experience:{action}{hours_ago}{state.street}{state.houses}{about}",
        agent="stroller",
        text="went",
        cue=state_cue("stroller", state.model_dump(mode="json")),
        about={"action": action, "reward": float(hours_ago), "state_key": state.key(), **about},
        at=now() - timedelta(hours=hours_ago),
    )


def recalled(store: SqlStore, memories: list[Memory], per_action: int) -> list[Recalled]:
    store.memories.keep(memories, EMBEDDER.name, EMBEDDER.embed([memory.found_by() for memory in memories]))
    recall = Retrieval(store.memories, EMBEDDER)
    recalling = Recalling(store, "own", lambda: recall, lambda: EMBEDDER, per_action)
    return recalling.experiences("stroller", HIGH, 2, pytest.fail)


def test_of_each_action_the_newest_count(store: SqlStore) -> None:
    """What is done most often does not crowd out the rest."""
    found = recalled(store, [*(walked("left", n) for n in range(20)), *(walked("right", 50 + n) for n in range(3))], 4)
    assert Counter(each.memory.about["action"] for each in found) == {"left": 4, "right": 3}
    assert {each.memory.about["reward"] for each in found} == {0.0, 1.0, 2.0, 3.0, 50.0, 51.0, 52.0}


def test_of_many_states_the_most_alike_count(store: SqlStore) -> None:
    states = [Corner(street="high", houses=2**n) for n in range(14)]
    found = recalled(store, [walked("left", 1, state) for state in states], 4)
    assert len(found) == MOST_STATES
    assert found[0].memory.about["state_key"] == HIGH.key()
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_another_projects_memories_say_so_and_do_not_crowd_out_ours(store: SqlStore) -> None:
    theirs, ours = [walked("left", n, origin="other") for n in range(9)], [walked("left", 40 + n) for n in range(9)]
    found = recalled(store, [*theirs, *ours], 4)
    assert Counter(each.memory.about.get("origin") for each in found) == {"other": 4, None: 4}
    assert all(("in another project" in each.why) == ("origin" in each.memory.about) for each in found)


def test_none_are_recalled_where_none_are_asked_for(store: SqlStore) -> None:
    assert recalled(store, [walked("left", 1)], 0) == []
