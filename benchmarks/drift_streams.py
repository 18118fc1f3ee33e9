"""Streams of experiences of known distributions, stable ones and such that change at run 400."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np

from whet.agents.catalogue import agent_named
from whet.core.records import Decision, Experience, Reward
from whet.improvement.world import shipped
from whet.policies.beliefs import Vector

Stream = Callable[[np.random.Generator, int], Iterator[Experience]]
BEGIN = 400
_START = datetime(2026, 1, 1, tzinfo=UTC)
Changes = dict[str, Any]


@cache
def _like() -> Experience:
    """The first situation of a recorded world, to be changed."""
    world = next(each for each in shipped() if each.agent == "test-executor")
    agent = agent_named(world.agent)
    state = agent.state_type.model_validate(world.contexts[0].state)
    action = agent.action("run_all_tests")
    decision = Decision(
        run_id="0", agent=agent.name, state_key=state.key(), proposed=action.name, action=action.name, probability=1.0,
        confidence=1.0, explored=False, policy="tabular", policy_version="1", decided_by="policy", alternatives=(),
    )  # fmt: skip
    return Experience(
        key="0", run_id="0", agent=agent.name, category=agent.category, decision=decision, kind=action.kind,
        state=state.model_dump(mode="json"), state_key=state.key(), category_key="", fleet_key="", outcome={},
        reward=Reward(profile="multi-objective", parts=(), raw=0.0, shaped=0.0, credited=0.0), next_state_key=None,
        done=True,
    )  # fmt: skip


def experience(run: int, reward: float, state: Changes | None = None, place: str = "", action: str = "") -> Experience:
    like = _like()
    decision = like.decision.model_copy(update={"action": action or like.decision.action})
    return like.model_copy(
        update={
            "key": str(run),
            "run_id": str(run),
            "decision": decision,
            "state": like.state | (state or {}),
            "state_key": place or like.state_key,
            "reward": like.reward.model_copy(update={"credited": float(reward)}),
            "at": _START + timedelta(hours=run),
        }
    )


def _rewards(draw: Callable[[np.random.Generator, int], Vector], change: float = 0.0) -> Stream:
    def stream(rng: np.random.Generator, runs: int) -> Iterator[Experience]:
        rewards = draw(rng, runs)
        rewards[BEGIN:] += change
        return (experience(run, reward) for run, reward in enumerate(rewards))

    return stream


def _normal(rng: np.random.Generator, runs: int) -> Vector:
    return rng.normal(10.0, 5.0, runs)


def _rare_losses(rng: np.random.Generator, runs: int) -> Vector:
    return np.asarray(rng.normal(10.0, 3.0, runs) - 50.0 * (rng.random(runs) < 0.01))


def _heavy(rng: np.random.Generator, runs: int) -> Vector:
    return np.asarray(5.0 * rng.standard_t(3, runs))


def _few_values(rng: np.random.Generator, runs: int) -> Vector:
    return rng.choice([-2.0, 0.0, 7.0], runs, p=[0.1, 0.8, 0.1])


def resembling(rng: np.random.Generator, runs: int, correlation: float) -> Vector:
    """Standard normal, each like the one before it."""
    noise, values = rng.normal(size=runs), np.zeros(runs)
    for run in range(1, runs):
        values[run] = correlation * values[run - 1] + np.sqrt(1 - correlation**2) * noise[run]
    return values


def _states(make: Callable[[np.random.Generator, int], list[Changes]]) -> Stream:
    def stream(rng: np.random.Generator, runs: int) -> Iterator[Experience]:
        return (experience(run, 0.0, state) for run, state in enumerate(make(rng, runs)))

    return stream


def _usual(rng: np.random.Generator, runs: int, correlation: float = 0.0) -> list[Changes]:
    """Every feature that can vary does, independently of the others."""
    memory, tests, seconds = (resembling(rng, runs, correlation) for _ in range(3))
    names = resembling(rng, runs, correlation) > 0.5
    return [
        {
            "available_memory_mb": float(8000 * np.exp(0.3 * memory[run])),
            "num_tests": round(100 * np.exp(0.1 * tests[run])),
            "total_duration_estimate": float(3 * np.exp(0.5 * seconds[run])),
            "previous_failures": int(rng.poisson(0.5)),
            "flaky_test_rate": float(rng.beta(1, 30)) if rng.random() < 0.9 else None,
            "ci_environment": bool(names[run]),
            "test_complexity": str(rng.choice(["simple", "moderate", "complex"], p=[0.7, 0.2, 0.1])),
        }
        for run in range(runs)
    ]


def _growing(rng: np.random.Generator, runs: int) -> list[Changes]:
    """A test more now and then is no other world, though every single one of them is new."""
    return [{"num_tests": 300 + run // 50 + int(rng.integers(2))} for run in range(runs)]


def _changed(**factors: Any) -> Stream:
    def make(rng: np.random.Generator, runs: int) -> list[Changes]:
        states = _usual(rng, runs)
        for state in states[BEGIN:]:
            for name, factor in factors.items():
                state[name] = type(state[name])(state[name] * factor) if isinstance(factor, float) else factor
        return states

    return _states(make)


STABLE: dict[str, Stream] = {
    "rewards: normal": _rewards(_normal),
    "rewards: rare losses of 50": _rewards(_rare_losses),
    "rewards: heavy tails (t, 3 degrees)": _rewards(_heavy),
    "rewards: few values": _rewards(_few_values),
    "states: independent": _states(_usual),
    "states: a test more every 50 runs": _states(_growing),
}
RESEMBLING: dict[str, Stream] = {
    "rewards: 0.3": _rewards(lambda rng, runs: 5.0 * resembling(rng, runs, 0.3)),
    "rewards: 0.5": _rewards(lambda rng, runs: 5.0 * resembling(rng, runs, 0.5)),
    "states: 0.5": _states(lambda rng, runs: _usual(rng, runs, 0.5)),
    "states: 0.9": _states(lambda rng, runs: _usual(rng, runs, 0.9)),
}
CHANGED: dict[str, Stream] = {
    **{f"rewards: normal, sd 5, {change:+g}": _rewards(_normal, change) for change in (-3.0, -5.0, -10.0, 10.0)},
    "rewards: rare losses, sd 3, -5": _rewards(_rare_losses, -5.0),
    "states: three times the tests": _changed(num_tests=3.0),
    "states: twice the time": _changed(total_duration_estimate=2.0),
    "states: half the memory": _changed(available_memory_mb=0.5),
    "states: everything complex": _changed(test_complexity="complex"),
    "states: in CI": _changed(ci_environment=True),
}
