"""Two runs at once on one service: what each learned since it began, put together.

Beliefs are counts: what a run saw itself is added to what is kept by now, so that nothing is lost and nothing counted
twice. Everything else is a set by name. But for two recipes of one operation, and the contract, it makes no difference
which run ended first.
"""

import json
from collections.abc import Mapping
from typing import Any

from whet.skills.api.knowledge import Knowledge
from whet.skills.api.learning.failing import merge_failing
from whet.skills.api.learning.kept import FADING, MOST_ROWS
from whet.skills.api.learning.trail_kept import merge_trails
from whet.skills.api.oracles.causes import root

_RECIPES = 2  # per operation
_KINDS = "kinds"
Row = list[Any]


def combined(kept: Knowledge, before: Knowledge, mine: Knowledge) -> Knowledge:
    """`kept` by somebody else since this run read `before`; `mine` is what it would have kept alone."""
    return Knowledge(
        runs=kept.runs + 1,
        document=mine.document,
        beliefs=_beliefs(kept.beliefs, before.beliefs, mine.beliefs),
        recipes={name: _recipes(kept.recipes.get(name, []), mine.recipes.get(name, []))
                 for name in sorted({*kept.recipes, *mine.recipes})},
        hints={name: _hints(kept.hints.get(name, []), mine.hints.get(name, []))
               for name in sorted({*kept.hints, *mine.hints})},
        faults=_faults(kept, mine),
        trail=merge_trails(kept.trail, mine.trail),
        statuses={name: sorted({*kept.statuses.get(name, []), *mine.statuses.get(name, [])})
                  for name in sorted({*kept.statuses, *mine.statuses})},
        tried=_larger(kept.tried, mine.tried),
        failing=merge_failing(kept.failing, mine.failing),
        lockouts=sorted({*kept.lockouts, *mine.lockouts}),
    )  # fmt: skip


def _beliefs(kept: Mapping[str, Any], before: Mapping[str, Any], mine: Mapping[str, Any]) -> dict[str, Any]:
    tables = {
        name: _rows(kept.get(name, []), before.get(name, []), rows) for name, rows in mine.items() if name != _KINDS
    }
    return {**kept, **tables, _KINDS: _larger(kept.get(_KINDS, {}), mine.get(_KINDS, {}))}


def _rows(kept: list[Row], before: list[Row], mine: list[Row]) -> list[Row]:
    """[[key…], successes, failures] each."""
    total = {tuple(key): (won, lost) for key, won, lost in kept}
    known = {tuple(key): (FADING * won, FADING * lost) for key, won, lost in before}
    for key, won, lost in mine:
        name = tuple(key)
        old, there = known.get(name, (0.0, 0.0)), total.get(name, (0.0, 0.0))
        total[name] = (there[0] + max(0.0, won - old[0]), there[1] + max(0.0, lost - old[1]))
    strongest = sorted(total.items(), key=lambda one: (-sum(one[1]), one[0]))[:MOST_ROWS]
    return [[list(key), round(won, 3), round(lost, 3)] for key, (won, lost) in strongest]


def _larger(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Of counts that say little more than whether there were any: the larger of each."""
    return {
        name: {
            what: max(one.get(name, {}).get(what, 0), other.get(name, {}).get(what, 0))
            for what in sorted({*one.get(name, {}), *other.get(name, {})})
        }
        for name in sorted({*one, *other})
    }


def _recipes(kept: list[Any], mine: list[Any]) -> list[Any]:
    """One of each run, rather than two of the one that ended last."""
    others = [one for one in kept if one not in mine]
    return [*others[-1:], *mine][-_RECIPES:]


def _hints(kept: list[Any], mine: list[Any]) -> list[Any]:
    return sorted([*kept, *(one for one in mine if one not in kept)])


def _faults(kept: Knowledge, mine: Knowledge) -> tuple[Mapping[str, Any], ...]:
    """By cause, a confirmed one before one that is not. What one run took for fixed and the other did not, stays: the
    next run looks at it."""
    found: dict[str, Mapping[str, Any]] = {}
    for fault in (*kept.faults, *mine.faults):
        cause = root(fault["suspicion"]["cause"])
        found[cause] = min(found.get(cause, fault), fault, key=_unsure)
    return tuple(found[cause] for cause in sorted(found))


def _unsure(fault: Mapping[str, Any]) -> tuple[bool, str]:
    return not fault["confirmed"], json.dumps(fault, sort_keys=True)
