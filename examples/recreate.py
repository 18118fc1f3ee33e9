"""Lay the example shop out as a git project with a short history: python recreate.py DEST.

Author, dates and texts are fixed, so every machine gets the same commits. A DEST that holds them
already is left alone, with all that was learnt in it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from history import STEPS, Change, Step

SHOP = Path(__file__).resolve().parent / "shop"


def states() -> list[dict[str, str]]:
    """The files after each step, oldest first."""
    added = [path for step in STEPS for path in step.added]
    files = {path: (SHOP / path).read_text(encoding="utf-8") for path in added}
    found = []
    for step in reversed(STEPS):
        found.append(dict(files))
        for change in reversed(step.changes):
            files[change.path] = _undone(change, files[change.path])
        for path in step.added:
            del files[path]
    return found[::-1]


def _undone(change: Change, text: str) -> str:
    if text.count(change.after) != 1:
        raise SystemExit(
            f"{change.path} holds {change.after!r} {text.count(change.after)} times; exactly once is needed. "
            "Adapt the step in history.py to the present text."
        )
    return text.replace(change.after, change.before)


def build(place: Path) -> str:
    """Commit every state in an empty directory; the newest commit's id."""
    _git(place, "init", "--quiet", "--initial-branch=main")
    for step, files in zip(STEPS, states(), strict=True):
        for path, text in files.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text, encoding="utf-8", newline="\n")
        _git(place, "add", "--all")
        _git(place, "commit", "--quiet", "--message", step.message, step=step)
    return head(place)


def head(place: Path) -> str:
    return _git(place, "rev-parse", "HEAD")


def _git(place: Path, *arguments: str, step: Step | None = None) -> str:
    command = ["git", "-c", "core.autocrlf=false", "-c", "gc.auto=0", *arguments]
    done = subprocess.run(command, cwd=place, env=_environment(step), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"`{' '.join(command)}` failed in {place}: {done.stderr.strip()}")
    return done.stdout.strip()


def _environment(step: Step | None) -> dict[str, str]:
    """Neither the user's git settings nor those of a surrounding hook reach these commits."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _identity(step).items()}
    return {**kept, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}


def _identity(step: Step | None) -> dict[str, str]:
    identity = {"NAME": "Robin Gardener", "EMAIL": "robin@shop.example"}
    return identity if step is None else {**identity, "DATE": step.date}


def recreate(destination: Path) -> str:
    """What was done, as a sentence."""
    with tempfile.TemporaryDirectory() as temporary:
        fresh = Path(temporary) / "shop"
        fresh.mkdir()
        newest = build(fresh)
        if (destination / ".git").exists() and head(destination) == newest:
            return f"{destination} is there already, at {newest[:12]}; nothing was changed."
        if destination.exists() and any(destination.iterdir()):
            raise SystemExit(f"{destination} is not empty and is not this shop. Give another directory, or remove it.")
        shutil.copytree(fresh, destination, dirs_exist_ok=True)
    return f"{destination} now holds the shop: {len(STEPS)} commits, newest {newest[:12]}."


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        raise SystemExit("Give one directory to lay the shop out in: python recreate.py DEST")
    sys.stdout.write(recreate(Path(arguments[0])) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
