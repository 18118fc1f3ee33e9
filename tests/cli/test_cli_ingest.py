"""whet ingest, on a real store."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.command_line import project_in, whet
from tests.tools.results.reports import JEST, SUREFIRE, case, suite, write

from whet.cli.ingest import ingest
from whet.core.errors import WhetError
from whet.core.sheets import Sheet
from whet.store.sql_store import open_store

XUNIT2 = suite(
    case("test_in", classname="tests.test_till.TestTill"),
    case("test_out", "<failure>no</failure>", classname="tests.test_till.TestTill"),
    timestamp="2024-05-01T10:00:00",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return project_in(tmp_path / "shop", {"tests/test_till.py": "class TestTill:\n    def test_in(self): pass\n"})


def stored(project: Path) -> list[Sheet]:
    with open_store(f"sqlite:///{project / '.whet' / 'whet.db'}") as store:
        return list(store.sheets.read())


def told(*arguments: str | Path) -> dict[str, Any]:
    """In this process: most of a process's time would be its start."""
    done = CliRunner().invoke(ingest, [*map(str, arguments), "--format", "json"], catch_exceptions=False)
    assert (done.exit_code, done.stderr) == (0, "")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_results_are_stored_once_under_the_names_of_the_project(project: Path, tmp_path: Path) -> None:
    write(tmp_path / "old", {"a/junit.xml": XUNIT2, "b/TEST-x.xml": SUREFIRE, "b/notes.txt": "x"})
    first = told(tmp_path / "old", "-C", project, "--branch", "main")
    assert (first["runs"], first["results"], first["tests"], first["failing_runs"]) == (2, 7, 7, 2)
    assert (first["new_runs"], first["known_runs"], first["runs_dated_by_file"]) == (2, 0, 1)
    assert (first["first_at"][:10], first["last_at"][:10]) == ("2020-05-17", "2024-05-01")
    assert (first["left_out_files"], first["runs_by_source"]) == ({"no test results": 1}, {"junit": 2})
    sheets = stored(project)
    assert [sheet.branch for sheet in sheets] == ["main", "main"]
    assert list(sheets[1].tests) == ["tests/test_till.py::TestTill::test_in", "tests/test_till.py::TestTill::test_out"]
    assert sheets[1].outcomes == "pf"

    with zipfile.ZipFile(tmp_path / "new.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("somewhere/else.xml", XUNIT2)
        archive.writestr("jest.xml", JEST)
    again = told(tmp_path / "new.zip", "-C", project)
    assert (again["runs"], again["new_runs"], again["known_runs"]) == (2, 1, 1)
    assert len(stored(project)) == 3


def test_text_says_the_same(project: Path, tmp_path: Path) -> None:
    raw = [{"test_name": "check", "steps": [], "preconditions": ""}]
    write(tmp_path / "old", {"a/junit.xml": XUNIT2, "b/TEST-x.xml": SUREFIRE, "qase.json": json.dumps(raw)})
    pattern = str(tmp_path / "old" / "**" / "*.*")
    text = CliRunner().invoke(ingest, [pattern, "-C", str(project)], catch_exceptions=False).stdout
    assert "Read 2 run(s) (2 junit) from 3 file(s): 7 results" in text
    assert "Stored 2 new run(s) with 7 results; 0 known already." in text
    assert "1 run(s) state no time: dated by when their file was written." in text
    assert "Left out: 1 result(s) of Qase without a verdict" in text


def test_one_bad_file_and_nothing_is_imported_unless_it_is_left_out(project: Path, tmp_path: Path) -> None:
    old = write(tmp_path / "old", {"a/1.xml": XUNIT2, "b/\x1b[31m.xml": XUNIT2[:-20], "c/3.xml": SUREFIRE})
    refused = whet("ingest", old, "-C", project)
    assert (refused.returncode, refused.stdout) == (2, "")
    bad = f"{old}/b/\\x1b[31m.xml"
    assert refused.stderr.startswith(f"whet: {bad} is not well-formed XML or is cut off"), "and no control character"
    assert "--skip-bad" in refused.stderr
    assert stored(project) == []
    kept = told(old, "-C", project, "--skip-bad")
    assert (kept["new_runs"], [refusal["file"] for refusal in kept["refused_files"]]) == (2, [bad])
    assert len(stored(project)) == 2


def test_a_dry_run_stores_nothing(project: Path, tmp_path: Path) -> None:
    old = write(tmp_path / "old", {"1.xml": XUNIT2})
    assert told(old, "-C", project, "--dry-run")["new_runs"] == 1
    assert not (project / ".whet").exists()
    told(old, "-C", project)
    write(old, {"2/2.xml": JEST})
    again = told(old, "-C", project, "--dry-run")
    assert (again["stored"], again["new_runs"], again["known_runs"]) == (False, 1, 1)
    assert len(stored(project)) == 1


def test_no_results_at_all_is_said(project: Path, tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="No test results in"):
        told(write(tmp_path / "old", {"notes.txt": "x"}), "-C", project)
    with pytest.raises(WhetError, match="There is no file"):
        told(tmp_path / "nowhere", "-C", project)
