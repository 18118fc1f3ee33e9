"""What changed since a commit, with the contents on both sides, in real checkouts."""

import subprocess
from pathlib import Path

import pytest

from whet.tools import changes
from whet.tools.changes import Change, FileChange, change_since
from whet.tools.git import contents, head


def git(root: Path, *arguments: str) -> str:
    names = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org", "-c", "init.defaultBranch=main"]
    return subprocess.run(
        ["git", *names, *arguments], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    root.mkdir()
    git(root, "init", "-q")
    (root / "a.py").write_text("one\ntwo\nthree\n")
    (root / "b c ü.py").write_text("b\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


def since(root: Path, commit: str | None) -> Change:
    found = change_since(root, commit)
    assert found is not None
    return found


def test_committed_and_uncommitted_together(checkout: Path) -> None:
    first = head(checkout)
    (checkout / "a.py").write_text("one\n2\nthree\n")
    git(checkout, "commit", "-qam", "second")
    (checkout / "b c ü.py").unlink()
    (checkout / "new.py").write_text("n\n")
    found = since(checkout, first)
    assert found.base == first
    assert found.uncommitted
    assert found.files == {
        "a.py": FileChange(b"one\n2\nthree\n", b"one\ntwo\nthree\n", frozenset({2}), frozenset({2})),
        "b c ü.py": FileChange(None, b"b\n", frozenset(), frozenset({1}), deleted=True),
        "new.py": FileChange(b"n\n", None, frozenset({1}), frozenset()),
    }


@pytest.mark.parametrize("commit", [None, "0123456789012345678901234567890123456789", "no-such-branch"])
def test_an_unknown_commit_leaves_the_last_one(checkout: Path, commit: str | None) -> None:
    (checkout / "a.py").write_text("one\n2\nthree\n")
    git(checkout, "commit", "-qam", "second")
    found = since(checkout, commit)
    assert list(found.files) == ["a.py"]
    assert found.files["a.py"].before == b"one\ntwo\nthree\n"
    assert not found.uncommitted


def test_without_git_nothing_is_known(tmp_path: Path) -> None:
    assert change_since(tmp_path, None) is None


def test_nothing_changed(checkout: Path) -> None:
    assert since(checkout, head(checkout)).files == {}


def test_a_part_of_a_checkout_names_its_own_files(checkout: Path) -> None:
    (checkout / "part").mkdir()
    (checkout / "part/c.py").write_text("c\n")
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "second")
    (checkout / "part/c.py").write_text("d\n")
    (checkout / "a.py").write_text("other\n")
    assert since(checkout / "part", None).files == {"c.py": FileChange(b"d\n", b"c\n", frozenset({1}), frozenset({1}))}


def test_binary_files_have_no_lines(checkout: Path) -> None:
    (checkout / "x.bin").write_bytes(b"\0\n")
    assert since(checkout, None).files["x.bin"] == FileChange(b"\0\n", None)


@pytest.mark.parametrize(("name", "limit"), [("_KEPT_FILES", 2), ("_KEPT_BYTES", 40)])
def test_a_huge_change_keeps_the_names_alone(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: int
) -> None:
    monkeypatch.setattr(changes, name, limit)
    for number in range(3):
        (checkout / f"{number}.py").write_text("0123456789012345678\n")
    (checkout / "a.py").unlink()
    found = since(checkout, None).files
    assert found["0.py"] == FileChange(None, None)
    assert found["a.py"] == FileChange(None, None, deleted=True)


def test_a_big_content_before_counts_too(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_KEPT_BYTES", 10)
    (checkout / "a.py").write_text("small\n")
    assert since(checkout, None).files["a.py"] == FileChange(None, None)


def test_contents_by_name(checkout: Path) -> None:
    (checkout / "ends in blob").write_text("x")
    found = contents(checkout, "HEAD", ["missing blob", "b c ü.py", "ends in blob", "two\nlines", "a.py"])
    assert found == {"b c ü.py": b"b\n", "a.py": b"one\ntwo\nthree\n"}
