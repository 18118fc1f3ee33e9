"""Runs of a suite, remembered as they end. Needs little, because `pytest --whet` waits for it."""

from collections.abc import Sequence
from typing import NamedTuple

from whet.bootstrap.site import Site
from whet.core.ports import Store
from whet.core.sheets import FAILURES, LEFT_OUT, Sheet
from whet.memory.embedding import HashedEmbedder
from whet.memory.remembering import keep, met_again
from whet.memory.remembering_failures import failure_memory
from whet.memory.remembering_runs import SuiteEpisode, run_memory
from whet.tools import git


class Failure(NamedTuple):
    test: str
    text: str  # as it was said; masked before it is kept


class Changed(NamedTuple):
    base: str
    files: Sequence[str]


def changed_by(work: git.Changes | None) -> Changed | None:
    """Where everything is new, that says nothing about single files."""
    return None if work is None or work.from_nothing else Changed(work.base, list(work.files))


def remember_run(
    site: Site, store: Store, sheet: Sheet, changed: Changed | None, failures: Sequence[Failure] = ()
) -> int:
    """What a run of the suite showed. Placed by words alone, which takes no time; the model's place comes later, with
    the next visit or question."""
    if not site.settings.memory.enabled:
        return 0
    project, memories = site.name, store.memories
    failed = [test for test, outcome in zip(sheet.tests, sheet.outcomes, strict=True) if outcome in FAILURES]
    episode = SuiteEpisode(
        run_id=sheet.id,
        at=sheet.at,
        tests=sum(outcome != LEFT_OUT for outcome in sheet.outcomes),
        failed=failed,
        changed=None if changed is None else sorted(changed.files),
        base=None if changed is None else changed.base,
        code_version=sheet.code_version,
        complete=sheet.complete,
    )
    told = [
        failure_memory(project, each.test, each.text, at=sheet.at, run_id=sheet.id, code_version=sheet.code_version)
        for each in failures[: site.settings.memory.failures]
    ]
    known = {each.id: each for each in memories.get([each.id for each in told])}
    again = [counted for each in told if (counted := met_again(known.get(each.id), each)) is not None]
    return keep(memories, HashedEmbedder(), [run_memory(project, episode), *again])
