"""Where a failing test first goes another way than it did at a commit where it passed.

Followed line by line in processes of its own (`probe/whet_turning`): twice at the commit, to know what is another each
time, and once as the project is now. The project and its repository are only read.
"""

import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from whet.core.errors import RefusedInput
from whet.tools import git
from whet.tools.environment import environment
from whet.tools.process import Limits, run
from whet.tools.project import Project
from whet.tools.python import Python

_PROBE = Path(__file__).with_name("probe")
_IMPORTING = ""
_PASSED, _FAILED = 0, 1

# As the plugin tells it: {} where both go the same way throughout, None where nobody could follow so far.
Told = dict[str, Any] | None


def turn(project: Project, python: Python, test: str, passed_at: str, limits: Limits) -> Told:
    return turns(project, python, [test], passed_at, limits)[test]


class ImportedByMany(RefusedInput):
    """What differs was executed while the files of several tests were imported; `failing` are those to be followed by
    fewer files at a time."""

    def __init__(self, failing: Sequence[str]) -> None:
        super().__init__("What differs may have been imported by any of them.", "Follow those of one file.")
        self.failing = failing


def turns(project: Project, python: Python, tests: Sequence[str], passed_at: str, limits: Limits) -> dict[str, Told]:
    """Of the first, which must have passed there and fail now; and of those of the others that did and do.

    All are followed in the same runs. Where that does not work, or what differs was executed while all their files
    were imported, the first is followed alone.
    """
    with _walk(project, python, passed_at, limits) as walk:
        try:
            told = walk.compared(tests)
        except RefusedInput:
            if len(tests) == 1:
                raise
            told = {}
        return told if tests[0] in told else walk.compared(tests[:1])


def turns_of_any(
    project: Project, python: Python, tests: Sequence[str], passed_at: str, limits: Limits
) -> dict[str, Told]:
    """Of those that passed there and fail now, which some must; by three runs, whatever comes of them."""
    with _walk(project, python, passed_at, limits) as walk:
        return walk.compared(tests)


@contextmanager
def _walk(project: Project, python: Python, passed_at: str, limits: Limits) -> Iterator["_Walk"]:
    python.require("pytest")
    with tempfile.TemporaryDirectory(prefix="whet-") as folder:
        before, kept = Path(folder) / "before", Path(folder) / "kept"
        kept.mkdir()
        _unpack(project.root, passed_at, before)
        yield _Walk(python, before, project.root, kept, passed_at, limits)


class _Walk(NamedTuple):
    python: Python
    before: Path
    now: Path
    kept: Path
    passed_at: str
    limits: Limits

    def compared(self, tests: Sequence[str]) -> dict[str, Told]:
        test, followed = tests[0], set(tests)
        for mode in ("keep", "steady"):
            exit_code, passed = self._follow(self.before, mode, tests)
            followed &= passed
            if exit_code not in (_PASSED, _FAILED) or not followed:
                raise RefusedInput(
                    f"{test} does not pass at {self.passed_at}.", "Name a commit at which it passes: --passed-at COMMIT"
                )
        exit_code, passed = self._follow(self.now, "compare", tests)
        if exit_code != _FAILED or followed <= passed:
            raise RefusedInput(f"{test} does not fail now.", "Give a test that fails.")
        return self._told(tests, followed - passed)

    def _told(self, tests: Sequence[str], failing: set[str]) -> dict[str, Told]:
        told: dict[str, Told] = json.loads((self.kept / "turns.json").read_text(encoding="utf-8"))
        importing = told.get(_IMPORTING)
        if importing and self._only_moved(importing):
            importing = None
        if importing and len(_files(tests)) > 1:
            raise ImportedByMany([test for test in tests if test in failing])
        return {test: importing or told.get(test) for test in tests if test in failing}

    def _only_moved(self, turn: dict[str, Any]) -> bool:
        """Where lines came or went in a file, all below are executed elsewhere than before: that alone says nothing.
        Within functions lines are counted from their heads, so what a test itself executes still tells."""
        file = str(turn["place"]).partition(":")[0]
        before, now = ((root / file).read_bytes().count(b"\n") for root in (self.before, self.now))
        return before != now and not (turn["was"] and turn["now"] and turn["kind"] == "value")

    def _follow(self, root: Path, mode: str, tests: Sequence[str]) -> tuple[int | None, set[str]]:
        """pytest's exit code, and which tests passed."""
        sources, out = [str(root) + os.sep], str(self.kept / "turns.json")
        plan = {"root": str(root), "sources": sources, "events": str(self.kept), "mode": mode, "out": out}
        (self.kept / "plan.json").write_text(json.dumps({**plan, "tests": list(tests)}), encoding="utf-8")
        passed = self.kept / "passed.json"
        passed.unlink(missing_ok=True)
        env = environment(self.python)
        paths = [str(_PROBE), str(root), str(root / "src"), env.get("PYTHONPATH")]
        env |= {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),  # before what is installed: that is of one commit only
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "WHET_TURNING": str(self.kept / "plan.json"),
        }
        files = [file for file in _files(tests) if (root / file).exists()]
        command = [str(self.python.path), "-m", "pytest", "-p", "whet_turning", "-p", "no:cacheprovider", "-q", *files]
        exit_code = run(command, cwd=root, env=env, limits=self.limits).exit_code
        return exit_code, set(json.loads(passed.read_text(encoding="utf-8"))) if passed.exists() else set()


def _files(tests: Sequence[str]) -> list[str]:
    return sorted({test.partition("::")[0] for test in tests})


def _unpack(root: Path, commit: str, folder: Path) -> None:
    packed = git.archive(root, commit)
    if packed is None:
        raise RefusedInput(
            f"git has no commit {commit!r} in {root}, or it is too large to be unpacked.",
            "Name a branch, a tag or a commit.",
        )
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(folder, filter="data")
