"""`whet export` and `whet merge` as people use them."""

import json
import os
import pty
import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import PIPE

import pytest
from tests.cli.command_line import WHET, environment, project_in, whet

from whet.checks.sheets import sheet
from whet.core.sheets import Sheet
from whet.store import SqlStore, open_store


def _store(project: Path) -> SqlStore:
    return open_store(f"sqlite:///{project / '.whet' / 'whet.db'}")


def _project(root: Path, *sheets: Sheet) -> Path:
    project = project_in(root, {})
    if sheets:
        with _store(project) as store:
            store.sheets.add(sheets)
    return project


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    recent = datetime.now(UTC) - timedelta(days=2)
    return _project(tmp_path / "mine", sheet(0), sheet(1, branch="topic"), sheet(2, at=recent))


def _ids(project: Path) -> list[str]:
    with _store(project) as store:
        return [each.id for each in store.sheets.read()]


def test_two_projects_exchange_and_become_equal(mine: Path, tmp_path: Path) -> None:
    other = _project(tmp_path / "other", sheet(1, branch="topic"), sheet(9))
    exported = whet("export", "../mine.whet", cwd=mine)
    assert (exported.returncode, exported.stderr) == (0, "Exported 3 runs with 9 results to ../mine.whet.\n")
    assert whet("export", "-o", "../other.whet", cwd=other).returncode == 0
    merged = whet("merge", "../mine.whet", cwd=other)
    assert merged.stdout == "Merged 1 file: 2 new runs with 6 results; 1 known.\n", merged.stderr
    merged = whet("merge", "../other.whet", "../mine.whet", cwd=mine)
    assert merged.stdout == "Merged 2 files: 1 new run with 3 results; 4 known.\n", merged.stderr
    for project in (mine, other):
        whet("export", f"../{project.name}.whet", cwd=project)
    assert (tmp_path / "mine.whet").read_bytes() == (tmp_path / "other.whet").read_bytes()


def merge_from_pipe(content: bytes, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    command = [str(WHET), "merge", "-"]
    return subprocess.run(command, cwd=cwd, env=environment(), input=content, capture_output=True, check=False)


def test_a_history_is_merged_from_standard_input(mine: Path, tmp_path: Path) -> None:
    fresh = _project(tmp_path / "fresh")
    whet("export", "../mine.whet", cwd=mine)
    history = (tmp_path / "mine.whet").read_bytes()
    cut_off = merge_from_pipe(history[:-20], fresh)
    assert (cut_off.returncode, (fresh / ".whet").exists()) == (2, False)
    assert b"standard input was refused, and nothing was merged" in cut_off.stderr
    merged = merge_from_pipe(history, fresh)
    assert (merged.returncode, merged.stdout) == (0, b"Merged 1 file: 3 new runs with 9 results; 0 known.\n")
    assert _ids(fresh) == _ids(mine)


def test_what_standard_input_and_output_are_not_for_is_refused(mine: Path) -> None:
    refused = whet("ingest", "-", cwd=mine)
    assert (refused.returncode, "not read from standard input" in refused.stderr) == (2, True)
    refused = whet("merge", ".", cwd=mine)
    assert (refused.returncode, "nothing was merged: it is no file" in refused.stderr) == (2, True)
    controller, terminal = pty.openpty()
    done = subprocess.run(
        [str(WHET), "export", "-"], cwd=mine, env=environment(), stdout=terminal, stderr=PIPE, check=False
    )
    os.close(controller)
    os.close(terminal)
    assert (done.returncode, b"no text for a terminal" in done.stderr) == (2, True)


def test_a_part_goes_through_a_pipe(mine: Path, tmp_path: Path) -> None:
    fresh = _project(tmp_path / "fresh")
    command = [str(WHET), "export", "--since", "30", "--without-map", "-"]
    piped = subprocess.run(command, cwd=mine, env=environment(), capture_output=True, check=True)
    (tmp_path / "part.whet").write_bytes(piped.stdout)
    assert whet("merge", tmp_path / "part.whet", cwd=fresh).returncode == 0
    assert _ids(fresh) == ["run 2"]
    whet("export", "--branch", "topic", "--branch", "nowhere", tmp_path / "topic.whet", cwd=mine)
    assert whet("merge", tmp_path / "topic.whet", cwd=fresh).returncode == 0
    assert _ids(fresh) == ["run 1", "run 2"]


def test_a_broken_file_is_refused_as_a_sentence(mine: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.whet").write_bytes(b"\x1f\x8b broken \x1b[31m")
    before = _ids(mine)
    refused = whet("merge", tmp_path / "broken.whet", tmp_path / "missing.whet", cwd=mine)
    assert refused.returncode == 2
    assert "was refused, and nothing was merged" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert _ids(mine) == before


def test_a_failed_export_leaves_the_old_file(mine: Path, tmp_path: Path) -> None:
    target = tmp_path / "here" / "history.whet"
    target.parent.mkdir()
    target.write_bytes(b"old")
    with closing(sqlite3.connect(mine / ".whet" / "whet.db", isolation_level=None)) as damaging:
        damaging.execute("UPDATE sheet_columns SET packed = x'00'")
    failed = whet("export", target, cwd=mine)
    assert "is damaged" in failed.stderr
    assert (failed.returncode, target.read_bytes(), list(target.parent.iterdir())) == (2, b"old", [target])


def test_nothing_to_export_and_no_file_to_write_are_told(mine: Path, tmp_path: Path) -> None:
    empty = project_in(tmp_path / "empty", {})
    nothing = whet("export", "history.whet", cwd=empty)
    assert (nothing.returncode, (empty / "history.whet").exists()) == (2, False)
    assert "no history to export yet" in nothing.stderr
    for names in ((), ("one", "-o", "two")):
        refused = whet("export", *names, cwd=mine)
        assert (refused.returncode, "Name one file" in refused.stderr) == (2, True)


def test_programs_are_told_what_was_exchanged(mine: Path, tmp_path: Path) -> None:
    exported = whet("export", "../mine.whet", "--format", "json", cwd=mine)
    assert json.loads(exported.stdout) == {"file": "../mine.whet", "runs": 3, "results": 9}
    other = _project(tmp_path / "other", sheet(0))
    merged = json.loads(whet("merge", "../mine.whet", "--format", "json", cwd=other).stdout)
    rest = {"replaced": 0, "renames": 0, "quarantine": 0, "mapped": 0}
    assert merged == {"files": 1, "runs": 2, "results": 6, "known": 1, **rest}
    refused = whet("export", "-", "--format", "json", cwd=mine)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "Name a file" in refused.stderr


def test_a_refused_merge_begins_no_store(tmp_path: Path) -> None:
    fresh = _project(tmp_path / "fresh")
    (tmp_path / "broken.whet").write_bytes(b"no history")
    assert whet("merge", tmp_path / "broken.whet", cwd=fresh).returncode == 2
    assert not (fresh / ".whet").exists()
