"""What was earned here before, and in states like this one, as views of this place that what is seen soon weighs.

What this very state paid is worth as much as own visits, if it still holds. What an action pays in a state that is
only like others is the level of the state and its own part above or below that; both are the more like those of
another state, the more like the states are: a Gaussian process over states and actions (Krause and Ong, 2011), whose
memories grow old (Bogunovic et al., 2016). How large the parts are is told by the memories (empirical Bayes). Which of
this holds is weighed by `remembered_trust`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np

from whet.core.memories import Recalled
from whet.core.ports import Cell, Entry, Scope
from whet.core.records import Recollection
from whet.policies.beliefs import Beliefs, Vector, believe, together
from whet.policies.hierarchy import Hierarchy, Known, Place
from whet.policies.likeness import likeness
from whet.policies.remembered_groups import Group, aged, beyond, groups, noise_of, pooled, unit_of
from whet.policies.remembered_trust import LEVEL_POINTS, Seen, View, log_evidence, posterior

# Of a state's likeness, to the power of which it tells about another. Chosen on the worlds used for tuning.
SHARPNESS = 4
# Half of what is remembered is believed after so long.
HALF_LIFE = timedelta(days=90)
# How likely each guess is beforehand, as odds: that memories of this very state hold, that states like it tell, that
# other projects do, that nothing does. Chosen on the worlds used for tuning.
SAME, LIKE, FOREIGN, NOTHING = 8.0, 1.0, 0.2, 1.0
# By so much of the usual difference between actions it may be otherwise in a state that is only like those seen.
# Chosen on the worlds used for tuning.
DOUBT = 0.35
# Of the memories that counted, so many are named with the decision; less than this altogether is not counting.
NAMED, LEAST_TRUST = 10, 0.01


class Reminder:
    """What was recalled for one state, without what its own table knows already."""

    def __init__(
        self,
        known: Sequence[Known],
        state_key: str,
        recalled: Sequence[Recalled],
        elsewhere: Mapping[tuple[str, str], Entry] | None = None,
    ) -> None:
        """`elsewhere`: what the table holds of other states that are remembered, by state and action."""
        self.actions, self._known, self._here = [k.action for k in known], known, state_key
        self._tables = {(state_key, k.action): k.own for k in known if k.own is not None} | dict(elsewhere or {})
        found = groups(self.actions, recalled)
        self._beyond = beyond(found, self._tables)
        self._groups = [group for group in found if group.foreign or group.state_key != state_key]
        self._groups += [group for group in self._beyond if group.state_key == state_key]
        self._noise = noise_of([group.entry for group in self._groups])
        self._unit = unit_of(self._groups, self._noise)

    def __bool__(self) -> bool:
        return bool(self._groups)

    def remembered(self) -> set[str]:
        return {group.action for group in self._groups}

    def recollections(self, views: Sequence[View]) -> tuple[Recollection, ...]:
        """The memories that counted, most first, with their share of what was decided by."""
        trust = sum(view.weight for view in views if view.reminded)
        if trust < LEAST_TRUST:
            return ()
        counted = [each for group in self._groups for each in group.recalled]
        share = trust / sum(each.score for each in counted)
        most = sorted(counted, key=lambda each: (-each.score, each.memory.id))[:NAMED]
        return tuple(Recollection(memory=e.memory.id, why=e.why, weight=min(1.0, share * e.score)) for e in most)

    def views(self, alone: Beliefs, rate: float, expected: Beliefs | None = None) -> list[View]:
        """`alone`: what is believed without memories. `expected`: of each action, what it pays beyond the others
        wherever nothing is remembered; without it, what was borrowed says so."""
        guess, seen = expected or self._guess(), self._seen(self._here, self.actions)
        like, untried = self._like(guess), np.array([k.visits == 0 for k in self._known])
        views = [
            View(NOTHING, log_evidence(seen, guess, LEVEL_POINTS), alone, untried, reminded=False),
            View(self._odds(), log_evidence(seen, like, LEVEL_POINTS), self._alike_here(like, rate), untried),
        ]
        if lived := self._lived(self._here):
            new = untried & np.array([action not in lived for action in self.actions])
            before = believe([replace(k, own=lived.get(k.action)) for k in self._known], rate)
            foretold = log_evidence(seen, before) + self._foretold_elsewhere(rate)
            views.append(View(SAME, foretold, self._going_on(lived, rate), new))
        return posterior(views)

    def _odds(self) -> float:
        return FOREIGN if all(group.foreign for group in self._groups) else LIKE

    def _alike_here(self, like: Beliefs, rate: float) -> Beliefs:
        """Against what was seen here; how well this state pays, whatever is done, only what was seen here tells."""
        return together(like, self._known, rate, level_points=np.inf)

    def _going_on(self, lived: Mapping[str, Entry], rate: float) -> Beliefs:
        """As if the table went on from what this very state paid before."""
        own = [pooled(lived[k.action], k.own, rate) if k.action in lived else k.own for k in self._known]
        return believe([replace(k, own=each) for k, each in zip(self._known, own, strict=True)], rate)

    def _lived(self, state_key: str) -> dict[str, Entry]:
        """What is remembered of a state beyond its table."""
        mine = [group for group in self._beyond if group.state_key == state_key]
        return {group.action: aged(group.entry, group.score if state_key == self._here else 1.0) for group in mine}

    def _foretold_elsewhere(self, rate: float) -> float:
        """How much better memories of other states foretold what was then seen in these than nothing did: whether the
        project is still as it was is one question."""
        others = sorted({group.state_key for group in self._beyond} - {self._here})
        return sum(self._foretold(state, rate) for state in others)

    def _foretold(self, state_key: str, rate: float) -> float:
        lived = self._lived(state_key)
        seen = self._seen(state_key, list(lived))
        told = believe([Known(action, entry, None, "none") for action, entry in lived.items()], rate)
        guess = Beliefs(np.zeros(len(lived)), np.full(len(lived), self._unit))
        return log_evidence(seen, told) - log_evidence(seen, guess, LEVEL_POINTS)

    def _seen(self, state_key: str, actions: Sequence[str]) -> Seen:
        lived = self._lived(state_key)
        tried = [self._tables.get((state_key, action)) for action in actions]
        return Seen(
            np.array([own.mean if own is not None and own.visits else np.nan for own in tried]),
            np.array([self._error(own, lived.get(a)) for a, own in zip(actions, tried, strict=True)]),
        )

    def _error(self, own: Entry | None, before: Entry | None) -> float:
        """Variance of a group's mean, by what its visits and its memories show."""
        if own is None or not own.visits:
            return np.nan
        return noise_of([own] if before is None else [own, before], self._noise) / own.visits

    def _like(self, expected: Beliefs) -> Beliefs:
        """What states like this one paid, and this one may."""
        means, covariance = self._process(expected)
        count = len(means)
        if count == 1:
            return Beliefs(means, expected.errors)
        centred = np.eye(count) - 1.0 / count  # how well a state pays is common to all actions, and no doubt about any
        variances = np.diag(centred @ covariance @ centred) * count / (count - 1)
        return Beliefs(means, np.sqrt(np.maximum(variances, 0.0) + (DOUBT * self._unit) ** 2))

    def _guess(self) -> Beliefs:
        borrowed = [k.borrowed for k in self._known]
        lent = [value for value in borrowed if value is not None]
        centre = float(np.mean(lent)) if lent else 0.0
        means = np.array([0.0 if value is None else value - centre for value in borrowed])
        return Beliefs(means, np.full(len(means), self._unit))

    def _process(self, expected: Beliefs) -> tuple[Vector, Vector]:
        """Means of the actions here and their covariance."""
        found, place = self._groups, {action: number for number, action in enumerate(self.actions)}
        which = np.array([place[group.action] for group in found])
        alike, here = _alike(found), np.array([group.score for group in found])
        level, own = LEVEL_POINTS**2, np.diag(expected.errors**2)
        between = alike * (level + own[np.ix_(which, which)])
        seen = between + np.diag([self._noise / group.entry.visits for group in found])
        towards = here * (level + own[:, which])
        paid = np.array([group.entry.mean for group in found]) - expected.means[which]
        solved = np.linalg.solve(seen, np.column_stack([paid, np.ones(len(found)), towards.T]))
        centre = float((np.ones(len(found)) @ solved[:, 0]) / (np.ones(len(found)) @ solved[:, 1]))
        means = expected.means + centre + towards @ (solved[:, 0] - centre * solved[:, 1])
        return means, level + own - towards @ solved[:, 2:]


def reminded(hierarchy: Hierarchy, place: Place, known: Sequence[Known], recalled: Sequence[Recalled]) -> Reminder:
    """With what the agent's table holds of the other states that are remembered."""
    abouts = [each.memory.about for each in recalled]
    told = {(str(about.get("state_key")), str(about.get("action"))) for about in abouts}
    others = [Cell(Scope.INDIVIDUAL, hierarchy.agent, *each) for each in sorted(told) if each[0] != place.state_key]
    entries = hierarchy.tables.read(others) if others else {}
    elsewhere = {(cell.state_key, cell.action): entry for cell, entry in entries.items()}
    return Reminder(known, place.state_key, recalled, elsewhere)


def _alike(found: Sequence[Group]) -> Vector:
    """How much each tells of each other."""
    cues = {group.state_key: group.recalled[0].memory.found_by() for group in found}
    place = {state: number for number, state in enumerate(cues)}
    states = np.array([[_likeness(one, other, cues) for other in cues] for one in cues])
    which, at = [place[group.state_key] for group in found], np.array([group.at.timestamp() for group in found])
    apart = np.abs(at[:, None] - at[None, :]) / HALF_LIFE.total_seconds()
    return np.asarray(states[np.ix_(which, which)] ** SHARPNESS * 0.5**apart)


def _likeness(one: str, other: str, cues: Mapping[str, str]) -> float:
    return 1.0 if one == other else likeness(cues[one], cues[other])


def score(alike: float, apart: timedelta) -> float:
    """How much a state tells of another that is so like it, so long after."""
    return float(alike**SHARPNESS * 0.5 ** (apart / HALF_LIFE))
