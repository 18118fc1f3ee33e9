"""Which remembered failures are likely to have the cause of one: of a test's last one, or of one that is pasted."""

from whet.bootstrap.remembering import FleetMemory
from whet.bootstrap.site import Site
from whet.core.errors import WhetError
from whet.core.memories import Memory, Recalled, Wanted
from whet.core.text import printable
from whet.memory import failures_turning
from whet.memory.failures_triage import failure_of
from whet.memory.masking import masked
from whet.memory.remembering import keep
from whet.memory.remembering_texts import subjects
from whet.tools.process import Limits
from whet.tools.turning import turn

_LOOKED_AT = 50


def last_failure(memory: FleetMemory, test: str) -> Memory:
    wanted = Wanted(project=memory.project, topics=("failure",))
    found = memory.memories.sharing(wanted, subjects(f"test:{test}"), _LOOKED_AT)
    known = [near.memory for near in found if near.memory.about.get("test") == masked(test)]
    if not known:
        raise WhetError(
            f"No failure of {printable(test, 200)!r} is remembered.",
            "Let it fail under `pytest --whet` or `whet run`, or give a file that holds what pytest printed.",
        )
    return max(known, key=lambda each: each.at)


def follow(site: Site, memory: FleetMemory, failure: Memory, test: str, passed_at: str, seconds: float) -> Memory:
    """The failure, with where it first goes another way than at a commit where it passed; remembered from now on."""
    limits = Limits(timeout_seconds=seconds, memory_mb=site.settings.limits.memory_mb)
    turned = failures_turning.measured(turn(site.project, site.python, test, passed_at, limits))
    if turned is None:
        raise WhetError(f"{test} runs for longer than it can be followed.", "Ask without --passed-at.")
    about = {**failure.about, "turned": masked(failures_turning.told(turned))}
    named = subjects(f"turned:{turned.place}", *failure.subjects) if turned.place else failure.subjects
    followed = failure.model_copy(update={"about": about, "subjects": named})
    keep(memory.memories, memory.embedder, [followed])
    return followed


def same_cause(memory: FleetMemory, failure: Memory, limit: int) -> list[Recalled]:
    """Without itself."""
    read = failure_of(failure)
    found = memory.triage.same_cause(
        memory.project, read.test, failure.text, read.diverged, read.turned, limit=limit + 1
    )
    return [each for each in found if each.memory.id != failure.id][:limit]


def same_cause_as_text(memory: FleetMemory, text: str, limit: int) -> list[Recalled]:
    return memory.triage.same_cause(memory.project, "", masked(text), limit=limit)
