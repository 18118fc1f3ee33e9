"""whet run: exit codes, formats, and what each kind of trouble is told as."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.cli.command_line import EXECUTOR_ONLY, project_in, whet

from whet.store.sql_store import open_store

GREEN = {"test_green.py": "def test_green(): pass\n"}
# A test name that would colour, move and clear the reader's terminal.
HOSTILE = """
    import pytest
    @pytest.mark.parametrize("value", [1], ids=["\\x1b[31mred\\x07"])
    def test_hostile(value):
        assert False, "\\x1b]0;title\\x07 \\x1b[2J \\u202e"
"""


def test_green_is_zero_and_json_stands_alone_on_standard_output(tmp_path: Path) -> None:
    project_in(tmp_path, GREEN)
    done = whet("run", "--format", "json", "--fail-on", "failing", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["exit_code"] == 0
    assert (tmp_path / ".whet" / "report.html").is_file()
    assert (tmp_path / ".whet" / ".gitignore").read_text() == "*\n"


def test_progress_goes_to_standard_error_with_json_too(tmp_path: Path) -> None:
    """As `whet run --help` says."""
    project_in(tmp_path, GREEN)
    done = whet("run", "--format", "json", cwd=tmp_path)
    json.loads(done.stdout)
    assert "test-executor → run_all_tests" in done.stderr


def test_findings_are_one_and_nothing_raw_reaches_the_terminal(tmp_path: Path) -> None:
    project_in(tmp_path, {"test_hostile.py": HOSTILE})
    summary, junit = tmp_path / "summary.md", tmp_path / "out" / "junit.xml"
    done = whet(
        "run", "--junit", junit, cwd=tmp_path, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary), CI="true"
    )
    assert done.returncode == 1, done.stderr
    everything = done.stdout + done.stderr + summary.read_text()
    assert "test_hostile" in done.stdout
    assert not [c for c in everything if (c < " " and c != "\n") or c in "\x7f\x9b\u202e"]
    assert "::error" in done.stdout
    assert "hostile" in summary.read_text()
    (case,) = ElementTree.parse(junit).iter("testcase")  # noqa: S314 - written by ourselves
    assert case.find("failure") is not None
    for command in ("explain", "flaky", "status", "review"):
        told = whet(command, cwd=tmp_path)
        assert told.returncode == 0, told.stderr
        assert "\x1b" not in told.stdout + told.stderr


def test_fail_on_chooses_what_counts(tmp_path: Path) -> None:
    project_in(tmp_path, {"test_red.py": "def test_red(): assert False\n"})
    assert whet("run", "--fail-on", "failing", cwd=tmp_path).returncode == 1
    assert whet("run", "--fail-on", "never", cwd=tmp_path).returncode == 0


def test_what_is_in_quarantine_is_told_and_does_not_count(tmp_path: Path) -> None:
    project_in(tmp_path, {"test_red.py": "def test_red(): assert False\n\n\ndef test_also(): assert False\n"})
    whet("quarantine", "add", "test_red.py::test_red", cwd=tmp_path)
    assert whet("run", "--fail-on", "failing", cwd=tmp_path).returncode == 1, "the other one is not"
    whet("quarantine", "add", "test_red.py::test_also", cwd=tmp_path)
    done = whet("run", cwd=tmp_path)
    assert done.returncode == 0
    assert "2 failing tests" in done.stdout
    assert "In quarantine, told and not counted: test_red.py::test_also, test_red.py::test_red." in " ".join(
        done.stderr.split()
    )


@pytest.mark.parametrize(
    ("files", "settings", "code", "said"),
    [
        ({"code.py": ""}, "", 5, "name test files test_*.py"),
        ({"test_broken.py": "import no_such_module\n"}, "", 2, "could not collect 1 file(s)"),
        (GREEN, "[tool.pytest.ini_options]\naddopts = '--no-such-option'\n", 4, "usage error"),
        (GREEN, "[tool.whet]\nminuets = 3\n", 2, "minuets"),
    ],
    ids=["no tests", "collection error", "bad addopts", "bad setting"],
)
def test_trouble_has_its_code_and_a_sentence(
    tmp_path: Path, files: dict[str, str], settings: str, code: int, said: str
) -> None:
    project_in(tmp_path, files, settings)
    done = whet("run", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("whet: ")
    assert said in done.stderr


@pytest.mark.parametrize(
    "options",
    [("--no-such-option",), ("--minutes", "0"), ("--minutes", "nan"), ("--seed", "-1"), ("nowhere",)],
    ids=" ".join,
)
def test_bad_options_are_two_and_a_sentence(tmp_path: Path, options: tuple[str, ...]) -> None:
    project_in(tmp_path, GREEN)
    done = whet("run", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not (tmp_path / ".whet").exists()


def test_a_dry_run_runs_and_stores_nothing(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    project_in(tmp_path, {"test_mark.py": f"def test_mark(): open({str(ran)!r}, 'w').close()\n"})
    done = whet("run", "--dry-run", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    planned = {one["decision"]["agent"]: one["decision"]["action"] for one in json.loads(done.stdout)}
    assert planned == {"fleet-commander": "dispatch_test_executor", "test-executor": "run_all_tests"}
    assert not ran.exists()
    assert not (tmp_path / ".whet" / "whet.db").exists()


def test_learning_can_be_seeded_from_the_command_line(tmp_path: Path) -> None:
    project_in(tmp_path, GREEN, EXECUTOR_ONLY)
    assert whet("run", "--seed", "41", "--minutes", "1", cwd=tmp_path, WHET_AUDIT_KEY="secret").returncode == 0
    with open_store(f"sqlite:///{tmp_path / '.whet' / 'whet.db'}", b"secret") as store:
        (run,) = store.runs.recent()
        assert (run.seed, run.budget_seconds) == (41, 60.0)
        report = store.audit.verify()
        assert (report.keyed, report.problem) == (True, None)
