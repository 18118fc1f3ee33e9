"""SQLite, PostgreSQL and a list that is looked through answer any programme of calls on memories alike."""

import math
import random
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from tests.postgres import PostgresServer

from whet.checks.memories import AT, HERE, MODEL, direction, memory, somewhere
from whet.core.memories import Embedding, Kind, Memory, Wanted
from whet.store import SqlStore, memory_index, memory_indexing, memory_pg_indexing, open_store

PROJECTS = ("shop", "other")
SUBJECTS = ("test:a", "test:b", "file:c", "suite")
WANTED = st.builds(
    Wanted,
    project=st.sampled_from(PROJECTS),
    kinds=st.sampled_from([(), (Kind.SEMANTIC,), (Kind.EPISODIC, Kind.PROCEDURAL)]),
    agent=st.sampled_from([None, None, "runner"]),
    since=st.sampled_from([None, None, AT + timedelta(seconds=40)]),
)
SEEDS = st.integers(0, 200)


def _drawn(number: int, seed: int) -> Memory:
    return memory(
        f"{number}",
        project=PROJECTS[number % 5 == 0],
        kind=list(Kind)[seed % 3],
        agent="runner" if seed % 2 else None,
        text=f"text {seed % 4}",
        subjects=tuple(subject for place, subject in enumerate(SUBJECTS) if seed >> place & 1),
        at=AT + timedelta(seconds=seed),
    )


class Agreement(RuleBasedStateMachine):
    postgres: ClassVar[PostgresServer]

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.database = self.postgres.create(template="whet_migrated")
        urls = (f"sqlite:///{Path(self.folder.name) / 'whet.db'}", self.postgres.url(self.database))
        self.stores = [open_store(url) for url in urls]
        self.known: dict[str, tuple[Memory, bytes]] = {}

    def both(self, call: Callable[[SqlStore], Any]) -> Any:
        one, two = (call(store) for store in self.stores)
        assert one == two
        return one

    @initialize(seed=SEEDS)
    def many(self, seed: int) -> None:
        """More than is searched without an index."""
        self._keep([_drawn(number, seed + number) for number in range(80)], seed)

    @rule(first=st.integers(0, 100), count=st.integers(1, 30), seed=SEEDS)
    def keep(self, first: int, count: int, seed: int) -> None:
        self._keep([_drawn(number, seed) for number in range(first, first + count)], seed)

    def _keep(self, made: list[Memory], seed: int) -> None:
        places = [somewhere((seed + number) % 50) for number, _ in enumerate(made)]  # some lie in the same place
        new = self.both(lambda store: store.memories.keep(made, MODEL, places))
        assert new == len({each.id for each in made} - set(self.known))
        for each, place in zip(made, places, strict=True):
            earlier = self.known.get(each.id, (each, b""))[0]
            stays = {name: getattr(earlier, name) for name in ("pinned", "used", "last_used")}
            self.known[each.id] = each.model_copy(update=stays), place

    @rule(numbers=st.lists(st.integers(0, 130), max_size=9))
    def forget(self, numbers: list[int]) -> None:
        ids = [_drawn(number, 0).model_copy(update={"kind": kind}).id for number in numbers for kind in Kind]
        gone = self.both(lambda store: store.memories.forget(ids, "asked to"))
        assert gone == len(set(ids) & set(self.known))
        self.known = {key: each for key, each in self.known.items() if key not in ids}

    @rule(wanted=WANTED, seed=SEEDS, limit=st.integers(1, 12))
    def nearest(self, wanted: Wanted, seed: int, limit: int) -> None:
        asked = somewhere(seed)
        found = self.both(lambda store: store.memories.nearest(wanted, MODEL, asked, limit, exact=True))
        expected = sorted(self._of(wanted), key=lambda each: (-_cosine(asked, self.known[each.id][1]), each.id))
        assert [near.memory for near in found] == expected[:limit]
        for store in self.stores:
            near = store.memories.nearest(wanted, MODEL, asked, limit)
            # Of so few rows either index looks at all of its lists.
            assert [each.likeness for each in near] == [each.likeness for each in found]

    @rule(
        wanted=WANTED, subjects=st.lists(st.sampled_from([*SUBJECTS, "nobody's"]), max_size=4), limit=st.integers(1, 9)
    )
    def sharing(self, wanted: Wanted, subjects: list[str], limit: int) -> None:
        found = self.both(lambda store: store.memories.sharing(wanted, subjects, limit))
        of_project = self._of(Wanted(project=wanted.project))
        weights = {s: 1 / math.log2(1 + max(1, sum(s in each.subjects for each in of_project))) for s in set(subjects)}
        shares = {each.id: sum(weights[s] for s in weights if s in each.subjects) for each in self._of(wanted)}
        expected = sorted((share for share in shares.values() if share), reverse=True)[:limit]
        assert [near.likeness for near in found] == pytest.approx([each / sum(weights.values()) for each in expected])
        assert all(shares[near.memory.id] for near in found)

    @rule(wanted=WANTED, offset=st.integers(0, 20), at=SEEDS)
    def others(self, wanted: Wanted, offset: int, at: int) -> None:
        expected = sorted(self._of(wanted), key=lambda each: (-each.at.timestamp(), each.id))
        assert self.both(lambda store: store.memories.newest(wanted, 7, offset)) == expected[offset : offset + 7]
        assert self.both(lambda store: store.memories.count(wanted)) == len(expected)
        used = [each.id for each in expected[:3]]
        when = AT + timedelta(seconds=at)
        self.both(lambda store: store.memories.note_use(used, when))
        for key in used:
            each, place = self.known[key]
            last = when if each.last_used is None else max(each.last_used, when)
            self.known[key] = each.model_copy(update={"used": each.used + 1, "last_used": last}), place
        self.both(lambda store: sorted(store.memories.outlines(wanted.project)))
        self.both(lambda store: store.memories.models(wanted.project))

    def _of(self, wanted: Wanted) -> list[Memory]:
        return [
            each
            for each, _ in self.known.values()
            if each.project == wanted.project
            and (not wanted.kinds or each.kind in wanted.kinds)
            and (wanted.agent is None or each.agent == wanted.agent)
            and (wanted.since is None or each.at >= wanted.since)
        ]

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        self.postgres.drop(self.database)
        self.folder.cleanup()


def _cosine(one: bytes, other: bytes) -> float:
    a, b = (np.frombuffer(each, "<f4").astype(np.float64) for each in (one, other))
    return float(np.clip((b * a).sum() / (np.sqrt((b * b).sum()) * np.sqrt((a * a).sum())), -1.0, 1.0))


def test_stores_and_a_list_agree(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (memory_indexing, memory_index, memory_pg_indexing):
        monkeypatch.setattr(module, "FEW_ROWS", 40)
    for module in (memory_indexing, memory_pg_indexing):
        monkeypatch.setattr(module, "_LOOK_EVERY", 10)
    Agreement.postgres = postgres
    run_state_machine_as_test(
        Agreement,
        settings=settings(
            max_examples=6,
            stateful_step_count=14,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_where_there_are_few_lists_all_are_looked_at(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Places that lie in no groups are the hardest to find by lists."""
    for module in (memory_indexing, memory_index, memory_pg_indexing):
        monkeypatch.setattr(module, "FEW_ROWS", 100)
    made = [memory(f"{number}") for number in range(1_000)]
    questions = [_anywhere(seed) for seed in range(2_000, 2_020)]
    for url in (postgres_url, f"sqlite:///{tmp_path / 'whet.db'}"):
        with open_store(url) as store:
            store.memories.keep(made, MODEL, [_anywhere(seed) for seed in range(1_000)])
            for asked in questions:
                exact = store.memories.nearest(HERE, MODEL, asked, 10, exact=True)
                assert store.memories.nearest(HERE, MODEL, asked, 10) == exact


def _anywhere(seed: int) -> Embedding:
    drawn = random.Random(seed)
    return direction(*(drawn.gauss(0, 1) for _ in range(64)))
