"""What acts is apart from what learns: this turns experiences into lessons for the tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from whet.core.ports import Cell, Lesson, Move, QTables, Scope
from whet.core.records import Action, ActionKind, Experience
from whet.policies.hierarchy import FLEET, Hierarchy, Place


@dataclass(frozen=True)
class Rates:
    """Own table 0.1, category 0.1, fleet 0.05, replay at half, discount 0.95. A table of rate 0 is not taught."""

    learning: float = 0.1
    discount: float = 0.95
    category: float = 0.1
    fleet: float = 0.05
    replay_share: float = 0.5
    average_first: bool = True


@dataclass(frozen=True)
class QLearner:
    """Q-learning (Watkins 1989) over a hierarchy of tables."""

    hierarchy: Hierarchy
    actions: Mapping[str, Action] = field(default_factory=dict)
    rates: Rates = Rates()

    def target(self, experience: Experience) -> float:
        """r + γ · max over next actions of the looked-up value; nothing follows a last step."""
        return experience.reward.credited + self.rates.discount * self._next_value(experience)

    def lesson(self, experience: Experience) -> Lesson:
        return self._lesson(experience, self.rates.learning, averaged=self.rates.average_first)

    def replay_lesson(self, experience: Experience) -> Lesson:
        """The same experience again, at half the rate and without counting a visit."""
        return self._lesson(experience, self.rates.learning * self.rates.replay_share, averaged=False)

    def _lesson(self, experience: Experience, rate: float, *, averaged: bool) -> Lesson:
        e = experience
        place = Place(e.state_key, e.category_key, e.fleet_key)
        return self.lesson_at(place, e.decision.action, e.kind, self.target(e), rate, averaged=averaged)

    def lesson_at(
        self, place: Place, action: str, kind: ActionKind, target: float, rate: float, *, averaged: bool
    ) -> Lesson:
        """Which cells move, and how far, when `action` was worth `target` in `place`."""
        h, share = self.hierarchy, rate / self.rates.learning
        abstract = Cell(Scope.INDIVIDUAL, h.agent, place.category_key, action)
        shared = (
            (Cell(Scope.CATEGORY, h.category, place.category_key, kind), self.rates.category),
            (Cell(Scope.FLEET, FLEET, place.fleet_key, kind), self.rates.fleet),
        )
        return Lesson(
            target=target,
            own=tuple(Move(cell=cell, rate=rate, averaged=averaged) for cell in (h.exact(place, action), abstract)),
            shared=tuple(Move(cell=cell, rate=r * share, averaged=averaged) for cell, r in shared if r > 0.0),
        )

    def _next_value(self, experience: Experience) -> float:
        e = experience
        if e.done or e.next_state_key is None or e.next_category_key is None or e.next_fleet_key is None:
            return 0.0
        place = Place(e.next_state_key, e.next_category_key, e.next_fleet_key)
        actions = [self.actions[name] for name in e.next_actions if name in self.actions]
        values = [known.value for known in self.hierarchy.recall(place, actions)]
        return max((value for value in values if value is not None), default=0.0)


def surprise(tables: QTables, lesson: Lesson) -> float:
    """|target − q| of the experience's own cell: its priority in replay."""
    cell = lesson.own[0].cell
    entry = tables.read([cell]).get(cell)
    return abs(lesson.target - (entry.q_value if entry else 0.0))


# Agents whose actions of the same kind serve similar ends (S2 §2.4).
SIMILAR: tuple[tuple[str, ...], ...] = (
    ("test-generator", "test-data-architect"),
    ("test-executor", "regression-risk-analyzer"),
    ("coverage-analyzer", "quality-gate"),
    ("security-scanner", "chaos-engineer"),
)


def similar(agent: str) -> Sequence[str]:
    return [other for group in SIMILAR if agent in group for other in group if other != agent]
