"""What a run leaves behind in the tables: lessons from each turn, replay and transfer at its end."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from whet.core.agent import Agent
from whet.core.ports import Cell, Lesson, Scope, Store
from whet.core.records import Experience
from whet.fleet.live_watch import LiveWatch, Tell, sharing
from whet.policies.hierarchy import Hierarchy, Weights
from whet.policies.learner import QLearner, Rates, similar, surprise
from whet.policies.transfer import transfer

AnyAgent = Agent[Any, Any, Any]


@dataclass(frozen=True)
class Schooling:
    """How the fleet learns; every number is a setting."""

    enabled: bool = True
    rates: Rates = field(default_factory=Rates)
    weights: Weights = field(default_factory=Weights)
    replay_batch: int = 32
    transfer: bool = True
    min_confidence: float = 0.7
    transfer_factor: float = 0.8


class Kept(NamedTuple):
    """`new` is False for what was known already; `lesson` is None where there was nothing to be learned; `unearned`
    names the agent whose reward does not count."""

    new: bool
    lesson: Lesson | None
    unearned: str | None


class Teacher:
    """Turns experiences into lessons and gives them to the store."""

    def __init__(self, store: Store, agents: Mapping[str, AnyAgent], schooling: Schooling) -> None:
        self.store, self.agents, self.schooling = store, agents, schooling
        self._watch = LiveWatch(store, agents)

    def learner(self, name: str) -> QLearner:
        agent = self.agents[name]
        hierarchy = Hierarchy(agent.name, agent.category, self.store.tables, self.schooling.weights)
        return QLearner(hierarchy, {a.name: a for a in agent.actions}, self.schooling.rates)

    def teach(self, experience: Experience, tell: Tell | None = None) -> float | None:
        """Learn from one experience. How far its Q-value moved; None when nothing was learned."""
        return self.teach_together([experience], tell)[0]

    def teach_together(self, turns: Sequence[Experience], tell: Tell | None = None) -> list[float | None]:
        """Turns that shared their credit: where one of them did not earn it, those after it have a part of that."""
        moves, unearned = [], None
        for experience in turns:
            told = experience if unearned is None else sharing(experience, unearned)
            cell = Cell(Scope.INDIVIDUAL, told.agent, told.state_key, told.decision.action)
            before = self._value(cell)
            kept = self.keep(told, tell)
            moves.append(abs(self._value(cell) - before) if kept.new and kept.lesson is not None else None)
            unearned = kept.unearned or unearned
        return moves

    def keep(self, experience: Experience, tell: Tell | None = None) -> Kept:
        """Stored, once, with its lesson. A reward that was not earned is stored as such, told, and teaches nothing."""
        judged = self._watch.judged(experience, tell)
        lesson = self.lesson(judged)
        priority = 0.0 if lesson is None else surprise(self.store.tables, lesson)
        new = self.store.experiences.learn(judged, lesson)
        if new and self.schooling.enabled:
            self.store.experiences.set_priorities({judged.key: priority})
        return Kept(new, lesson, None if judged.outcome.get("unearned") is None else judged.agent)

    def lesson(self, experience: Experience) -> Lesson | None:
        """None where there is nothing to be learned."""
        if not self.schooling.enabled or not experience.teaches:
            return None
        return self.learner(experience.agent).lesson(experience)

    def replay(self, agent: str, seed: int) -> int:
        """Once more through some of what this agent lived, the surprising more often."""
        learner, size = self.learner(agent), self.schooling.replay_batch
        drawn = self.store.experiences.sample(agent, size, seed) if size and self.schooling.enabled else []
        drawn = [experience for experience in drawn if experience.teaches]
        priorities: dict[str, float] = {}
        for experience in drawn:
            lesson = learner.replay_lesson(experience)
            self.store.tables.replay(lesson)
            priorities[experience.key] = surprise(self.store.tables, lesson)
        if priorities:
            self.store.experiences.set_priorities(priorities)
        return len(drawn)

    def transfer(self, experiences: Sequence[Experience]) -> int:
        """Hand what was learned to similar agents, where they know nothing yet."""
        if not (self.schooling.transfer and self.schooling.enabled):
            return 0
        keys = sorted({e.category_key for e in experiences})
        given = 0
        for name in sorted({e.agent for e in experiences}):
            for other in similar(name):
                if other in self.agents:
                    given += transfer(
                        self.store.tables,
                        (name, self.agents[name].actions),
                        (other, self.agents[other].actions),
                        keys,
                        self.schooling.min_confidence,
                        self.schooling.transfer_factor,
                        self.schooling.rates.learning,
                    )
        return given

    def note(self, run_id: str, experiences: Sequence[Experience], moves: Mapping[str, Sequence[float]]) -> None:
        """S2's learning statistics, one row per agent and run."""
        for name in sorted({e.agent for e in experiences}):
            mine = [e for e in experiences if e.agent == name]
            rewards = [e.reward.raw for e in mine]
            durations = [float(str(e.outcome["duration_seconds"])) for e in mine]
            self.store.runs.note_learning(
                run_id,
                name,
                {
                    "episodes_completed": len(mine),
                    "avg_episode_reward": statistics.fmean(rewards),
                    "std_episode_reward": statistics.stdev(rewards) if len(rewards) > 1 else None,
                    "avg_q_value_change": statistics.fmean(moves[name]) if moves.get(name) else None,
                    "exploration_rate": sum(e.decision.explored for e in mine) / len(mine),
                    "avg_task_duration_seconds": statistics.fmean(durations),
                    "success_rate": sum(e.outcome["failed"] is None for e in mine) / len(mine),
                },
            )

    def _value(self, cell: Cell) -> float:
        entry = self.store.tables.read([cell]).get(cell)
        return 0.0 if entry is None else entry.q_value
