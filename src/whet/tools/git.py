"""What changed in the user's project, by git. Reads only; a directory that is no checkout has nothing to say."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from whet.core.errors import RefusedInput
from whet.core.records import Record
from whet.tools.project import SKIPPED

_TIMEOUT_SECONDS = 30
_KEPT_BYTES = 64_000_000
_COUNTED_BYTES = 5_000_000
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_REMOTE = re.compile(r"(?!file:)[a-z0-9+.-]+://(?:[^/]*@)?(?P<host>[^/:@]+)(?::\d*)?/(?P<path>.+)")
_SCP = re.compile(r"(?:[^/@:]+@)?(?P<host>[^/:@]+):(?!//)(?P<path>.+)")
_CONFIGURATION = ("core.fsmonitor=false", "core.quotePath=false", "diff.noprefix=false", "core.safecrlf=false")
# What git calls a tree without files, by SHA-1 and by SHA-256.
_EMPTY_TREES = (
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
)
_DIFF = ("--no-ext-diff", "--no-textconv", "--no-renames", "--no-color", "--ignore-submodules=all", "--relative")


class Changes(Record):
    """What differs from `base`: per file, the numbers of new or changed lines as they are now.

    Where lines were only taken out, the line before the gap stands for them. A deleted or binary
    file has no numbers. `uncommitted`: some of it is not in a commit yet.
    """

    base: str
    files: dict[str, tuple[int, ...]]
    uncommitted: bool

    @property
    def from_nothing(self) -> bool:
        """Everything is new: a first commit, or a clone that has one commit alone."""
        return self.base in _EMPTY_TREES


def head(root: Path) -> str | None:
    """The commit that is checked out; None when there is none."""
    return _commit(root, "HEAD")


def changes(root: Path, base: str | None = None) -> Changes | None:
    """Since `base` (where the branch left it), else what is uncommitted, else the last commit's own changes.

    None when `root` is not in a git checkout, or git is missing or does not answer in time.
    """
    if _git(root, "rev-parse", "--is-inside-work-tree") is None:
        return None
    commit = head(root) or _empty_tree(root)
    uncommitted = None if commit is None else _uncommitted(root, commit)
    if commit is None or uncommitted is None:
        return None
    since = _since(root, base) if base is not None else None if uncommitted else _commit(root, "HEAD^")
    if uncommitted and since is None:
        return Changes(base=commit, files=uncommitted, uncommitted=True)
    since = since or _empty_tree(root)
    committed = None if since is None else _differences(root, since, *(() if uncommitted else (commit,)))
    if since is None or committed is None:
        return None
    return Changes(base=since, files={**uncommitted, **committed}, uncommitted=bool(uncommitted))


def contents(root: Path, commit: str, files: Sequence[str]) -> dict[str, bytes]:
    """What these files held at `commit`; files it did not have, or names git cannot be asked by, are absent."""
    asked = [file for file in files if "\n" not in file]
    names = b"".join(os.fsencode(f"{commit}:./{file}\n") for file in asked)
    answer = _asked(root, ["cat-file", "--batch"], names) or b""
    found: dict[str, bytes] = {}
    place = 0
    for file in asked:
        end = answer.find(b"\n", place)
        described = answer[place:end].rsplit(b" ", 2)
        place = end + 1
        if described[1:2] == [b"blob"] and described[2].isdigit():
            found[file] = answer[place : place + int(described[2])]
            place += len(found[file]) + 1
    return found


def archive(root: Path, commit: str) -> bytes | None:
    """What is below `root` at `commit`, as a tar file; None when there is no such commit, or too much of it."""
    known = _commit(root, commit)
    return None if known is None else _asked(root, ["archive", "--format=tar", known])


def origin(root: Path) -> str | None:
    """Where the checkout comes from, however it is reached and by whom: host/path, and the folder within it; None where
    git names none."""
    address, within = _git(root, "config", "--get", "remote.origin.url"), _git(root, "rev-parse", "--show-prefix")
    if not address or within is None:
        return None
    place = _place(address.strip().rstrip("/").removesuffix(".git"), root)
    return f"{place}:{within.strip().rstrip('/')}" if within.strip() else place


def _place(address: str, root: Path) -> str:
    """git@host:path and https://somebody:token@host:443/path are the same place."""
    found = _REMOTE.fullmatch(address) or _SCP.fullmatch(address)
    if found is not None:
        return f"{found['host'].lower()}/{found['path'].strip('/')}"
    return str((root / address.removeprefix("file://")).resolve())


def churn(root: Path, commits: int = 200) -> dict[str, int]:
    """How many of the last commits touched each file; empty when that cannot be known."""
    names = _git(root, "log", f"-n{commits}", "--no-merges", "--name-only", "-z", "--format=", *_DIFF)
    return dict(Counter(name for name in (names or "").replace("\0\n", "\0").split("\0") if name))


def _since(root: Path, base: str) -> str:
    commit = _commit(root, base)
    if commit is None:
        raise RefusedInput(f"git knows no commit {base!r} in {root}.", "Name a branch, a tag or a commit it has.")
    fork = _git(root, "merge-base", commit, "HEAD")
    return fork.strip() if fork else commit


def _uncommitted(root: Path, commit: str) -> dict[str, tuple[int, ...]] | None:
    tracked = _differences(root, commit)
    untracked = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    if tracked is None or untracked is None:
        return None
    return {**{name: _all_lines(root / name) for name in untracked.split("\0") if _counts(name)}, **tracked}


def _counts(name: str) -> bool:
    """Caches and Whet's own directory are no change of the project, ignored by git or not."""
    return bool(name) and not SKIPPED.intersection(PurePosixPath(name).parts)


def _differences(root: Path, *commits: str) -> dict[str, tuple[int, ...]] | None:
    """Between two commits, or one and the working tree. Names come first, patches after, in the same order."""
    answer = _git(root, "diff", "--raw", "-z", "--patch", "-U0", *_DIFF, *commits, "--")
    if answer is None:
        return None
    raw, _, patches = answer.partition("\0\0")
    names = raw.split("\0")[1::2]
    sections = re.split(r"^diff --git ", patches, flags=re.MULTILINE)[1:]
    return dict(zip(names, map(_changed_lines, sections), strict=True)) if len(names) == len(sections) else None


def _changed_lines(section: str) -> tuple[int, ...]:
    lines: set[int] = set()
    if "\n+++ /dev/null\n" in section:
        return ()
    for hunk in _HUNK.finditer(section):
        start, count = int(hunk[1]), int(hunk[2] or 1)
        lines.update(range(start, start + count) if count else [max(1, start)])
    return tuple(sorted(lines))


def _all_lines(file: Path) -> tuple[int, ...]:
    try:
        if not file.is_file() or file.stat().st_size > _COUNTED_BYTES:
            return ()
        content = file.read_bytes()
    except OSError:
        return ()
    return () if b"\0" in content else tuple(range(1, len(content.splitlines()) + 1))


def _commit(root: Path, name: str) -> str | None:
    answer = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    return answer.strip() if answer else None


def _empty_tree(root: Path) -> str | None:
    answer = _git(root, "hash-object", "-t", "tree", os.devnull)
    return answer.strip() if answer else None


def _git(root: Path, *arguments: str) -> str | None:
    """What git prints; None when it fails, is missing, takes too long or has more to say than can be kept."""
    answer = _asked(root, arguments)
    return None if answer is None else answer.decode(errors="replace")


def _asked(root: Path, arguments: Sequence[str], question: bytes = b"") -> bytes | None:
    """Without the supervisor, which would take ten times as long as git itself; what git may start (filters for
    contents) is of its session and ends with it."""
    git = shutil.which("git")
    if git is None or not root.is_dir():
        return None
    settings = [part for setting in _CONFIGURATION for part in ("-c", setting)]
    with tempfile.TemporaryFile() as output:
        started = subprocess.Popen(
            [git, "--no-pager", *settings, *arguments],
            cwd=root,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        whole = _ended_well(started, question) and os.fstat(output.fileno()).st_size <= _KEPT_BYTES
        output.seek(0)
        return output.read() if whole else None


def _ended_well(started: "subprocess.Popen[bytes]", question: bytes) -> bool:
    try:
        started.communicate(question, timeout=_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()
    return started.returncode == 0


def _environment() -> dict[str, str]:
    """Without what a hook or a shell may have set to point git elsewhere or to run other programs."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith("GIT_CONFIG")
    }
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
