"""Where a failing test first goes another way than it did at a commit where it passed.

Followed line by line in processes of its own (`probe/whet_turning`): twice at the commit, to know what is another each
time, and once as the project is now. The project and its repository are only read.
"""

import io
import json
import os
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from whet.core.errors import RefusedInput
from whet.tools import git
from whet.tools.environment import environment
from whet.tools.process import Limits, run
from whet.tools.project import Project
from whet.tools.python import Python

_PROBE = Path(__file__).with_name("probe")
_IMPORTING = ""
_PASSED, _FAILED = 0, 1


def turn(project: Project, python: Python, test: str, passed_at: str, limits: Limits) -> dict[str, Any] | None:
    """As the plugin tells it: {} where both go the same way throughout, None where nobody could follow so far."""
    python.require("pytest")
    with tempfile.TemporaryDirectory(prefix="whet-") as folder:
        before, kept = Path(folder) / "before", Path(folder) / "kept"
        kept.mkdir()
        _unpack(project.root, passed_at, before)
        for mode in ("keep", "steady"):
            if _follow(python, before, kept, mode, test, limits) != _PASSED:
                raise RefusedInput(
                    f"{test} does not pass at {passed_at}.", "Name a commit at which it passes: --passed-at COMMIT"
                )
        if _follow(python, project.root, kept, "compare", test, limits) != _FAILED:
            raise RefusedInput(f"{test} does not fail now.", "Give a test that fails.")
        turns: dict[str, dict[str, Any] | None] = json.loads((kept / "turns.json").read_text(encoding="utf-8"))
    return turns.get(_IMPORTING) or turns.get(test)


def _unpack(root: Path, commit: str, folder: Path) -> None:
    packed = git.archive(root, commit)
    if packed is None:
        raise RefusedInput(
            f"git has no commit {commit!r} in {root}, or it is too large to be unpacked.",
            "Name a branch, a tag or a commit.",
        )
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(folder, filter="data")


def _follow(python: Python, root: Path, kept: Path, mode: str, test: str, limits: Limits) -> int | None:
    sources, out = [str(root) + os.sep], str(kept / "turns.json")
    plan = {"root": str(root), "sources": sources, "events": str(kept), "mode": mode, "out": out}
    (kept / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    env = environment(python)
    paths = [str(_PROBE), str(root), str(root / "src"), env.get("PYTHONPATH")]
    env |= {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),  # before what is installed: that is of one commit only
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "WHET_TURNING": str(kept / "plan.json"),
    }
    command = [str(python.path), "-m", "pytest", "-p", "whet_turning", "-p", "no:cacheprovider", "-q", test]
    return run(command, cwd=root, env=env, limits=limits).exit_code
