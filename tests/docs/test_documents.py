"""What the documents say is so: their example runs, their links exist, their commands are real."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from whet.agents.catalogue import AGENTS
from whet.checks.agent import check_agent
from whet.cli.main import COMMANDS, cli
from whet.core.agent import Agent
from whet.fleet.loop import Fleet
from whet.improvement.world import shipped
from whet.store.sql_store import open_store
from whet.tools.budget import Budget
from whet.tools.project import Project
from whet.tools.python import find_python
from whet.tools.suite import Suite
from whet.tools.workplace import Workplace

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


@pytest.fixture
def workplace(tmp_path: Path) -> Iterator[Workplace]:
    project = tmp_path / "project"
    project.mkdir()
    (project / "test_one.py").write_text("def test_one():\n    assert True\n")
    python = find_python(project, sys.executable)
    with Suite(Project(project), python) as suite, open_store(f"sqlite:///{tmp_path}/whet.db") as store:
        yield Workplace(
            project=Project(project),
            python=python,
            suite=suite,
            history=store.history,
            budget=Budget(60.0),
            run_id="run",
            code_version="version",
            seed=1,
            memory_mb=2048.0,
            state_dir=tmp_path,
        )


def _documented_agent() -> type[Agent[Any, Any, Any]]:
    text = (ROOT / "docs" / "agents.md").read_text()
    found = re.search(r"<!-- agent -->\n```python\n(.*?)```\n<!-- /agent -->", text, re.DOTALL)
    assert found
    names: dict[str, Any] = {"__name__": "documented"}
    exec(compile(found[1], "docs/agents.md", "exec"), names)  # noqa: S102 - our own document
    agent: type[Agent[Any, Any, Any]] = names["ImportTimer"]
    return agent


def test_the_documented_agent_is_fit_for_the_fleet(workplace: Workplace) -> None:
    assert check_agent(_documented_agent()(), workplace) == []


def test_the_documented_agent_measures_and_its_actions_differ(workplace: Workplace) -> None:
    agent = _documented_agent()()
    state = agent.observe(workplace)
    quick, whole = (agent.act(state, action, workplace) for action in agent.actions)
    assert 0 < quick.modules_timed < whole.modules_timed


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)", document.read_text())
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_named_commands_exist(document: Path) -> None:
    named = set(re.findall(r"(?:`|^|\$ )whet ([a-z]+)", document.read_text(), re.MULTILINE))
    assert named - set(COMMANDS) == set()


def test_every_command_teaches() -> None:
    for command in COMMANDS:
        done = CliRunner().invoke(cli, [command, "--help"])
        assert (done.exit_code, len(done.stdout.splitlines()) > 5) == (0, True), command


def test_the_readme_names_every_agent() -> None:
    text = (ROOT / "README.md").read_text()
    assert [name for name in AGENTS if name not in text] == []


def test_shipped_worlds_are_of_four_projects_and_were_recorded_by_their_command() -> None:
    worlds = shipped()
    assert len({world.project for world in worlds}) >= 4
    assert all(world.command.startswith("whet record") and "/" not in world.command.split()[2] for world in worlds)
    assert any(not world.used_for_tuning for world in worlds)


def test_the_loop_is_documented_where_it_is() -> None:
    assert "Fleet.run" in (ROOT / "ARCHITECTURE.md").read_text()
    assert Fleet.run.__doc__
