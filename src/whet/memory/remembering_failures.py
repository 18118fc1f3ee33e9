"""A failing test as a memory: the same test failing in the same way is the same memory."""

import re
from datetime import datetime

from whet.core.keys import state_key
from whet.core.memories import Kind, Memory
from whet.memory import failures_turning
from whet.memory.failures import Turn, remembered_failure
from whet.memory.masking import masked
from whet.memory.remembering_texts import cut, subjects

IMPORTANCE = 0.7
_ESSENCE = 200
# Addresses, times and counts differ from run to run; the failure is the same.
_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+")


def failure_memory(
    project: str,
    test: str,
    text: str,
    *,
    at: datetime,
    run_id: str,
    file: str | None = None,
    code_version: str | None = None,
) -> Memory:
    """`text` is what the test said when it failed, whole: it is masked here, before it is cut."""
    name, said = masked(test), masked(text)
    place, found = file or test.partition("::")[0], remembered_failure(name, said)
    essence = _essence(said)
    return Memory(
        project=project,
        kind=Kind.EPISODIC,
        topic="failure",
        source=f"failure:{state_key((name, _NUMBERS.sub('#', essence)))}",
        text=cut(f"{name} failed: {essence}\n{said}"),
        cue=cut(found.cue),
        subjects=subjects(*found.subjects, f"file:{place}"),
        about={"run_id": run_id, "test": name, "file": masked(place), "code_version": code_version},
        importance=IMPORTANCE,
        at=at,
    )


def followed(failure: Memory, turn: Turn, code_version: str) -> Memory:
    """With where it first went another way than when it passed, on this code."""
    about = {**failure.about, "turned": masked(failures_turning.told(turn)), "followed": code_version}
    named = subjects(f"turned:{turn.place}", *failure.subjects) if turn.place else failure.subjects
    return failure.model_copy(update={"about": about, "subjects": named})


def _essence(said: str) -> str:
    """What pytest marks with E first; the end of a plain traceback; else what was said first. So whoever saw the whole
    traceback and whoever saw the message alone agree."""
    lines = [line.strip() for line in said.splitlines() if line.strip()] or ["nothing was said"]
    marked = [line[1:].strip() for line in lines if line.startswith("E ")]
    plain = lines[-1:] if any(line.startswith("Traceback ") for line in lines) else lines[:1]
    return (marked or plain)[0][:_ESSENCE]
