"""Policies over a recorded world, and the log that deciding there leaves behind."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np

from whet.agents.catalogue import agent_named
from whet.core.memories import Recalled
from whet.core.ports import Choice
from whet.core.records import Action, Alternative, Decision, Experience, Reward, State
from whet.fleet.gate import Gate
from whet.improvement.spots import Spot, spots
from whet.improvement.world import World, shipped
from whet.rewards import profile

AGENT, GATE, START = "test-executor", Gate(), datetime(2026, 3, 1, tzinfo=UTC)
Chances = Callable[[State, Sequence[Action]], Mapping[str, float]]


@cache
def world() -> World:
    return next(each for each in shipped() if each.name == "shop/test-executor")


@cache
def there() -> list[Spot]:
    return spots(world(), profile("composite"), {})


@cache
def best_at() -> dict[tuple[str, frozenset[str]], str]:
    return {
        (spot.state.key(), frozenset(spot.means)): max(spot.means, key=lambda name: spot.means[name])
        for spot in there()
    }


class Told:
    """Chooses with the chances it is told, and is sure of everything unless told otherwise."""

    name = "told"

    def __init__(self, chances: Chances, confidence: float | None = 1.0, seed: int = 0) -> None:
        self.chances, self.confidence, self.rng = chances, confidence, np.random.default_rng(seed)

    def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
        chances = self.chances(state, allowed)
        names = list(chances)
        drawn = names[int(self.rng.choice(len(names), p=list(chances.values())))]
        weighed = tuple(
            Alternative(
                action=name,
                value=1.0,
                uncertainty=1.0,
                visits=1,
                source="individual",
                probability=chance,
                confidence=self.confidence,
            )
            for name, chance in chances.items()
        )
        return Choice(action=drawn, explored=False, version="1", alternatives=weighed)


def evenly(_: State, allowed: Sequence[Action]) -> dict[str, float]:
    return {action.name: 1.0 / len(allowed) for action in allowed}


def mostly_best(state: State, allowed: Sequence[Action]) -> dict[str, float]:
    names = [action.name for action in allowed]
    best = best_at().get((state.key(), frozenset(names)), names[0])
    return {name: 0.94 if name == best else 0.06 / max(1, len(names) - 1) for name in names} | (
        {best: 1.0} if len(names) == 1 else {}
    )


def mostly_default(state: State, allowed: Sequence[Action]) -> dict[str, float]:
    default = agent_named(AGENT).safe_default(state).name
    return {action.name: 1.0 if action.name == default else 0.0 for action in allowed}


def lived(policy: Told, decisions: int, seed: int = 1, gate: Gate = GATE) -> list[Experience]:
    """One decision in each run, in the world's states, rewarded with what was recorded there."""
    rng, places = np.random.default_rng(seed), there()
    return [_turn(policy, places[int(rng.integers(len(places)))], number, rng, gate) for number in range(decisions)]


def _turn(policy: Told, spot: Spot, number: int, rng: np.random.Generator, gate: Gate) -> Experience:
    agent = agent_named(AGENT)
    decision = gate.decide(
        run_id=f"run-{number}",
        agent=AGENT,
        state_key=spot.state.key(),
        policy=policy.name,
        choice=policy.choose(spot.state, spot.allowed),
        allowed=spot.allowed,
        default=agent.safe_default(spot.state),
        ruling=None,
    ).model_copy(update={"at": START + timedelta(minutes=number)})
    return experience(decision, spot.state, float(rng.choice(spot.credits[decision.action])))


def experience(decision: Decision, state: State, credited: float) -> Experience:
    agent = agent_named(AGENT)
    return Experience(
        key=f"{decision.run_id}:{decision.id}",
        run_id=decision.run_id,
        agent=AGENT,
        category=agent.category,
        decision=decision,
        kind=agent.action(decision.action).kind,
        state=state.model_dump(mode="json"),
        state_key=state.key(),
        category_key=state.situation.category_key(),
        fleet_key=state.situation.fleet_key(),
        outcome={"duration_seconds": 1.0},
        reward=Reward(profile="composite", parts=(), raw=credited, shaped=credited, credited=credited),
        next_state_key=None,
        done=True,
        at=decision.at,
    )
