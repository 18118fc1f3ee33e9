"""A project's memory put together: what is due is done, and no more."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.agents.workplaces import SmallProject
from tests.memory.lived import begin, failing, live

from whet.bootstrap.remembering import FleetMemory, fleet_memory, opened_memory
from whet.bootstrap.remembering_runs import Changed, Failure, remember_run
from whet.bootstrap.site import Site, open_site
from whet.bootstrap.visiting import VisitOrdering
from whet.core.memories import Question, Wanted
from whet.core.sheets import Sheet
from whet.store.sql_store import SqlStore
from whet.tools.git import head
from whet.tools.suite import SuitePlan

NOW = datetime.now(UTC)


def site_of(root: Path, memory: str = "") -> Site:
    root.mkdir(exist_ok=True)
    (root / "pyproject.toml").write_text(f'[tool.whet.memory]\nembedding = "hashed"\n{memory}\n')
    return open_site(root)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return site_of(tmp_path / "shop", "consolidate_every = 3")


@pytest.fixture
def store(site: Site) -> Iterator[SqlStore]:
    with site.store() as opened:
        begin(opened)
        yield opened


def memory_of(site: Site, store: SqlStore) -> FleetMemory:
    memory = opened_memory(site, store)
    assert memory is not None
    return memory


def test_none_when_settings_say_so(tmp_path: Path, store: SqlStore) -> None:
    off = site_of(tmp_path / "shop", "enabled = false")
    assert opened_memory(off, store) is None
    assert fleet_memory(off, store).project == "shop"


def test_what_was_lived_is_recalled(site: Site, store: SqlStore) -> None:
    live(store, "k1", failing(evidence="KeyError: 'price'"))
    memory = memory_of(site, store)
    assert memory.catch_up() == 2
    found = memory.recall.recall(Question(wanted=Wanted(project="shop"), text="KeyError: 'price'"))
    assert found[0].memory.topic == "failure"


def test_consolidating_waits_until_enough_is_new(site: Site, store: SqlStore) -> None:
    memory = memory_of(site, store)
    for number in range(2):
        live(store, f"k{number}")
    assert memory.tend(NOW).consolidated is None
    live(store, "k2")
    assert memory.tend(NOW).consolidated is not None
    assert memory.tend(NOW).consolidated is None
    assert memory.tend(NOW, at_once=True).consolidated is not None


def test_old_memories_are_looked_for_once_a_day_and_the_bound_always(tmp_path: Path, store: SqlStore) -> None:
    memory = memory_of(site_of(tmp_path / "shop", "keep = 5\nkeep_days = 2.5"), store)
    live(store, "old", at=NOW - timedelta(days=10))
    assert memory.tend(NOW).forgotten.outdated
    live(store, "old as well", at=NOW - timedelta(days=10))
    assert memory.tend(NOW) == (1, None, ([], []))
    assert memory.tend(NOW + timedelta(days=1)).forgotten.outdated
    for number in range(7):
        live(store, f"k{number}", at=NOW + timedelta(days=1))
    assert len(memory.tend(NOW + timedelta(days=1)).forgotten.crowded_out) == 3
    assert memory.memories.count(Wanted(project="shop")) == 4


def sheet(number: int, outcomes: str) -> Sheet:
    tests = [f"t.py::test_{n}" for n in range(len(outcomes))]
    return Sheet(f"s{number}", NOW, "pytest", tests, outcomes, [0.1] * len(tests), code_version="v")


def test_a_run_reported_twice_counts_once(site: Site, store: SqlStore) -> None:
    failures = [Failure("t.py::test_0", "KeyError: 'x'")]
    assert remember_run(site, store, sheet(1, "fp-"), Changed("base", ["a.py"]), failures) == 2
    assert remember_run(site, store, sheet(1, "fp-"), Changed("base", ["a.py"]), failures) == 0
    (failure,) = store.memories.newest(Wanted(project="shop", topics=("failure",)), 9)
    (lived,) = store.memories.newest(Wanted(project="shop", topics=("experience",)), 9)
    assert (failure.support, lived.about["tests"], lived.about["failed_tests"]) == (1, 2, "t.py::test_0")
    remember_run(site, store, sheet(2, "fp-"), None, failures)
    (failure,) = store.memories.newest(Wanted(project="shop", topics=("failure",)), 9)
    assert failure.support == 2


def test_what_a_visit_and_a_run_of_pytest_saw_is_one_failure(site: Site, store: SqlStore) -> None:
    live(store, "k1", failing("t.py::test_0", "KeyError: 'x'"))
    memory = memory_of(site, store)
    memory.catch_up()
    remember_run(site, store, sheet(1, "f"), None, [Failure("t.py::test_0", "KeyError: 'x'")])
    live(store, "k2", failing("t.py::test_0", "KeyError: 'x'"))
    memory.catch_up()
    memory.catch_up()
    (failure,) = store.memories.newest(Wanted(project="shop", topics=("failure",)), 9)
    assert failure.support == 3


def test_a_visit_remembers_what_was_being_changed_when_its_run_began(tmp_path: Path) -> None:
    writing = "def test_a():\n    open('written.txt', 'w').close()\n    assert 0\n"
    shop = SmallProject(tmp_path, {"test_a.py": writing, "pyproject.toml": ""})
    shop.commit()
    shop.write({"a.py": "changed = True\n"})
    site = open_site(shop.root)
    with shop.workplace() as place, site.store() as store:
        place.remember = VisitOrdering(site, store).remember
        place.run("test-executor", SuitePlan(), "own-order")
        (lived,) = store.memories.newest(Wanted(project="project", topics=("experience",)), 9)
    assert (lived.about["base"], lived.about["changed"]) == (head(shop.root), "a.py")


def test_what_runs_left_gets_its_place_from_the_model_in_use(tmp_path: Path, store: SqlStore) -> None:
    site = site_of(tmp_path / "shop", "")
    remember_run(site, store, sheet(1, "p"), None)
    memory = memory_of(site, store)

    class Other:
        name, dimensions = "other", 4

        def embed(self, texts: list[str]) -> list[bytes]:
            import numpy as np

            return [np.array([1, 0, 0, 0], "<f4").tobytes() for _ in texts]

    memory.__dict__["embedder"] = Other()
    memory.catch_up()
    assert store.memories.models("shop") == {"hashed-1": 1, "other": 1}
