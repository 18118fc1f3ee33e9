"""One run of a suite as a memory: what had changed, and what failed. What facts about changes are counted from."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from whet.core.keys import Atom
from whet.core.memories import Kind, Memory
from whet.memory.masking import masked
from whet.memory.remembering_texts import fitting, subjects

# A larger change, and a run that fails more widely, say nothing about single files and tests.
MOST_CHANGED = 50
MOST_FAILED = 100
_NAMED, _TOLD = 10, 5
_QUIET, _RED = 0.1, 0.4


class SuiteEpisode(NamedTuple):
    run_id: str
    at: datetime
    tests: int
    failed: Sequence[str]
    changed: Sequence[str] | None  # None: not known
    base: str | None  # the commit that the change is counted from
    code_version: str | None
    complete: bool  # nothing was left out


def run_memory(project: str, run: SuiteEpisode) -> Memory:
    about: dict[str, Atom] = {
        "run_id": run.run_id,
        "tests": run.tests,
        "failed": len(run.failed),
        "failed_tests": _listed(run.failed, MOST_FAILED),
        "changed": None if run.changed is None else _listed(run.changed, MOST_CHANGED),
        "base": run.base,
        "code_version": run.code_version,
        "complete": run.complete,
    }
    files = sorted({test.partition("::")[0] for test in run.failed})
    named = [f"changed:{file}" for file in (run.changed or ())[:_NAMED]]
    return Memory(
        project=project,
        kind=Kind.EPISODIC,
        topic="experience",
        source=f"run:{run.run_id}",
        text=fitting(_told(run)),
        subjects=subjects(f"run:{run.run_id}", *named, *(f"file:{file}" for file in files[:_NAMED])),
        about=about,
        importance=_RED if run.failed else _QUIET,
        at=run.at,
    )


def listed(about: Atom) -> tuple[str, ...]:
    """The names that an entry of `about` holds."""
    return tuple(about.split("\n")) if isinstance(about, str) and about else ()


def _listed(names: Sequence[str], most: int) -> str | None:
    if len(names) > most:
        return None
    return "\n".join(sorted({masked(name).replace("\n", " ") for name in names}))


def _told(run: SuiteEpisode) -> str:
    failed = f"{len(run.failed):,} failed: {_some(run.failed)}" if run.failed else "nothing failed"
    changed = "What had changed is not known" if run.changed is None else f"Changed: {_some(run.changed) or 'nothing'}"
    return f"A run of {run.tests:,} tests; {failed}. {changed}."


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _TOLD:,} more" if len(names) > _TOLD else ""
    return ", ".join(names[:_TOLD]) + more
