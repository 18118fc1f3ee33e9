"""Makes facts and procedures of episodes, re-checks those there are, and lets go of what is no longer so."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from whet.core.memories import Embedder, Kind, Memories, Memory, Wanted
from whet.memory.facts import fact_claims
from whet.memory.facts_claims import Claim
from whet.memory.procedures import procedure_claims
from whet.memory.remembering import keep

# What is further back than this says little about what is so now, and reading it takes long.
MOST_EPISODES = 20_000
_PAGE = 1000
_KEPT_AT_ONCE = 64


class LetGo(NamedTuple):
    memory: Memory
    why: str  # without content: the audit trail keeps it


class Consolidated(NamedTuple):
    made: tuple[Memory, ...] = ()
    confirmed: tuple[Memory, ...] = ()
    let_go: tuple[LetGo, ...] = ()
    doubted: tuple[Memory, ...] = ()  # no longer so, but pinned
    unchecked: tuple[Memory, ...] = ()  # the episodes that would tell are gone


def consolidate(memories: Memories, embedder: Embedder, project: str) -> Consolidated:
    """Doing it twice is doing it once. Killed on the way, the next time finishes it."""
    wanted = Wanted(project=project, kinds=(Kind.EPISODIC,))
    episodes = list(_newest(memories, wanted, MOST_EPISODES))
    asserted = Wanted(project=project, topics=("fact", "procedure"))
    known = {each.source: each for each in _newest(memories, asserted, MOST_EPISODES)}
    found = _without_pinned_since(memories, judged(project, episodes, known))
    changed = [each for each in (*found.made, *found.confirmed, *found.doubted) if each != known.get(each.source)]
    for start in range(0, len(changed), _KEPT_AT_ONCE):
        keep(memories, embedder, changed[start : start + _KEPT_AT_ONCE])
    if found.let_go:  # in one go: forgetting for good writes the store anew
        why = "; ".join(f"{gone.memory.id[:12]}: {gone.why}" for gone in found.let_go)
        memories.forget([gone.memory.id for gone in found.let_go], f"no longer so: {why}")
    return found


def _without_pinned_since(memories: Memories, found: Consolidated) -> Consolidated:
    """Somebody may have pinned a fact while the episodes were counted: it stays until it is judged again."""
    pinned = {each.id for each in memories.get([gone.memory.id for gone in found.let_go]) if each.pinned}
    return found._replace(let_go=tuple(gone for gone in found.let_go if gone.memory.id not in pinned))


def judged(project: str, episodes: Sequence[Memory], known: Mapping[str, Memory]) -> Consolidated:
    """What episodes make of the facts and procedures that are known, by source."""
    claims = {claim.source: claim for claim in (*fact_claims(episodes), *procedure_claims(episodes))}
    at = max((episode.at for episode in episodes), default=None)
    if at is None:
        return Consolidated(unchecked=tuple(known.values()))
    as_now = {source: _as_used(claim.memory(project, at), known.get(source)) for source, claim in claims.items()}
    said = [source for source, claim in claims.items() if claim.holds and (source in known or claim.worth_saying)]
    wrong = [source for source, claim in claims.items() if source in known and not claim.holds]
    return Consolidated(
        made=tuple(as_now[source] for source in said if source not in known),
        confirmed=tuple(as_now[source] for source in said if source in known),
        let_go=tuple(LetGo(known[s], _why(claims[s])) for s in wrong if not known[s].pinned),
        doubted=tuple(as_now[source] for source in wrong if known[source].pinned),
        unchecked=tuple(each for source, each in known.items() if source not in claims),
    )


def _as_used(memory: Memory, before: Memory | None) -> Memory:
    if before is None:
        return memory
    return memory.model_copy(update={"pinned": before.pinned, "used": before.used, "last_used": before.last_used})


def _why(claim: Claim) -> str:
    tally = claim.tally
    lately = f"it held {tally.support} of {tally.support + tally.against} times lately"
    return lately if tally.base is None else f"{lately}, and {tally.base:.0%} of the time without its condition"


def _newest(memories: Memories, wanted: Wanted, most: int) -> Iterable[Memory]:
    return {memory.id: memory for memory in _paged(memories, wanted, most)}.values()


def _paged(memories: Memories, wanted: Wanted, most: int) -> Iterator[Memory]:
    for offset in range(0, most, _PAGE):
        page = memories.newest(wanted, min(_PAGE, most - offset), offset)
        yield from page
        if len(page) < _PAGE:
            return
