"""Which runs a branch learns from: its own, the default branch's, and those that name no branch."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from whet.core.errors import RefusedInput

# GitHub: a pull request's branch, else the branch or tag; GitLab.
_BRANCH_VARIABLES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME")
_GIT_SECONDS = 10


class Lane(NamedTuple):
    branch: str | None
    default: str | None
    commit: str | None

    @property
    def name(self) -> str:
        """Names the lane's snapshot; a branch that is the default one has the default's lane."""
        return self.branch or self.default or ""

    @property
    def branches(self) -> frozenset[str | None]:
        return frozenset({self.branch, self.default, None})


def find_lane(root: Path, env: Mapping[str, str] = os.environ) -> Lane:
    """Without git, or outside a checkout, everything is one lane without a branch."""
    refs = _git(root, "for-each-ref", "--format=%(HEAD)%(refname) %(symref)", "refs/heads", "refs/remotes/origin/HEAD")
    lines = refs.splitlines()
    local = [line[1:].split(" ")[0].removeprefix("refs/heads/") for line in lines if " refs/heads/" in f" {line[1:]}"]
    current = next((line[1:].split(" ")[0].removeprefix("refs/heads/") for line in lines if line.startswith("*")), None)
    named = next((env[name] for name in _BRANCH_VARIABLES if env.get(name)), None)
    commit = _git(root, "rev-parse", "--verify", "--quiet", "HEAD").strip() or None
    return Lane(named or current, _default(lines, local, env), commit)


def commit_named(root: Path, name: str) -> str:
    commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").strip()
    if not commit:
        raise RefusedInput(f"git knows no commit {name!r} in {root}.", "Name a branch, a tag or a commit it has.")
    return commit


def _default(lines: list[str], local: list[str], env: Mapping[str, str]) -> str | None:
    if env.get("CI_DEFAULT_BRANCH"):
        return env["CI_DEFAULT_BRANCH"]
    remote = next((line.split(" ")[-1] for line in lines if "refs/remotes/origin/HEAD " in line), "")
    if remote.startswith("refs/remotes/origin/"):
        return remote.removeprefix("refs/remotes/origin/")
    return next((name for name in ("main", "master") if name in local), None)


def _git(root: Path, *arguments: str) -> str:
    """What git prints; nothing when it is missing, fails or does not answer."""
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_GIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
