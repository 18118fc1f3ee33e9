"""Policies over hierarchical Q-tables: Thompson sampling and ε-greedy."""

import hashlib
from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np

from whet.core.memories import Recalled
from whet.core.ports import Choice
from whet.core.records import Action, Alternative, State
from whet.policies.beliefs import Beliefs, Vector, believe
from whet.policies.confidence import Calibration, calibration_of
from whet.policies.exploration import Schedule
from whet.policies.hierarchy import Hierarchy, Known, Place
from whet.policies.posterior import best_probabilities, good_enough_probabilities
from whet.policies.remembered import Reminder, reminded
from whet.policies.remembered_trust import View, averaged, mixed
from whet.policies.static import require_actions


class Exploration(Protocol):
    """Turns beliefs into the probability of each action. What it says is what is drawn from."""

    name: str

    def probabilities(self, beliefs: Beliefs) -> Vector: ...


class Thompson:
    """Each action as often as it is likely to be the best."""

    name = "thompson"

    def probabilities(self, beliefs: Beliefs) -> Vector:
        return best_probabilities(beliefs)


class EpsilonGreedy:
    """The best with 1 − ε (ties share it), any with ε."""

    name = "epsilon-greedy"

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule

    def probabilities(self, beliefs: Beliefs) -> Vector:
        epsilon, count = self.schedule.epsilon, len(beliefs.means)
        best = beliefs.means == beliefs.means.max()
        return np.asarray(epsilon / count + (1.0 - epsilon) * best / best.sum())


class TabularPolicy:
    """Recall, believe, draw. Never learns: a learner changes the tables it reads."""

    def __init__(
        self,
        hierarchy: Hierarchy,
        exploration: Exploration,
        rate: float,
        rng: np.random.Generator,
        calibration: Calibration | None = None,
    ) -> None:
        self.hierarchy, self.exploration, self.rate, self.rng = hierarchy, exploration, rate, rng
        self.calibration = calibration or calibration_of(exploration.name)

    @property
    def name(self) -> str:
        return f"tabular-{self.exploration.name}"

    def beliefs(self, known: Sequence[Known]) -> Beliefs:
        return believe(known, self.rate)

    def views(self, known: Sequence[Known], reminder: Reminder) -> list[View]:
        """What may be believed, with its weight: one view, unless something is remembered."""
        alone = self.beliefs(known)
        if not reminder:
            return [View(1.0, 0.0, alone, np.array([k.visits == 0 for k in known]), reminded=False)]
        return reminder.views(alone, self.rate)

    def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
        require_actions(allowed)
        place = Place.of(state)
        known = self.hierarchy.recall(place, allowed)
        reminder = reminded(self.hierarchy, place, known, recalled)
        views = self.views(known, reminder)
        beliefs = averaged(views)
        probabilities = mixed(views, lambda view: self.exploration.probabilities(view.beliefs))
        sure = mixed(views, lambda view: self.calibration(good_enough_probabilities(view.beliefs), view.untried))
        drawn = int(self.rng.choice(len(allowed), p=probabilities))
        return Choice(
            action=allowed[drawn].name,
            explored=bool(beliefs.means[drawn] < beliefs.means.max()),
            version=_version(self.name, known, beliefs, probabilities),
            alternatives=_alternatives(known, reminder.remembered(), beliefs, probabilities, sure),
            memories=reminder.recollections(views),
        )


def _alternatives(
    known: Sequence[Known], remembered: Collection[str], beliefs: Beliefs, probabilities: Vector, sure: Vector
) -> tuple[Alternative, ...]:
    return tuple(
        Alternative(
            action=k.action,
            value=None if k.value is None and k.action not in remembered else float(beliefs.means[i]),
            uncertainty=float(beliefs.errors[i]),
            visits=k.visits,
            source="memory" if k.action in remembered and not k.visits else k.source,
            probability=min(1.0, float(probabilities[i])),
            confidence=min(1.0, float(sure[i])),
        )
        for i, k in enumerate(known)
    )


def _version(name: str, known: Sequence[Known], beliefs: Beliefs, probabilities: Vector) -> str:
    """A digest of everything the choice was made from."""
    text = repr([[k.action for k in known], *(v.tolist() for v in (beliefs.means, beliefs.errors, probabilities))])
    return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
