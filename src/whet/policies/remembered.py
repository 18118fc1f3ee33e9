"""What states like this one earned before, as beliefs about this one: a prior that what is seen here soon overrules.

What an action pays is the level of its state and its own part above or below that; both are the more like those of
another state, the more like the states are: a Gaussian process over states and actions (Krause and Ong, 2011), whose
memories grow old (Bogunovic et al., 2016). How large the parts are is told by the memories (empirical Bayes).
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from whet.core.memories import Recalled
from whet.core.ports import LARGEST_Q_VALUE
from whet.core.records import Recollection
from whet.policies.beliefs import PRIOR_DEGREES, PRIOR_SPREAD, Beliefs, Vector, believe, together
from whet.policies.hierarchy import Known
from whet.policies.likeness import likeness

# Of a state's likeness, to the power of which it tells about another. Chosen on the worlds used for tuning.
SHARPNESS = 4
# Half of what is remembered is believed after so long.
HALF_LIFE = timedelta(days=90)
# How far states differ in what they pay whatever is done, in reward points; it only has to be large.
LEVEL_POINTS = 20.0
# All memories of an action are worth so many observations at most.
MOST_OBSERVATIONS = 4.0
# By so much of the usual difference between actions it may be otherwise here, however often it was seen: else what is
# remembered as bad would never be tried again. More so where it was seen in states that are only like this one. Chosen
# on the worlds used for tuning.
DOUBT_HERE, DOUBT_ELSEWHERE = 0.35, 1.0
# What is less like tells nothing.
LEAST_LIKENESS = 0.01
# Of the memories that counted, so many are named with the decision.
NAMED = 10


@dataclass(frozen=True)
class _Cell:
    """Memories of one action in one state."""

    action: str
    state_key: str
    recalled: tuple[Recalled, ...]
    rewards: Vector

    @property
    def score(self) -> float:
        return max(each.score for each in self.recalled)

    @property
    def at(self) -> datetime:
        return max(each.memory.at for each in self.recalled)


class Reminder:
    """What was recalled for one state, without what its own table knows already."""

    def __init__(self, known: Sequence[Known], state_key: str, recalled: Sequence[Recalled]) -> None:
        self.actions, self._borrowed = [k.action for k in known], [k.borrowed for k in known]
        self._cells, self._here = _cells(known, state_key, recalled), state_key

    def __bool__(self) -> bool:
        return bool(self._cells)

    def remembered(self) -> set[str]:
        return {cell.action for cell in self._cells}

    def beliefs(self, expected: Beliefs | None = None) -> Beliefs:
        """Of each action. `expected`: of each, what it pays beyond the others wherever nothing is remembered; without
        it, what was borrowed says so."""
        expected, noise = expected or self._guess(), _noise(self._cells)
        means, covariance = self._posterior(expected, noise)
        count = len(means)
        if count == 1:
            return Beliefs(means, expected.errors)
        centred = np.eye(count) - 1.0 / count  # how well a state pays is common to all actions, and no doubt about any
        variances = np.diag(centred @ covariance @ centred) * count / (count - 1)
        return Beliefs(means, np.sqrt(np.maximum(variances, 0.0) + self._doubt(noise)))

    def _doubt(self, noise: float) -> Vector:
        """Of each action, as a variance."""
        seen_here = {cell.action for cell in self._cells if cell.state_key == self._here}
        shares = [DOUBT_HERE if action in seen_here else DOUBT_ELSEWHERE for action in self.actions]
        return np.maximum(noise / MOST_OBSERVATIONS, np.square(np.array(shares) * _unit(self._cells)))

    def recollections(self) -> tuple[Recollection, ...]:
        """The memories that counted, most first, with their share of all that did."""
        counted = [each for cell in self._cells for each in cell.recalled]
        whole = sum(each.score for each in counted)
        most = sorted(counted, key=lambda each: (-each.score, each.memory.id))[:NAMED]
        return tuple(Recollection(memory=e.memory.id, why=e.why, weight=min(1.0, e.score / whole)) for e in most)

    def _guess(self) -> Beliefs:
        lent = [value for value in self._borrowed if value is not None]
        centre = float(np.mean(lent)) if lent else 0.0
        means = np.array([0.0 if value is None else value - centre for value in self._borrowed])
        return Beliefs(means, np.full(len(means), _unit(self._cells)))

    def _posterior(self, expected: Beliefs, noise: float) -> tuple[Vector, Vector]:
        cells, place = self._cells, {action: number for number, action in enumerate(self.actions)}
        which = np.array([place[cell.action] for cell in cells])
        alike, here = _alike(cells), np.array([cell.score for cell in cells])
        level, own = LEVEL_POINTS**2, np.diag(expected.errors**2)
        between = alike * (level + own[np.ix_(which, which)])
        seen = between + np.diag([noise / len(cell.rewards) for cell in cells])
        towards = here * (level + own[:, which])
        paid = np.array([cell.rewards.mean() for cell in cells]) - expected.means[which]
        solved = np.linalg.solve(seen, np.column_stack([paid, np.ones(len(cells)), towards.T]))
        centre = float((np.ones(len(cells)) @ solved[:, 0]) / (np.ones(len(cells)) @ solved[:, 1]))
        means = expected.means + centre + towards @ (solved[:, 0] - centre * solved[:, 1])
        return means, level + own - towards @ solved[:, 2:]


def weighed(remembered: Beliefs, known: Sequence[Known], rate: float) -> Beliefs:
    """Against what was seen here; how well this state pays, whatever is done, only what was seen here tells."""
    return together(doubted(remembered, known, rate), known, rate, level_points=math.inf)


def doubted(learned: Beliefs, known: Sequence[Known], rate: float) -> Beliefs:
    """Memories that were wrong about what was tried here are doubted about the rest: their errors grow as much as what
    was seen lies further off than they allow for, beyond a level that all actions share."""
    visited = np.array([k.visits > 0 for k in known])
    if visited.sum() < 2:
        return learned
    own = believe(known, rate)
    weights = visited / (learned.errors**2 + own.errors**2)
    apart = own.means - learned.means
    apart -= (weights * apart).sum() / weights.sum()
    surprise = float((weights * apart**2).sum() / (visited.sum() - 1))
    return Beliefs(learned.means, learned.errors * np.sqrt(max(1.0, surprise)))


def _cells(known: Sequence[Known], state_key: str, recalled: Sequence[Recalled]) -> list[_Cell]:
    visits = {k.action: k.visits for k in known}
    found: dict[tuple[str, str], list[Recalled]] = defaultdict(list)
    for each in recalled:
        action, state = each.memory.about.get("action"), each.memory.about.get("state_key")
        told = isinstance(state, str) and reward_of(each) is not None and each.score >= LEAST_LIKENESS
        if told and action in visits:
            found[str(action), str(state)].append(each)
    kept = {
        (action, state): _not_in_table(mine, visits[action]) if state == state_key else mine
        for (action, state), mine in found.items()
    }
    return [
        _Cell(a, s, tuple(mine), np.array([reward_of(each) for each in mine])) for (a, s), mine in kept.items() if mine
    ]


def _not_in_table(recalled: Sequence[Recalled], visits: int) -> list[Recalled]:
    """Every visit of the table's cell may be remembered too, and is counted already. What was lived here has a position
    in the stream; of those the newest are what the table knows, others are from before it was wiped."""
    lived = [each for each in recalled if isinstance(each.memory.about.get("position"), int)]
    newest = sorted(lived, key=lambda each: (each.memory.at, each.memory.id), reverse=True)[:visits]
    known = {each.memory.id for each in newest}
    return [each for each in recalled if each.memory.id not in known]


def _alike(cells: Sequence[_Cell]) -> Vector:
    return np.array([[_between(one, other) for other in cells] for one in cells])


def _between(one: _Cell, other: _Cell) -> float:
    mine, theirs = one.recalled[0].memory, other.recalled[0].memory
    alike = 1.0 if one.state_key == other.state_key else likeness(mine.found_by(), theirs.found_by())
    return score(alike, abs(one.at - other.at))


def score(alike: float, apart: timedelta) -> float:
    """How much a state tells of another that is so like it, so long after."""
    return float(alike**SHARPNESS * 0.5 ** (apart / HALF_LIFE))


def _noise(cells: Sequence[_Cell]) -> float:
    """Variance of single rewards, pooled over all memories; half the prior until measured."""
    squares = sum(float(np.square(cell.rewards - cell.rewards.mean()).sum()) for cell in cells)
    degrees = sum(len(cell.rewards) - 1 for cell in cells)
    return (squares + PRIOR_DEGREES * (PRIOR_SPREAD / 2) ** 2) / (degrees + PRIOR_DEGREES)


def _unit(cells: Sequence[_Cell]) -> float:
    """The usual size of the differences between actions of a state, in reward points."""
    states: dict[str, list[float]] = defaultdict(list)
    for cell in cells:
        states[cell.state_key].append(float(cell.rewards.mean()))
    squares = sum(float(np.square(np.array(means) - np.mean(means)).sum()) for means in states.values())
    degrees = sum(len(means) - 1 for means in states.values())
    return float(np.sqrt((squares + PRIOR_DEGREES * PRIOR_SPREAD**2) / (degrees + PRIOR_DEGREES)))


def reward_of(recalled: Recalled) -> float | None:
    """Memories may be imported: what is no reward is none."""
    value = recalled.memory.about.get("reward")
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST_Q_VALUE:
        return None
    return float(value)
