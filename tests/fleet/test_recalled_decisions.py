"""Memory in the loop: it changes a decision, the decision says so, and it is never in the way."""

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from tests.fleet.strollers import Corner, Street, Stroller

from whet.bootstrap.executing import Task, execute_with_learning
from whet.core.events import Event, Warned
from whet.core.memories import Kind, Memory, Wanted
from whet.core.records import Decision, Experience, Finding, Recollection, now
from whet.memory.embedding import HashedEmbedder
from whet.memory.remembering_cues import state_cue
from whet.reports.recalled import FORGOTTEN, looked_up
from whet.settings.model import Settings
from whet.store.sql_store import SqlStore, open_store

HASHED = Settings.model_validate({"memory": {"embedding": "hashed", "recall": 8}, "seed": 3})
SILENT = Settings.model_validate({"memory": {"enabled": False}, "seed": 3})
OWN = Wanted(project="own")
HIGH = Corner(street="high", houses=8)


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    with open_store(store_url) as opened:
        yield opened


def walked(action: str, reward: float, state: Corner = HIGH, project: str = "own", at_days_ago: float = 0.0) -> Memory:
    return Memory(
        project=project,
        kind=Kind.EPISODIC,
        topic="experience",
        source=f"experience:{action}{reward}{state.street}",
        agent="stroller",
        text=f"went {action} for {reward}",
        cue=state_cue("stroller", state.model_dump(mode="json")),
        about={"action": action, "reward": reward, "state_key": state.key()},
        at=now() - timedelta(days=at_days_ago),
    )


def kept(store: SqlStore, *memories: Memory) -> list[str]:
    embedder = HashedEmbedder()
    store.memories.keep(memories, embedder.name, embedder.embed([memory.found_by() for memory in memories]))
    return [memory.id for memory in memories]


def lived(store: SqlStore, settings: Settings = HASHED, street: Street | None = None) -> Experience:
    with Task(street or Street(), store, settings=settings) as task:
        return execute_with_learning(task, Stroller())


def chances(decision: Decision) -> list[float]:
    return [a.probability for a in decision.alternatives]


def wiped(store: SqlStore) -> None:
    for scope, owner in store.tables.owners():
        store.tables.wipe(scope, owner)


def test_a_memory_changes_what_is_done_and_forgetting_it_brings_it_back(store: SqlStore) -> None:
    """LEFT paid 0 and RIGHT 20: the chance of going right rises from nothing known to 0.809, and it is gone right."""
    before = lived(store, SILENT)
    assert (before.decision.action, before.decision.decided_by, before.decision.memories) == (
        "left",
        "safe-default",
        (),
    )
    assert chances(before.decision) == pytest.approx([0.5, 0.5])
    wiped(store)
    ids = kept(store, walked("right", 20.0), walked("left", 0.0))
    reminded = lived(store)
    assert chances(reminded.decision) == pytest.approx([0.191, 0.809], abs=1e-3)
    assert (reminded.decision.action, reminded.decision.decided_by) == ("right", "policy")
    assert {m.memory for m in reminded.decision.memories} == set(ids)
    wiped(store)
    store.memories.forget([m.id for m in store.memories.newest(OWN, 100)], "test")
    after = lived(store)
    assert chances(after.decision) == pytest.approx([0.5, 0.5])
    assert after.decision.action == "left"


def test_with_memory_switched_off_decisions_are_the_same_to_the_bit(store: SqlStore) -> None:
    kept(store, walked("right", 20.0), walked("left", 0.0))
    one = lived(store, SILENT).decision
    wiped(store)
    store.memories.forget([m.id for m in store.memories.newest(OWN, 100)], "test")
    other = lived(store, SILENT).decision
    told = {"id", "run_id", "at"}
    assert one.model_dump(exclude=told) == other.model_dump(exclude=told)


def test_the_decision_and_the_experience_keep_what_was_used_and_never_its_words(store: SqlStore) -> None:
    right, left = kept(store, walked("right", 20.0), walked("left", 0.0))
    experience = lived(store)
    ((found, _),) = store.decisions.find(experience.decision.id)
    assert found.memories == experience.decision.memories
    stored = store.experiences.of_decision(found.id)
    assert stored is not None
    assert stored.decision.memories == found.memories
    assert "went right" not in json.dumps([m.model_dump() for m in found.memories])
    texts = {m.memory: m.text for m in looked_up(found.memories, store.memories)}
    assert texts == {right: "went right for 20.0", left: "went left for 0.0"}
    store.memories.forget([right], "test")
    assert {m.memory: m.text for m in looked_up(found.memories, store.memories)} == texts | {right: FORGOTTEN}


def test_what_was_used_is_noted_as_used(store: SqlStore) -> None:
    (right, left) = kept(store, walked("right", 20.0), walked("left", 0.0))
    with Task(Street(), store, settings=HASHED) as task:
        execute_with_learning(task, Stroller())
    assert [m.used for m in store.memories.get([right, left])] == [1, 1]


def test_another_projects_memories_change_nothing(store: SqlStore) -> None:
    kept(store, walked("right", 20.0, project="other"), walked("left", 0.0, project="other"))
    assert lived(store).decision.memories == ()


def test_what_was_lived_here_is_not_counted_twice(store: SqlStore) -> None:
    """The table knows it; remembered as well, it changes nothing."""
    with Task(Street(), store, settings=HASHED) as task:
        for _ in range(4):
            execute_with_learning(task, Stroller())
    assert store.memories.count(OWN) == 4
    assert lived(store).decision.memories == ()


def test_similar_states_teach_each_other(store: SqlStore) -> None:
    elsewhere = Corner(street="high", houses=16)
    kept(store, walked("right", 20.0, elsewhere), walked("left", 0.0, elsewhere))
    decision = lived(store).decision
    assert 0.6 < chances(decision)[1] < 0.8
    assert decision.memories[0].why.startswith("in a state 94% like this one, on ")


class Broken:
    """A store whose memories cannot be read."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> object:
        if name == "memories":
            raise OSError("the disk is gone")
        return getattr(self._store, name)


def test_trouble_with_memory_is_told_once_and_ends_nothing(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Event] = []
    monkeypatch.setattr(Task, "emit", lambda _self, event: told.append(event))
    monkeypatch.setattr(Task, "remember", lambda _self: None)
    with Task(Street(), Broken(store), settings=HASHED) as task:  # type: ignore[arg-type]
        for _ in range(3):
            execute_with_learning(task, Stroller())
    assert [event.message for event in told if isinstance(event, Warned)] == [
        "This visit goes on without memory: the disk is gone"
    ]
    assert store.experiences.count("stroller") == 3


def test_a_finding_says_what_it_resembles(store: SqlStore) -> None:
    """The first time nothing; the next time the failure of before, by its id, and the fingerprint stays."""
    street = Street()
    found = Finding(
        kind="failing-test",
        title="t fails",
        severity="high",
        evidence="KeyError: 'price' in cart.total",
        test="tests/test_cart.py::test_total",
        file="tests/test_cart.py",
    )
    street.findings = (found,)
    first, second = lived(store, HASHED, street), lived(store, HASHED, street)
    assert first.outcome["findings"][0]["memories"] == []  # type: ignore[index]
    told, noted = second.outcome["findings"][0], store.runs.findings()  # type: ignore[index]
    remembered = store.memories.newest(OWN, 100)
    (failure,) = [m for m in remembered if m.topic == "failure"]
    assert [m["memory"] for m in told["memories"]] == [failure.id]
    assert [m.text for m in noted[0].memories] == [""]
    assert noted[0].fingerprint() == found.fingerprint()


def test_a_finding_whose_test_is_masked_is_known_again(store: SqlStore) -> None:
    street, test = Street(), "tests/test_mail.py::test_to[bob@corp.example]"
    street.findings = (Finding(kind="failing-test", title="t fails", severity="high", evidence="boom", test=test),)
    _first, second = lived(store, HASHED, street), lived(store, HASHED, street)
    (seen,) = second.outcome["findings"][0]["memories"]  # type: ignore[index]
    assert seen["why"].startswith("about the same test")


def test_documents_from_before_there_was_memory_are_read() -> None:
    decision = Decision(
        run_id="r",
        agent="a",
        state_key="s",
        proposed="left",
        action="left",
        probability=1.0,
        confidence=None,
        explored=False,
        policy="p",
        policy_version="1",
        decided_by="policy",
        alternatives=(),
    )
    told = decision.model_dump(mode="json")
    del told["memories"]
    assert Decision.model_validate(told).memories == ()
    old = {"kind": "flaky-test", "title": "t", "severity": "low", "evidence": "e"}
    one = Finding.model_validate(old)
    other = one.model_copy(update={"memories": (Recollection(memory="m", why="w", weight=1.0),)})
    assert one.fingerprint() == other.fingerprint()
