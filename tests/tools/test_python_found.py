"""The user's interpreter is found, asked, and named when something is missing."""

import os
import sys
import venv
from pathlib import Path

import pytest

from whet.core.errors import MissingTool, WhetError
from whet.tools.environment import environment
from whet.tools.project import Project
from whet.tools.python import Python, find_python
from whet.tools.suite import Suite


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with nothing in it."""
    place = tmp_path_factory.mktemp("bare") / ".venv"
    venv.create(place, with_pip=False, symlinks=True)
    return place


@pytest.fixture(autouse=True)
def _not_activated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)


def test_whets_own_interpreter_is_the_last_resort(tmp_path: Path) -> None:
    python = find_python(tmp_path)
    assert python.path == Path(sys.executable)
    assert python.version == ".".join(map(str, sys.version_info[:3]))
    assert python.has("pytest")
    assert python.require("pytest") == pytest.__version__


def test_the_projects_environment_comes_before_it(bare: Path) -> None:
    python = find_python(bare.parent)
    assert python.path == bare / "bin" / "python"
    assert python.packages == {}


def test_the_activated_environment_comes_before_that(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(Path(sys.executable).parent.parent))
    assert find_python(bare.parent).path == Path(sys.executable)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "gone"))
    assert find_python(bare.parent).path == bare / "bin" / "python"


def test_an_explicit_one_comes_first(bare: Path, tmp_path: Path) -> None:
    for given in (str(bare / "bin" / "python"), str(bare)):
        assert find_python(tmp_path, given).path == bare / "bin" / "python"
    assert find_python(bare.parent, ".venv").path == bare / "bin" / "python"
    assert find_python(tmp_path, "python3").path.name == "python3"


def test_a_missing_pytest_is_said_with_its_remedy(bare: Path) -> None:
    python = find_python(bare.parent)
    expected = f"pytest is not installed in {python.path}. Install it: {python.path} -m pip install pytest"
    with pytest.raises(MissingTool) as caught:
        Suite(Project(bare.parent), python)
    assert str(caught.value) == expected


def test_too_old_a_pytest_is_said() -> None:
    python = Python(path=Path("python"), version="3.8.0", packages={"pytest": "6.2.5"})
    with pytest.raises(MissingTool, match=r"pytest 6\.2\.5 .* too old; Whet needs 7"):
        python.require("pytest")


@pytest.mark.parametrize("says", ["exit 0", "echo trouble; exit 1", "echo 'whet:{'"])
def test_broken_interpreters_are_refused(tmp_path: Path, says: str) -> None:
    fake = tmp_path / "python"
    fake.write_text(f"#!/bin/sh\n{says}\n")
    fake.chmod(0o755)
    with pytest.raises(WhetError, match="not a working Python interpreter"):
        find_python(tmp_path, str(fake))


@pytest.mark.parametrize("given", ["no-such-python", ""])
def test_absent_interpreters_are_refused(tmp_path: Path, given: str) -> None:
    with pytest.raises(WhetError, match="--python"):
        find_python(tmp_path, given)


def test_the_file_must_be_a_program(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("nothing")
    with pytest.raises(WhetError, match="could not be started"):
        find_python(tmp_path, str(tmp_path / "python"))


def test_tools_run_as_in_the_activated_environment(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVERAGE_PROCESS_START", "x")
    env = environment(find_python(bare.parent))
    assert env["VIRTUAL_ENV"] == str(bare)
    assert env["PATH"].split(os.pathsep)[0] == str(bare / "bin")
    assert "COVERAGE_PROCESS_START" not in env
    assert "PYTEST_CURRENT_TEST" not in env
