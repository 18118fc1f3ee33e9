"""Recording: every allowed action for real, in a copy; the project stays as it was."""

from pathlib import Path

from tests.agents.workplaces import SmallProject, git, this_python

from whet.agents.catalogue import agent_named
from whet.core.ports import Store
from whet.improvement.recording import Order, record
from whet.improvement.world import World, load, save
from whet.store.sql_store import open_store
from whet.tools.project import Project

CODE = {
    "limits.py": "def enough(n):\n    return n >= 3\n",
    "test_limits.py": """
        import limits
        def test_enough(): assert limits.enough(3)
        def test_other(): pass
    """,
}


def open_at(state_dir: Path) -> Store:
    return open_store(f"sqlite:///{state_dir / 'whet.db'}")


def recorded(root: Path, agent: str, mutants: int) -> World:
    order = Order(
        agent=agent_named(agent),
        project=Project(root),
        python=this_python(),
        repeats=1,
        mutants=mutants,
        seed=1,
        memory_mb=2048.0,
        command="whet record",
    )
    return record(order, open_at, lambda _text: None)


def contents(root: Path) -> dict[str, bytes]:
    return {str(f.relative_to(root)): f.read_bytes() for f in sorted(root.rglob("*")) if f.is_file()}


def test_a_world_has_every_allowed_action_and_the_project_stays_as_it_was(tmp_path: Path) -> None:
    project = SmallProject(tmp_path, {**CODE, ".whet/memory": "learnt"})
    before = contents(project.root)
    world = recorded(project.root, "regression-risk-analyzer", mutants=1)
    assert contents(project.root) == before
    agent = agent_named(world.agent)
    assert [c.label.split(":")[0] for c in world.contexts] == ["as found", "mutant 1"]
    for context, state in zip(world.contexts, world.states(), strict=True):
        assert set(context.outcomes) == {a.name for a in agent.allowed(state)}
        assert {len(outcomes) for outcomes in context.outcomes.values()} == {1}
    # the mutant is noticed where the changed line is run
    caught = world.outcome(world.contexts[1].outcomes["assess_by_coverage"][0])
    assert caught.model_dump()["failures_in_slice"] == 1
    save(world, tmp_path / "world.json")
    assert load(tmp_path / "world.json") == world


def test_recording_in_a_linked_worktree_commits_nothing_to_its_repository(tmp_path: Path) -> None:
    """There .git is a file that names the repository; a copy of it would still mean the original."""
    project = SmallProject(tmp_path, CODE)
    project.commit()
    linked = tmp_path / "linked"
    git(project.root, "worktree", "add", "-q", str(linked))
    (linked / "limits.py").write_text("def enough(n):\n    return n >= 3  # not committed yet\n")
    before = (git(linked, "rev-parse", "HEAD"), git(linked, "status", "--porcelain"))
    recorded(linked, "regression-risk-analyzer", mutants=0)
    assert (git(linked, "rev-parse", "HEAD"), git(linked, "status", "--porcelain")) == before
