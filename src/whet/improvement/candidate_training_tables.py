"""The tables of a candidate: what every experience taught, each counted once.

The parent's tables hold the exact means of everything it ever learned from, so that old tasks are kept even when their
experiences are gone. Where all of those are still at hand, everything is learned anew instead, so that what follows a
decision is valued by what is known now, not by what was known then.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from whet.agents.catalogue import AnyAgent
from whet.core.errors import RefusedInput
from whet.core.ports import Cell, Entry, Scope
from whet.core.records import Experience
from whet.policies import snapshot
from whet.policies.hierarchy import FLEET, Hierarchy, Place
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner, Rates, surprise

LEARNED = "learned.npy"
# Values of decisions that lead to others settle geometrically, by the discount; this is in reward points.
SETTLED = 0.01
MOST_SWEEPS = 300
_ROWS = 100
Row = Mapping[str, float]
Keys = npt.NDArray[np.uint64]


class Learned(NamedTuple):
    metrics: Mapping[str, float]
    rows: Sequence[Row]


class _Lessons(NamedTuple):
    """What is learned now, on top of `base`; `keys` is all that the tables will have learned from."""

    base: InProcessTables
    experiences: Sequence[Experience]
    keys: Keys


def learn_tables(
    agent: AnyAgent,
    rate: float,
    discount: float,
    batch: Sequence[Experience],
    before: Sequence[Experience],
    parent: Path | None,
    out: Path,
) -> Learned:
    lessons = _lessons(agent.name, batch, before, parent)
    actions = {action.name: action for action in agent.actions}
    rates = Rates(learning=rate, category=rate, fleet=rate / 2, discount=discount)
    chained = any(not each.done for each in lessons.experiences)
    tables, sweeps, change = lessons.base, 0, math.inf
    while change > SETTLED and sweeps < MOST_SWEEPS:
        values = QLearner(Hierarchy(agent.name, agent.category, tables), actions, rates)
        after = _copied(lessons.base, agent)
        rows = _sweep(values, after, lessons.experiences)
        change = _change(tables, after, agent.name) if chained else 0.0
        tables, sweeps = after, sweeps + 1
    snapshot.save(out, tables, agent.name, agent.category)
    np.save(out / LEARNED, lessons.keys, allow_pickle=False)
    return Learned(_metrics(lessons, batch, tables, agent.name, sweeps, change), rows)


def _lessons(agent: str, batch: Sequence[Experience], before: Sequence[Experience], parent: Path | None) -> _Lessons:
    at_hand = {experience.key: experience for experience in (*before, *batch)}
    names = np.array([_number(key) for key in at_hand], dtype=np.uint64)
    known = _learned(parent / LEARNED) if parent is not None else np.array([], dtype=np.uint64)
    everything = np.union1d(known, names)
    if parent is None or len(everything) == len(names):
        return _Lessons(InProcessTables(), list(at_hand.values()), everything)
    new = ~np.isin(names, known)
    fresh = [each for each, is_new in zip(at_hand.values(), new, strict=True) if is_new]
    return _Lessons(snapshot.opened(parent, agent), fresh, everything)


def _sweep(values: QLearner, tables: InProcessTables, experiences: Sequence[Experience]) -> list[Row]:
    """Once through all of it, with next decisions valued as they were after the sweep before."""
    every, rows, seen = max(1, math.ceil(len(experiences) / _ROWS)), [], []
    for number, each in enumerate(experiences, start=1):
        place = Place(each.state_key, each.category_key, each.fleet_key)
        target, rate = values.target(each), values.rates.learning
        lesson = values.lesson_at(place, each.decision.action, each.kind, target, rate, averaged=True)
        seen.append((each.reward.credited, target, surprise(tables, lesson)))
        tables.learn(lesson)
        if number % every == 0 or number == len(experiences):
            means = np.mean(seen, axis=0)
            rows.append(dict(zip(("episode_reward", "q_value", "td_error"), map(float, means), strict=True)))
            rows[-1]["step"] = float(number)
            seen = []
    return list(rows)


def _copied(base: InProcessTables, agent: AnyAgent) -> InProcessTables:
    tables = InProcessTables()
    for scope, owner in ((Scope.INDIVIDUAL, agent.name), (Scope.CATEGORY, agent.category), (Scope.FLEET, FLEET)):
        tables.restore(scope, owner, base.rows(scope, owner))
    return tables


def _change(before: InProcessTables, after: InProcessTables, agent: str) -> float:
    old, new = before.rows(Scope.INDIVIDUAL, agent), after.rows(Scope.INDIVIDUAL, agent)
    return max((abs(entry.q_value - _value(old, cell)) for cell, entry in new.items()), default=0.0)


def _value(rows: Mapping[Cell, Entry], cell: Cell) -> float:
    entry = rows.get(cell)
    return math.inf if entry is None else entry.q_value


def _metrics(
    lessons: _Lessons, batch: Sequence[Experience], tables: InProcessTables, agent: str, sweeps: int, change: float
) -> Mapping[str, float]:
    return {
        "experiences": float(len(batch)),
        "learned_from": float(len(lessons.keys)),
        "cells": float(len(tables.rows(Scope.INDIVIDUAL, agent))),
        "batch_reward": float(np.mean([each.reward.credited for each in batch])),
        "sweeps": float(sweeps),
        "last_change": change,
    }


def _number(key: str) -> int:
    """Of 64 bits: among a million keys two have the same with a chance of 3 in 100 million."""
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _learned(path: Path) -> Keys:
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise RefusedInput(f"{path} does not say what the candidate learned from: {error}.", "Train anew.") from error
    if found.dtype != np.uint64 or found.ndim != 1:
        raise RefusedInput(f"{path} does not hold keys of experiences.", "Train anew, without this parent.")
    return np.asarray(found, dtype=np.uint64)
