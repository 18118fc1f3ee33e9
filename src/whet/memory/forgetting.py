"""Keeps memory within its bound: what matters little, is old and was never of use goes first."""

import heapq
import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from whet.core.memories import Kind, Memories, Outline

# Without any use, half of a memory's worth is gone after so many days.
HALF_LIFE_DAYS = 60.0
# Forgetting for good writes the store anew, so there is some room before it has to be done again.
_ROOM = 0.95
_DAY_SECONDS = 86400.0


class Bound(NamedTuple):
    keep: int
    keep_days: float


class Leaving(NamedTuple):
    outdated: list[str]  # neither made, confirmed nor used for `keep_days`
    crowded_out: list[str]


def worth(outline: Outline, now: datetime) -> float:
    """Importance that fades with age; every doubling of use makes it fade more slowly."""
    half_life = HALF_LIFE_DAYS * (1.0 + math.log2(1 + outline.used))
    return outline.importance * math.exp2(-_idle_days(outline, now) / half_life)


def leaving(outlines: Iterable[Outline], now: datetime, bound: Bound) -> Leaving:
    """Pinned ones stay whatever happens. Facts and procedures leave by age alone: consolidating re-checks them, and
    brings those that still hold up to date. They and the pinned ones count towards the bound."""
    outdated: list[str] = []
    episodes: list[tuple[float, datetime, str]] = []
    staying = 0
    for each in outlines:
        if not each.pinned and _idle_days(each, now) > bound.keep_days:
            outdated.append(each.id)
        elif each.pinned or each.kind is not Kind.EPISODIC:
            staying += 1
        else:
            episodes.append((worth(each, now), each.at, each.id))
    over = staying + len(episodes) > bound.keep
    too_many = len(episodes) - max(0, int(_ROOM * bound.keep) - staying) if over else 0
    return Leaving(sorted(outdated), [leaves for _, _, leaves in heapq.nsmallest(too_many, episodes)])


def forget(memories: Memories, project: str, now: datetime, bound: Bound) -> Leaving:
    gone = leaving(memories.outlines(project), now, bound)
    if any(gone):
        pinned = {each.id for each in memories.outlines(project) if each.pinned}  # by somebody, a moment ago
        gone = Leaving(*([each for each in ids if each not in pinned] for ids in gone))
    if any(gone):
        why = f"{len(gone.outdated):,} were not used for too long, {len(gone.crowded_out):,} were worth least"
        memories.forget([*gone.outdated, *gone.crowded_out], why)
    return gone


def older_than(outlines: Iterable[Outline], now: datetime, days: float) -> list[str]:
    """Made longer ago than that; pinned ones stay."""
    limit = now - timedelta(days=days)
    return [each.id for each in outlines if each.at < limit and not each.pinned]


def _idle_days(outline: Outline, now: datetime) -> float:
    """A clock that went back makes nothing younger than new."""
    newest = outline.at if outline.last_used is None else max(outline.at, outline.last_used)
    return max(0.0, (now - newest).total_seconds() / _DAY_SECONDS)
