"""whet memory same-cause, end to end: a project that breaks, failures that are remembered, tests that are followed."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.cli.command_line import EXECUTOR_ONLY, whet

from whet.bootstrap.remembering import fleet_memory
from whet.bootstrap.remembering_runs import Failure, remember_run
from whet.bootstrap.site import open_site
from whet.cli.main import cli
from whet.core.errors import WhetError
from whet.core.memories import Wanted
from whet.core.sheets import Sheet
from whet.memory.remembering import keep
from whet.memory.remembering_failures import failure_memory

CART = "def total(prices):\n    return sum(prices)\n\n\ndef count(prices):\n    return len(prices)\n"
TESTS = """\
from cart import count, total


def test_one():
    assert total([1, 2]) == 3


def test_two():
    assert total([5]) == 5


def test_counted():
    assert count([5]) == 1
"""
SAID = """\
    def test_{name}():
>       assert {called} == {right}
E       assert {wrong} == {right}

test_cart.py:5: AssertionError"""
FAILED = {
    "test_cart.py::test_one": SAID.format(name="one", called="total([1, 2])", right=3, wrong=4),
    "test_cart.py::test_two": SAID.format(name="two", called="total([5])", right=5, wrong=6),
    "test_cart.py::test_counted": SAID.format(name="counted", called="count([5])", right=5, wrong=6),
}


def git(root: Path, *arguments: str) -> None:
    names = ("-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *names, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Broken in two places since its first commit; three failures are remembered."""
    (tmp_path / "pyproject.toml").write_text('[tool.whet.memory]\nembedding = "hashed"\n')
    (tmp_path / "cart.py").write_text(CART)
    (tmp_path / "test_cart.py").write_text(TESTS)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "green")
    (tmp_path / "cart.py").write_text(CART.replace("sum(prices)", "sum(prices) + 1").replace("len(prices)", "6"))
    site, at = open_site(tmp_path), datetime(2024, 5, 1, tzinfo=UTC)
    with site.store() as store:
        memory = fleet_memory(site, store)
        told = [failure_memory(memory.project, test, said, at=at, run_id="r") for test, said in FAILED.items()]
        keep(store.memories, memory.embedder, told)
    return tmp_path


def asked(project: Path, *arguments: str, said: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["memory", "same-cause", *arguments, "-C", str(project)], input=said)


def answered(project: Path, *arguments: str) -> Any:
    result = asked(project, *arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def names(found: Any) -> list[str]:
    return [each["about"]["test"] for each in found["same_cause"]]


def test_by_what_is_remembered_of_a_test(project: Path) -> None:
    found = answered(project, "test_cart.py::test_one")
    assert sorted(names(found)) == ["test_cart.py::test_counted", "test_cart.py::test_two"], "not itself"
    assert found["turned"] is None


def test_by_what_pytest_printed(project: Path) -> None:
    printed = asked(project, "-", said=FAILED["test_cart.py::test_two"])
    assert printed.exit_code == 0, printed.output
    assert printed.output.index("test_cart.py::test_two") < printed.output.index("test_cart.py::test_one")
    assert "Why: " in printed.output


def test_what_is_like_nothing_is_said_to_be(project: Path) -> None:
    printed = asked(project, "-", said="hello\n")
    assert printed.exit_code == 0, printed.output
    assert printed.output == "No failure that is remembered is like it. Memories come from: whet run, pytest --whet\n"


def test_followed_to_where_it_turns(project: Path) -> None:
    for test in ("test_cart.py::test_two", "test_cart.py::test_counted"):
        answered(project, test, "--passed-at", "HEAD")
    found = answered(project, "test_cart.py::test_one", "--passed-at", "HEAD")
    assert (found["turned"]["place"], found["turned"]["was"], found["turned"]["now"]) == ("cart.py:total+1", "3", "4")
    assert names(found) == ["test_cart.py::test_two", "test_cart.py::test_counted"]
    first, second = found["same_cause"]
    assert "both first go another way than when they pass at cart.py:2" in first["why"]
    assert "another way" not in second["why"]
    told = asked(project, "test_cart.py::test_one").output
    assert "It first differs at cart.py:2: return becomes 4 instead of 3." in told, "it is remembered"


def test_others_that_failed_in_the_last_run_are_followed_beside_it(project: Path) -> None:
    """Two that fail were asked about by nobody; one passes at no commit, one not at all."""
    (project / "test_cart.py").write_text(TESTS + "\n\ndef test_new():\n    assert total([]) == 0\n")
    _fail(project, "r1", *FAILED, "test_cart.py::test_new")
    found = answered(project, "test_cart.py::test_one", "--passed-at", "HEAD")
    assert found["turned"]["place"] == "cart.py:total+1"
    assert "both first go another way than when they pass at cart.py:2" in found["same_cause"][0]["why"]
    assert names(found)[0] == "test_cart.py::test_two"
    with open_site(project).store() as store:
        failures = store.memories.newest(Wanted(project=project.name, topics=("failure",)), 9)
    turned = {each.about["test"]: str(each.about.get("turned")) for each in failures}
    assert "cart.py:total+1" in turned["test_cart.py::test_two"]
    assert "cart.py:count+1" in turned["test_cart.py::test_counted"]
    assert turned["test_cart.py::test_new"] == "None"


def test_where_other_code_turned_says_nothing_about_this_one(project: Path) -> None:
    """The same test says the same for another reason: it is met again, and has to be followed again."""
    broken = (project / "cart.py").read_text()
    _fail(project, "r1")
    answered(project, "test_cart.py::test_one", "--passed-at", "HEAD")
    _fail(project, "r2")
    assert answered(project, "test_cart.py::test_one")["turned"] is not None, "the code is the same"
    (project / "cart.py").write_text(broken.replace("sum(prices) + 1", "sum(prices, 1)"))
    _fail(project, "r3")
    assert answered(project, "test_cart.py::test_one")["turned"] is None
    with open_site(project).store() as store:
        (met,) = store.memories.sharing(Wanted(project=project.name), ["test:test_cart.py::test_one"], 9)
    assert met.memory.support == 4
    assert not any(each.startswith("turned:") for each in met.memory.subjects)


def _fail(project: Path, run_id: str, *tests: str) -> None:
    """As `pytest --whet` tells it."""
    site, failed = open_site(project), tests or ("test_cart.py::test_one",)
    version, seconds = site.project.code_version(), [0.1] * len(failed)
    sheet = Sheet(run_id, datetime.now(UTC), "pytest", failed, "f" * len(failed), seconds, code_version=version)
    with site.store() as store:
        store.sheets.add([sheet])
        remember_run(
            site, store, sheet, None, [Failure(test, FAILED.get(test, "E   AssertionError")) for test in failed]
        )


def test_a_visit_keeps_what_pytest_printed(project: Path) -> None:
    (project / "pyproject.toml").write_text(f'{EXECUTOR_ONLY}[tool.whet.memory]\nembedding = "hashed"\n')
    (project / "test_cart.py").write_text(TESTS.replace("total([5])", "total([5, 0])"))
    assert whet("run", project).returncode == 1
    with open_site(project).store() as store:
        wanted = Wanted(project=project.name, topics=("failure",), agent="test-executor")
        told = {each.about["test"]: each.text for each in store.memories.newest(wanted, 9)}
    assert ">       assert total([5, 0]) == 5" in told["test_cart.py::test_two"], "not the message alone"
    assert "where 6 = total([5, 0])" in told["test_cart.py::test_two"]


def test_what_nobody_can_answer_is_said(project: Path) -> None:
    assert isinstance(asked(project, "test_cart.py::test_none").exception, WhetError)
    assert isinstance(asked(project, "nowhere.txt").exception, WhetError)
    assert isinstance(asked(project, "-", said="  \n").exception, WhetError)
    assert asked(project, "-", "--passed-at", "HEAD").exit_code == 2
