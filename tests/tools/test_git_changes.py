"""What git says has changed, with odd names, in odd checkouts."""

import subprocess
from pathlib import Path

import pytest

from whet.core.errors import RefusedInput
from whet.tools.git import changes, churn, head


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
    (root / "a.py").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    (root / "b.py").write_text("one\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


def test_no_checkout_says_nothing(tmp_path: Path) -> None:
    assert changes(tmp_path) is None
    assert head(tmp_path) is None
    assert churn(tmp_path) == {}


def test_git_may_be_missing(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    assert changes(checkout) is None
    assert head(checkout) is None


def test_a_first_commit_changed_everything(checkout: Path) -> None:
    found = changes(checkout)
    assert found is not None
    assert not found.uncommitted
    assert found.files == {"a.py": tuple(range(1, 11)), "b.py": (1,)}
    assert found.from_nothing


@pytest.mark.parametrize("digests", ["sha1", "sha256"])
def test_what_was_changed_later_is_not_from_nothing(tmp_path: Path, digests: str) -> None:
    git(tmp_path, "init", "-q", f"--object-format={digests}")
    for text, from_nothing in (("1\n", True), ("2\n", False)):
        (tmp_path / "a.py").write_text(text)
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", text)
        found = changes(tmp_path)
        assert found is not None
        assert found.from_nothing is from_nothing


def test_nothing_committed_yet(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "staged.py").write_text("1\n2\n")
    (tmp_path / "new.py").write_text("1\n")
    git(tmp_path, "add", "staged.py")
    found = changes(tmp_path)
    assert found is not None
    assert found.files == {"staged.py": (1, 2), "new.py": (1,)}
    assert found.uncommitted


def test_uncommitted_changes(checkout: Path) -> None:
    lines = (checkout / "a.py").read_text().splitlines()
    lines[1] = "changed"
    del lines[5:7]
    lines.append("added")
    (checkout / "a.py").write_text("\n".join(lines) + "\n")
    (checkout / "b.py").unlink()
    (checkout / "new.py").write_text("1\n2\n")
    (checkout / "data.bin").write_bytes(b"\0\1\n")
    (checkout / ".whet").mkdir()
    (checkout / ".whet" / "whet.db").write_text("own\n")
    found = changes(checkout)
    assert found is not None
    assert found.base == head(checkout)
    assert found.uncommitted
    # 2 changed; two lines were taken out after 5; 9 is new.
    assert found.files == {"a.py": (2, 5, 9), "b.py": (), "new.py": (1, 2), "data.bin": ()}


def test_a_clean_tree_shows_the_last_commit(checkout: Path) -> None:
    first = head(checkout)
    (checkout / "b.py").write_text("one\ntwo\n")
    git(checkout, "commit", "-qam", "second")
    found = changes(checkout)
    assert found is not None
    assert (found.base, found.files, found.uncommitted) == (first, {"b.py": (2,)}, False)
    assert churn(checkout) == {"b.py": 2, "a.py": 1}
    assert churn(checkout, commits=1) == {"b.py": 1}


def test_since_a_branch(checkout: Path) -> None:
    git(checkout, "checkout", "-qb", "feature")
    (checkout / "b.py").write_text("one\ntwo\n")
    git(checkout, "commit", "-qam", "on the branch")
    (checkout / "a.py").write_text("uncommitted\n" + (checkout / "a.py").read_text())
    git(checkout, "stash", "-q")
    git(checkout, "checkout", "-q", "main")
    (checkout / "c.py").write_text("on main\n")
    git(checkout, "add", "c.py")
    git(checkout, "commit", "-qm", "on main")
    git(checkout, "checkout", "-q", "feature")
    git(checkout, "stash", "pop", "-q")
    found = changes(checkout, base="main")
    assert found is not None
    assert found.files == {"a.py": (1,), "b.py": (2,)}
    assert found.uncommitted


@pytest.mark.parametrize("base", ["no-such-branch", "--output=x", ""])
def test_an_unknown_base_is_refused(checkout: Path, base: str) -> None:
    with pytest.raises(RefusedInput, match="git knows no commit"):
        changes(checkout, base=base)


ODD_NAMES = ['quo"te.py', "new\nline.py", "ta\tb.py", "é 漢.py", "-dash.py", " space .py", "back\\slash.py"]


def test_odd_names(checkout: Path) -> None:
    for name in ODD_NAMES:
        (checkout / name).write_text("1\n")
    found = changes(checkout)
    assert found is not None
    assert found.files == dict.fromkeys(ODD_NAMES, (1,))
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "odd")
    for name in ODD_NAMES:
        (checkout / name).write_text("1\n--- a/x\n+++ b/y\ndiff --git a/x b/y\n@@ -1 +1 @@\n")
    found = changes(checkout)
    assert found is not None
    assert found.files == dict.fromkeys(ODD_NAMES, (2, 3, 4, 5))
    assert {name for name, count in churn(checkout).items() if count == 1} == {"a.py", "b.py", *ODD_NAMES}


def test_a_project_below_the_checkout(checkout: Path) -> None:
    (checkout / "sub").mkdir()
    (checkout / "sub" / "c.py").write_text("1\n")
    (checkout / "a.py").write_text("changed\n")
    found = changes(checkout / "sub")
    assert found is not None
    assert found.files == {"c.py": (1,)}


def test_the_repository_cannot_run_programs(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for setting in ("core.fsmonitor", "diff.external", "core.pager", "diff.trap.textconv"):
        git(checkout, "config", setting, str(trap))
    (checkout / ".gitattributes").write_text("*.py diff=trap\n")
    (checkout / "a.py").write_text("changed\n")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    found = changes(checkout)
    assert found is not None
    assert found.files["a.py"] == (1,)
    assert not (tmp_path / "sprung").exists()
