"""Months of runs in minutes: decisions of today's policies, outcomes that were recorded, a clock that is given.

Everything but the tool is real: the policy source, the gate, the store, the rewards, the lessons. What an action did is
one of its recorded outcomes in that context of a world.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np

from whet.agents.catalogue import AnyAgent, agent_named
from whet.core.ports import PolicySource, Store
from whet.core.records import Decision, Experience, Outcome, Reward, State
from whet.fleet.gate import Gate
from whet.fleet.loop import Valuing
from whet.improvement.world import World
from whet.policies.hierarchy import Hierarchy
from whet.policies.learner import QLearner
from whet.rewards.reward import reward_of, without_luck

Effect = Callable[[str, Reward], Reward]


@dataclass(frozen=True)
class Scene:
    """One context of a world: its state, and per allowed action what was recorded, with what it is worth."""

    state: State
    recorded: Mapping[str, Sequence[tuple[Outcome, Reward]]]


def scenes_of(world: World, valuing: Valuing) -> list[Scene]:
    agent = agent_named(world.agent)
    pairs = zip(world.states(), world.contexts, strict=True)
    return [
        Scene(
            state,
            {
                name: [_valued(agent, state, name, world.outcome(each), valuing) for each in outcomes]
                for name, outcomes in context.outcomes.items()
            },
        )
        for state, context in pairs
    ]


def exchanged(scenes: Sequence[Scene], one: str, other: str) -> list[Scene]:
    """A project that changed: where both are allowed, what `one` did is now what `other` did, and the other way
    round."""
    return [
        Scene(scene.state, {**scene.recorded, one: scene.recorded[other], other: scene.recorded[one]})
        if {one, other} <= scene.recorded.keys()
        else scene
        for scene in scenes
    ]


@dataclass
class Rehearsal:
    """`learning` False: the tables of record stay as they are, and only candidates change what is decided."""

    agent: AnyAgent
    store: Store
    policies: Callable[[], PolicySource]  # asked once per run, as a visit does
    rng: np.random.Generator
    gate: Gate = field(default_factory=Gate)
    learning: bool = True

    def run(self, scenes: Sequence[Scene], unit: str, at: datetime, effect: Effect | None = None) -> list[Experience]:
        """One run: a decision in each of the scenes. `effect` changes a reward by the policy that decided: what a
        recording cannot show, such as a policy that is worse where it is really used."""
        source = self.policies()
        lived = []
        for number, place in enumerate(self.rng.permutation(len(scenes))):
            scene, when = scenes[place], at + timedelta(seconds=number)
            decision = self._decide(source, scene, unit, f"{unit}-{number}", when)
            outcome, reward = self._drawn(scene, decision.action)
            if effect is not None:
                reward = effect(decision.policy, reward)
            lived.append(self._lived(scene, decision, outcome, reward, when))
        return lived

    def _decide(self, source: PolicySource, scene: Scene, unit: str, name: str, at: datetime) -> Decision:
        allowed = [self.agent.action(action) for action in scene.recorded]
        policy = source.policy_for(self.agent.name, unit)
        decision = self.gate.decide(
            run_id=unit,
            agent=self.agent.name,
            state_key=scene.state.key(),
            policy=policy.name,
            choice=policy.choose(scene.state, allowed),
            allowed=allowed,
            default=self.agent.safe_default(scene.state),
            ruling=None,
        ).model_copy(update={"id": name, "at": at})
        self.store.decisions.record(decision, scene.state)
        return decision

    def _drawn(self, scene: Scene, action: str) -> tuple[Outcome, Reward]:
        recorded = scene.recorded[action]
        return recorded[int(self.rng.integers(len(recorded)))]

    def _lived(self, scene: Scene, decision: Decision, outcome: Outcome, reward: Reward, at: datetime) -> Experience:
        state, situation = scene.state, scene.state.situation
        experience = Experience(
            key=f"{decision.run_id}:{decision.id}",
            run_id=decision.run_id,
            agent=self.agent.name,
            category=self.agent.category,
            decision=decision,
            kind=self.agent.action(decision.action).kind,
            state=state.model_dump(mode="json"),
            state_key=state.key(),
            category_key=situation.category_key(),
            fleet_key=situation.fleet_key(),
            outcome=outcome.model_dump(mode="json"),
            reward=reward,
            next_state_key=None,
            done=True,
            at=at,
        )
        self.store.experiences.learn(experience, self._learner().lesson(experience) if self.learning else None)
        return experience

    def _learner(self) -> QLearner:
        hierarchy = Hierarchy(self.agent.name, self.agent.category, self.store.tables)
        return QLearner(hierarchy, {action.name: action for action in self.agent.actions})


def _valued(agent: AnyAgent, state: State, action: str, outcome: Outcome, valuing: Valuing) -> tuple[Outcome, Reward]:
    valuation = agent.value(state, agent.action(action), outcome)
    raw = reward_of(valuing.profile, valuation, valuing.weights)
    return outcome, without_luck(raw, valuing.profile, valuation, valuing.weights)
