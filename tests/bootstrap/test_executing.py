"""One function for one turn of the loop: on a project, on a workplace of one's own, and for many at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from tests.agents.workplaces import SmallProject
from tests.fleet.strollers import Street, Stroller

import whet
from whet.bootstrap.site import open_site
from whet.core.events import Warned
from whet.core.memories import Topic, Wanted
from whet.core.ports import Scope, Store
from whet.core.records import Experience
from whet.fleet.loop import AnyAgent, Fleet
from whet.fleet.recalling import Recalling
from whet.fleet.teaching import Teacher
from whet.settings.model import Settings
from whet.store.sql_store import open_store
from whet.tools.workplace import Workplace

AGENTS, TURNS = 128, 2
TOPICS: tuple[Topic, ...] = ("experience", "failure")
HASHED = Settings.model_validate({"memory": {"embedding": "hashed", "recall": 8}})


def test_the_public_face() -> None:
    assert sorted(whet.__all__) == ["Task", "__version__", "execute_with_learning"]
    for name in whet.__all__:
        assert getattr(whet, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        whet.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_an_agent_of_ones_own_learns(tmp_path: Path) -> None:
    """LEFT, the safe default, pays 1 and RIGHT 20: after forty turns it goes right."""
    with open_store(f"sqlite:///{tmp_path}/work.db") as store:
        with whet.Task(Street(pay={"left": 1.0, "right": 20.0}), store, settings=HASHED) as task:
            lived = [whet.execute_with_learning(task, Stroller()) for _ in range(40)]
        assert lived[0].decision.action == "left"
        assert [each.decision.action for each in lived[-10:]].count("right") >= 8
        assert store.runs.recent(1)[0].status == "finished"
        assert store.memories.count(Wanted(project="own")) == 40


def test_when_a_batch_is_ready_it_is_gone_through_again_and_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed, replay = [], Teacher.replay

    def counted(self: Teacher, agent: str, seed: int) -> int:
        replayed.append(replay(self, agent, seed))
        return replayed[-1]

    monkeypatch.setattr(Teacher, "replay", counted)
    settings = Settings.model_validate({"experience_replay": {"batch_size": 4}})
    remembered = []
    with open_store(f"sqlite:///{tmp_path}/work.db") as store, whet.Task(Street(), store, settings=settings) as task:
        for _ in range(9):
            whet.execute_with_learning(task, Stroller())
            remembered.append(store.memories.count(Wanted(project="own")))
    assert replayed == [4, 4]
    assert remembered == [0, 0, 0, 4, 4, 4, 4, 8, 8]


class Forgetful:
    """A store whose memories cannot be read."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> object:
        if name == "memories":
            raise OSError("the disk is gone")
        return getattr(self._store, name)


def test_what_does_not_work_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whet.Task, "remember", lambda _self: None)
    with open_store(f"sqlite:///{tmp_path}/work.db") as store:
        task = whet.Task(Street(), Forgetful(store), settings=HASHED)  # type: ignore[arg-type]
        with task, pytest.warns(RuntimeWarning, match="goes on without memory: the disk is gone"):
            whet.execute_with_learning(task, Stroller())


def test_what_was_used_and_cannot_be_noted_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def conclude(_self: Recalling, warn: Callable[[str], None]) -> None:
        warn("not noted")

    monkeypatch.setattr(Recalling, "conclude", conclude)
    with open_store(f"sqlite:///{tmp_path}/work.db") as store, whet.Task(Street(), store, settings=HASHED) as task:
        whet.execute_with_learning(task, Stroller())
        with pytest.warns(RuntimeWarning, match="not noted"):
            task.remember()
        monkeypatch.undo()


def test_on_a_project_what_does_not_work_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
    errand = Fleet.errand

    def warned(self: Fleet, agent: AnyAgent, workplace: Workplace) -> Experience:
        workplace.emit(Warned("it is too hot"))
        return errand(self, agent, workplace)

    monkeypatch.setattr(Fleet, "errand", warned)
    project = SmallProject(tmp_path, {"test_suite.py": "def test_a(): pass\n"})
    with pytest.warns(RuntimeWarning, match="it is too hot"):
        whet.execute_with_learning(project.root, "test-executor")


def test_a_task_that_ends_keeps_the_bound(tmp_path: Path) -> None:
    few = Settings.model_validate({"memory": {"embedding": "hashed", "recall": 8, "keep": 10}})
    with open_store(f"sqlite:///{tmp_path}/work.db") as store:
        with whet.Task(Street(), store, settings=few) as task:
            for _ in range(15):
                whet.execute_with_learning(task, Stroller())
        assert 0 < store.memories.count(Wanted(project="own")) <= 10


def test_on_a_project_one_agent_makes_one_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
    project = SmallProject(tmp_path, {"test_suite.py": "def test_a(): assert False\n"})
    experience = whet.execute_with_learning(project.root, "test-executor")
    assert experience.agent == "test-executor"
    assert [f["test"] for f in experience.outcome["findings"]] == ["test_suite.py::test_a"]  # type: ignore[attr-defined]
    with open_site(project.root).store() as store:
        assert [e.key for e in store.experiences.recent()] == [experience.key]
        counts = [store.memories.count(Wanted(project=project.root.name, topics=(topic,))) for topic in TOPICS]
        assert min(counts) >= 1
        (failure,) = store.memories.newest(Wanted(project=project.root.name, topics=("failure",)), 9)
        assert "def test_a(): assert False" in failure.text  # what pytest printed, not the message alone


def test_a_hundred_and_twenty_eight_at_once_lose_nothing(store_url: str) -> None:
    """Every experience is stored once, remembered once, and every visit is counted in the table."""
    together = Barrier(AGENTS)
    with open_store(store_url) as store, whet.Task(Street(), store, settings=HASHED) as task:

        def work(_: int) -> list[Experience]:
            together.wait(60)
            return [whet.execute_with_learning(task, Stroller()) for _ in range(TURNS)]

        with ThreadPoolExecutor(AGENTS) as pool:
            lived = [each for mine in pool.map(work, range(AGENTS)) for each in mine]
        task.remember()
        wanted = AGENTS * TURNS
        assert len({each.key for each in lived}) == store.experiences.count("stroller") == wanted
        rows = store.tables.rows(Scope.INDIVIDUAL, "stroller")
        assert sum(entry.visits for cell, entry in rows.items() if cell.state_key == lived[0].state_key) == wanted
        assert store.decisions.count("stroller") == wanted
        assert store.memories.count(Wanted(project="own", topics=("experience",))) == wanted
        assert store.audit.verify().problem is None
