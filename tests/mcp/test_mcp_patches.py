"""Diffs, read as git and diff(1) write them, fit the files before and after; paths stay inside the project."""

import contextlib
import subprocess
from difflib import unified_diff
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mcp.coding_agent import git

from whet.core.errors import RefusedInput
from whet.mcp.changing import change_of_diff, change_of_files
from whet.mcp.patches import read_diff, sides
from whet.tools.lines import changed_lines

LINES = st.lists(st.sampled_from(["a", "b", "--- c", "+++ d", "@@ -1 +1 @@", "", " e", "ü"]), max_size=12)


@given(LINES, LINES, st.integers(0, 4))
def test_a_diff_leads_from_either_side_to_both(before: list[str], after: list[str], context: int) -> None:
    diff = "\n".join(unified_diff(before, after, "a/x.py", "b/x.py", lineterm="", n=context))
    if before == after:
        return
    [patch] = read_diff(diff)
    old, new = ("".join(f"{line}\n" for line in side).encode() for side in (before, after))
    assert patch.file == "x.py"
    for content in (old, new):
        found = sides(content, patch.hunks)
        assert found is not None
        assert content in found


@given(st.text(max_size=300))
def test_any_other_text_is_refused_or_read(text: str) -> None:
    for given_text in (text, f"--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n{text}"):
        with contextlib.suppress(RefusedInput):
            assert all(patch.file for patch in read_diff(given_text))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """In a folder of a checkout."""
    root = tmp_path / "checkout" / "shop"
    (root / "täglich").mkdir(parents=True)
    (root / "a.py").write_text("one\ntwo\nthree\n")
    (root / "täglich" / "b.py").write_text("one\n")
    (root / "old.py").write_text("gone\n" * 5)
    (root.parent / "other.py").write_text("x\n")
    git(root.parent, "init", "-q")
    git(root.parent, "add", "-A")
    git(root.parent, "commit", "-qm", "one")
    return root


def test_gits_own_diff_of_a_folder(project: Path) -> None:
    (project / "a.py").write_text("one\nTWO\nthree\n")
    (project / "täglich" / "b.py").write_text("one\ntwo")
    (project / "old.py").rename(project / "new.py")
    (project.parent / "other.py").write_text("y\n")
    (project / "born.py").write_text("hello\n")
    git(project.parent, "add", "-A")
    diff, notes = git(project.parent, "diff", "--cached", "-M"), list[str]()
    change = change_of_diff(project, diff, notes)
    assert set(change.files) == {"a.py", "täglich/b.py", "old.py", "new.py", "born.py"}
    assert (change.files["a.py"].lines, change.files["a.py"].before) == (frozenset({2}), b"one\ntwo\nthree\n")
    assert change.files["old.py"].deleted
    assert change.files["born.py"].lines == {1}
    assert notes == ["other.py is outside of the project and was left out"]


def test_a_diff_that_fits_neither_side_counts_for_the_whole_file(project: Path) -> None:
    notes: list[str] = []
    change = change_of_diff(project, "--- a/shop/a.py\n+++ b/shop/a.py\n@@ -1 +1 @@\n-x\n+y\n", notes)
    assert change.files["a.py"].lines == {1, 2, 3}
    assert "does not fit a.py" in notes[0]


@pytest.mark.parametrize("path", ["../other.py", "/etc/passwd", "link/passwd", "a\0b"])
def test_paths_outside_are_refused(project: Path, path: str) -> None:
    (project / "link").symlink_to("/etc")
    with pytest.raises(RefusedInput, match="is not in the project"):
        change_of_files(project, [path])
    if "\0" not in path and path != "link/passwd":
        with pytest.raises(RefusedInput, match="is not in the project"):
            change_of_diff(project, f"--- {path}\n+++ {path}\n@@ -1 +1 @@\n-a\n+b\n", [])


def test_only_names_are_known(project: Path) -> None:
    change = change_of_files(project, ["a.py", "never.py"])
    assert change.files["a.py"].lines == {1, 2, 3}
    assert change.files["never.py"].deleted
    assert change.files["never.py"].after is None


def test_plain_diff_with_times(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("1\n2\n")
    (tmp_path / "y").write_text("1\n3\n")
    diff = subprocess.run(["diff", "-u", "x", "y"], cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert [patch.file for patch in read_diff(diff)] == ["x", "y"]
    found = sides(b"1\n2\n", read_diff(diff)[1].hunks)
    assert found is not None
    assert changed_lines(*found) == (frozenset({2}), frozenset({2}))
