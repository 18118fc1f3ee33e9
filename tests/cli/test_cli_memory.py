"""whet memory: search, list, show, forget, pin, consolidate, status, on memories of a small project."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.cli.command_line import EXECUTOR_ONLY, whet
from tests.memory.episodes import run
from tests.memory.lived import begin, failing, live

from whet.bootstrap.remembering import fleet_memory
from whet.bootstrap.site import open_site
from whet.cli.main import cli
from whet.core.errors import WhetError
from whet.memory.remembering import keep

SETTINGS = '[tool.whet.memory]\nembedding = "hashed"\n'
BILLING = "tests/billing/test_invoice.py::test_total"


def asked(*arguments: str | Path, **how: Any) -> Result:
    return CliRunner().invoke(cli, ["memory", *map(str, arguments)], **how)


def answered(*arguments: str | Path) -> Any:
    result = asked(*arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def refused(*arguments: str | Path, **how: Any) -> str:
    result = asked(*arguments, **how)
    assert isinstance(result.exception, WhetError), result.output
    return str(result.exception)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Visited once: two failures, a finding's experience, and runs from which a fact follows."""
    root = tmp_path / "shop"
    root.mkdir()
    (root / "pyproject.toml").write_text(SETTINGS)
    site = open_site(root)
    with site.store() as store:
        begin(store)
        live(store, "k1", failing(evidence="E       KeyError: 'price'"))
        live(store, "k2", failing("tests/test_login.py::test_in", "TimeoutError: checkout took 30 s"))
        memory = fleet_memory(site, store)
        memory.catch_up()
        runs = [run(n, [BILLING] if n < 14 else [], ["src/prices.py"]) for n in range(15)]
        keep(store.memories, memory.embedder, runs + [run(100 + n, [], ["src/login.py"]) for n in range(40)])
    return root


def ids(project: Path, *options: str) -> list[str]:
    return [each["id"] for each in answered("list", "-C", project, "--limit", "1000", *options)]


def test_search_tells_what_is_alike_how_much_and_why(project: Path) -> None:
    found = answered("search", "checkout times out", "-C", project, "--topic", "failure")
    assert found[0]["about"]["test"] == "tests/test_login.py::test_in"
    assert found[0]["likeness"] > found[1]["likeness"]
    told = asked("search", "checkout times out", "-C", project, "--limit", "1", "--topic", "failure").output
    assert found[0]["id"][:8] in told
    assert f"{found[0]['likeness']:.2f}  failure" in told
    assert "tests/test_login.py::test_in failed: TimeoutError: checkout took 30 s" in told
    assert "Why: " in told


def test_search_by_a_tests_name_finds_what_is_about_it(project: Path) -> None:
    (found, *_) = answered("search", "tests/test_cart.py::test_sum", "-C", project)
    assert found["about"]["test"] == "tests/test_cart.py::test_sum"
    assert "about the same test" in found["why"]


def test_searching_is_use(project: Path) -> None:
    (found, *_) = answered("search", "KeyError price", "-C", project)
    assert answered("show", found["id"], "-C", project)["used"] == 1


def test_nothing_found_says_where_memories_come_from(project: Path) -> None:
    assert "whet run, pytest --whet" in asked("search", "x", "-C", project, "--topic", "note").output
    assert "whet run, pytest --whet" in asked("list", "-C", project, "--topic", "note").output


def test_list_chooses_and_counts(project: Path) -> None:
    assert len(ids(project)) == 59
    assert len(ids(project, "--topic", "failure")) == 2
    assert len(ids(project, "--agent", "test-executor")) == 4
    assert len(ids(project, "--topic", "failure", "--topic", "experience", "--kind", "episodic")) == 59
    assert "The newest 3 of 59" in asked("list", "-C", project, "--limit", "3").output


def test_show_by_the_beginning_of_an_id(project: Path) -> None:
    (failure, _) = ids(project, "--topic", "failure")
    shown = asked("show", failure[:10].upper(), "-C", project).output
    assert failure in shown
    assert "failure (episodic), by test-executor" in shown
    assert refused("show", "zzz", "-C", project) == "There is no memory 'zzz'. List them with: whet memory list"
    assert "There is no memory ''" in refused("show", "", "-C", project)
    first = next(d for d in "0123456789abcdef" if sum(each.startswith(d) for each in ids(project)) > 1)
    assert "Give more of the id." in refused("show", first, "-C", project)


def test_consolidating_makes_a_fact_once_and_pinning_keeps_it(project: Path) -> None:
    done = asked("consolidate", "-C", project).output
    assert "Tests in tests/billing/test_invoice.py fail when src/prices.py changes: 14 of 15 times" in done
    assert "1 new, 0 confirmed, 0 let go." in done
    assert "0 new, 1 confirmed, 0 let go." in asked("consolidate", "-C", project).output
    (fact,) = ids(project, "--topic", "fact")
    assert "is pinned: Tests in tests/billing" in asked("pin", fact[:8], "-C", project).output
    assert answered("show", fact, "-C", project)["pinned"] is True
    assert "14/15" in asked("list", "--topic", "fact", "-C", project).output
    assert "no longer pinned" in asked("unpin", fact[:8], "-C", project).output
    assert answered("show", fact, "-C", project)["pinned"] is False


def test_the_bound_is_kept_by_consolidating(project: Path) -> None:
    (failure, _) = ids(project, "--topic", "failure")
    asked("pin", failure, "-C", project)
    (project / "pyproject.toml").write_text(SETTINGS + "keep = 10\n")
    done = answered("consolidate", "-C", project)
    assert (done["forgotten"], len(done["made"])) == ({"outdated": 0, "crowded_out": 51}, 1)
    left = ids(project)
    assert len(left) == 9
    assert {failure, *done["made"]} <= set(left)


def test_forgetting_some(project: Path) -> None:
    one, other = ids(project, "--topic", "failure")
    assert asked("forget", one[:12], other[:12], one[:12], "-C", project).output == "Forgot 2 memories.\n"
    assert ids(project, "--topic", "failure") == []
    assert "There is no memory" in refused("forget", one, "-C", project)
    assert asked("consolidate", "-C", project).exit_code == 0
    assert ids(project, "--topic", "failure") == []  # what was forgotten is not remembered again


def test_forgetting_all_asks_first(project: Path) -> None:
    stayed = asked("forget", "--all", "-C", project, input="n\n")
    assert "Forget 59 memories of shop for good?" in stayed.output
    assert (stayed.exit_code, len(ids(project))) == (1, 59)
    assert "Forgot 59 memories." in asked("forget", "--all", "-C", project, input="y\n").output
    assert ids(project) == []


def test_forgetting_the_old_spares_what_is_pinned(project: Path) -> None:
    old = ids(project, "--topic", "experience")[-1]
    asked("pin", old, "-C", project)
    assert answered("forget", "--older-than", "30", "--yes", "-C", project) == {"forgotten": 54}
    assert len(ids(project)) == 5
    assert old in ids(project)


@pytest.mark.parametrize("wrong", [(), ("abc", "--all"), ("--all", "--older-than", "3")])
def test_what_to_forget_is_said_in_one_way(project: Path, wrong: tuple[str, ...]) -> None:
    told = refused("forget", *wrong, "-C", project)
    assert told == "Say what to forget, in one way. Give ids, or --older-than DAYS, or --all."


def test_status_counts(project: Path) -> None:
    told = answered("status", "-C", project)
    assert told["topics"] == {
        "experience": 57, "finding": 0, "failure": 2, "fact": 0, "procedure": 0, "note": 0,
    }  # fmt: skip
    assert (told["project"], told["memories"], told["models"]) == ("shop", 59, {"hashed-1": 59})
    assert "Placed by hashed-1: 59, in use." in asked("status", "-C", project).output
    (project / "pyproject.toml").write_text(SETTINGS + "enabled = false\n")
    assert "Remembering is off" in asked("status", "-C", project).output


def test_before_the_first_visit_there_is_nothing_to_look_at(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    for command in (("search", "x"), ("list",), ("forget", "--all"), ("consolidate",), ("status",)):
        result = asked(*command, "-C", tmp_path)
        assert result.exit_code == 0
        assert "Start with: whet run" in result.output


def test_an_empty_search_is_a_usage_error(project: Path) -> None:
    result = asked("search", "  ", "-C", project)
    assert result.exit_code == 2
    assert "For example: whet memory search" in result.output


def test_text_from_outside_cannot_move_the_cursor(project: Path) -> None:
    site = open_site(project)
    with site.store() as store:
        live(store, "k3", failing("t.py::test_x", "\x1b[2J\x1b]0;owned\x07 boom [bold]x[/bold]"))
    for result in (asked("search", "boom owned", "-C", project), asked("list", "-C", project, "--topic", "failure")):
        assert "\x1b" not in result.output
        assert "[bold]x[/bold]" in result.output


@pytest.mark.parametrize("columns", [80, 120])
def test_lines_fit_the_terminal(project: Path, columns: int) -> None:
    for command in (("list",), ("search", "KeyError price"), ("status",), ("--help",), ("search", "--help")):
        where = () if "--help" in command else ("-C", str(project))
        told = asked(*command, *where, env={"COLUMNS": str(columns)}).output
        assert max(map(len, told.splitlines())) <= columns


def test_help_teaches_with_an_example() -> None:
    commands: dict[str, Callable[..., object]] = cli.get_command(None, "memory").commands  # type: ignore
    for name in commands:
        told = asked(name, "--help").output
        assert told.startswith("Usage: ")
        if name in ("search", "list", "forget", "export", "import"):
            assert f"whet memory {name} " in told


def test_an_error_is_a_sentence_and_exit_code_2(project: Path) -> None:
    done = whet("memory", "show", "zzz", "-C", project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "whet: There is no memory 'zzz'. List them with: whet memory list\n"


def test_before_the_first_visit_programs_get_an_empty_document_and_a_name_is_refused(tmp_path: Path) -> None:
    asked_for = {
        ("search", "KeyError"): [],
        ("list",): [],
        ("same-cause", "t.py::test_a"): {"passed_at": None, "note": None, "turned": None, "same_cause": []},
        ("forget", "--all", "--yes"): {"forgotten": 0},
    }
    for arguments, empty in asked_for.items():
        result = asked(*arguments, "-C", tmp_path, "--format", "json")
        assert (result.exit_code, json.loads(result.stdout)) == (0, empty), arguments
        assert "not visited this project yet" in result.stderr
    assert json.loads(asked("consolidate", "-C", tmp_path, "--format", "json").stdout)["made"] == []
    status = json.loads(asked("status", "-C", tmp_path, "--format", "json").stdout)
    assert (status["memories"], status["topics"]["fact"], status["models"]) == (0, 0, {})
    for command in ("show", "pin", "unpin", "forget"):
        assert "There is no memory '3f9a'" in refused(command, "3f9a", "-C", tmp_path)
    assert whet("memory", "show", "3f9a", cwd=tmp_path).returncode == 2
    assert list(tmp_path.iterdir()) == [], "looking writes nothing"


def test_what_a_failing_test_told_is_masked_wherever_a_visit_leaves_it(tmp_path: Path) -> None:
    """And once memories are forgotten, its address is in no file below the project but the test."""
    token, address = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "bob.baker@corp.example"
    root = tmp_path / "shop"
    root.mkdir()
    (root / "pyproject.toml").write_text(EXECUTOR_ONLY + SETTINGS)
    (root / "test_mail.py").write_text(f'def test_mail():\n    raise KeyError("{token} of {address}")\n')
    assert whet("run", root).returncode == 1
    assert whet("memory", "forget", "--all", "--yes", "-C", root).returncode == 0
    assert whet("export", tmp_path / "all.whet", "-C", root).returncode == 0
    written = [file for file in tmp_path.rglob("*") if file.is_file() and file.name != "test_mail.py"]
    assert {"whet.db", "report.html", "all.whet"} <= {file.name for file in written}
    for file in written:
        content = file.read_bytes()
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        assert token.encode() not in content, file
        assert address.encode() not in content, file
