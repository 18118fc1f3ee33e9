"""Which remembered failures are likely to have the cause of one: of a test's last one, or of one that is pasted."""

from collections.abc import Iterable
from datetime import datetime

from whet.bootstrap.remembering import FleetMemory
from whet.bootstrap.site import Site
from whet.core.errors import WhetError
from whet.core.memories import Memory, Recalled, Wanted
from whet.core.sheets import FAILURES
from whet.core.text import printable
from whet.memory import failures_turning
from whet.memory.failures_likeness import LITTLE
from whet.memory.failures_triage import failure_of
from whet.memory.masking import masked
from whet.memory.remembering import keep
from whet.memory.remembering_failures import followed
from whet.memory.remembering_texts import subjects
from whet.tools.process import Limits
from whet.tools.turning import turns

_LOOKED_AT = 50
# Followed beside the one that is asked about, in the same runs.
_MOST_BESIDE = 20


def last_failure(memory: FleetMemory, test: str) -> Memory:
    known = failures_of(memory, test)
    if not known:
        raise WhetError(
            f"No failure of {printable(test, 200)!r} is remembered.",
            "Let it fail under `pytest --whet` or `whet run`, or give a file that holds what pytest printed.",
        )
    return max(known, key=_met)


def follow(site: Site, memory: FleetMemory, failure: Memory, test: str, passed_at: str, seconds: float) -> Memory:
    """The failure, with where it first goes another way than at a commit where it passed; remembered from now on.

    Others that failed in the last run are followed beside it and remembered, too: a turn says something only where
    the failures it is compared with have theirs.
    """
    limits = Limits(timeout_seconds=seconds, memory_mb=site.settings.limits.memory_mb)
    failures = {test: failure, **_failed_beside(memory, test)}
    told = turns(site.project, site.python, list(failures), passed_at, limits)
    measured = {name: failures_turning.measured(found) for name, found in told.items()}
    if measured[test] is None:
        raise WhetError(f"{test} runs for longer than it can be followed.", "Ask by its text alone: --by-text")
    version = site.project.code_version()
    known = {name: followed(failures[name], turn, version) for name, turn in measured.items() if turn is not None}
    keep(memory.memories, memory.embedder, list(known.values()))
    return known[test]


def _failed_beside(memory: FleetMemory, test: str) -> dict[str, Memory]:
    """Remembered failures of the last run, by test."""
    last = memory.store.sheets.latest()
    pairs = () if last is None else zip(last.tests, last.outcomes, strict=True)
    failed = [name for name, outcome in pairs if outcome in FAILURES and name != test][:_MOST_BESIDE]
    remembered = ((name, failures_of(memory, name)) for name in failed)
    return {name: max(known, key=_met) for name, known in remembered if known}


def failures_of(memory: FleetMemory, test: str) -> list[Memory]:
    wanted = Wanted(project=memory.project, topics=("failure",))
    found = memory.memories.sharing(wanted, subjects(f"test:{test}"), _LOOKED_AT)
    return [near.memory for near in found if near.memory.about.get("test") == masked(test)]


def _met(failure: Memory) -> datetime:
    return failure.at


def same_cause(memory: FleetMemory, failure: Memory, limit: int) -> list[Recalled]:
    """Without itself, and without what has little in common with it."""
    read = failure_of(failure)
    found = memory.triage.same_cause(
        memory.project, read.test, failure.text, read.diverged, read.turned, limit=limit + 1
    )
    return _alike(each for each in found if each.memory.id != failure.id)[:limit]


def same_cause_as_text(memory: FleetMemory, text: str, limit: int) -> list[Recalled]:
    return _alike(memory.triage.same_cause(memory.project, "", masked(text), limit=limit))


def _alike(found: Iterable[Recalled]) -> list[Recalled]:
    return [each for each in found if each.why != LITTLE]
