"""Candidates before all four gates, as `whet learn` asks them: whet.improvement.proving.gates.judge.

The decisions of a simulated log (`gates_logs`) become experiences of the test executor, in four of its states and with
three of its actions; what was learned from before is a log of the same kind.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from benchmarks.gates_logs import CANDIDATE, PRODUCTION, REWARD, STATES, Scene

from whet.agents.catalogue import agent_named
from whet.core.memories import Recalled
from whet.core.ports import Choice
from whet.core.records import Action, Alternative, Decision, Experience, Reward, State
from whet.fleet.gate import Gate
from whet.improvement.proving.gates import Judged, Rules, judge
from whet.improvement.proving.off_policy import Logged
from whet.improvement.world import shipped

AGENT = agent_named("test-executor")
ACTIONS = ("run_all_tests", "run_fast_first", "execute_sequential")
GATES = ("safety", "accuracy", "regression", "evidence")
OLD = 500  # decisions of earlier batches
_BEGIN = datetime(2026, 1, 5, tzinfo=UTC)
_RULES = Rules(Gate(), REWARD)


def passing(scene: Scene, simulations: int, seed: int) -> dict[str, float]:
    """The share of the candidates that pass, and by the name of each gate the share that it lets pass."""
    rng = np.random.default_rng(seed)
    judged = [_judged(scene(rng), scene(rng)) for _ in range(simulations)]
    passed = {name: [_passed(each, name) for each in judged] for name in GATES}
    passed["all"] = [each.verdict.outcome == "passed" for each in judged]
    return {name: float(np.mean(each)) for name, each in passed.items()}


def _passed(judged: Judged, name: str) -> bool:
    return next(each.passed is True for each in judged.gates if each.name == name)


def _judged(held_out: Logged, old: Logged) -> Judged:
    production, candidate = (Weighing(dict(zip(ACTIONS, each, strict=True))) for each in (PRODUCTION, CANDIDATE))
    before = Logged._make(column[:OLD] for column in old)
    return judge(candidate, production, AGENT.name, experiences(held_out), experiences(before), _RULES)


class Weighing:
    """Takes each action with a chance of its own, as far as it is allowed, and is sure of itself."""

    name = "weighing"

    def __init__(self, chances: Mapping[str, float]) -> None:
        self._chances = chances

    def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
        known = {action.name: self._chances.get(action.name, 0.0) for action in allowed}
        total = sum(known.values())
        chances = {name: each / total if total else 1.0 / len(known) for name, each in known.items()}
        likeliest = max(chances, key=lambda name: chances[name])
        return Choice(action=likeliest, explored=False, version="1", alternatives=_weighed(chances))


def _weighed(chances: Mapping[str, float]) -> tuple[Alternative, ...]:
    return tuple(
        Alternative(
            action=name, value=0.0, uncertainty=1.0, visits=1, source="individual", probability=chance, confidence=1.0
        )
        for name, chance in chances.items()
    )


def experiences(logged: Logged) -> list[Experience]:
    """Without checking each: they are made here."""
    known, weighed = _states(), _weighed(dict(zip(ACTIONS, PRODUCTION, strict=True)))
    return [
        _experience(number, f"run-{run}", known[state], ACTIONS[action], float(earned), weighed)
        for number, (run, state, action, earned) in enumerate(
            zip(logged.runs, logged.states, logged.actions, logged.rewards, strict=True)
        )
    ]


def _states() -> list[State]:
    world = next(each for each in shipped() if each.name == f"shop/{AGENT.name}")
    return [world.states()[0].model_copy(update={"num_tests": 100 * number}) for number in range(STATES)]


def _experience(
    number: int, run: str, state: State, action: str, earned: float, weighed: tuple[Alternative, ...]
) -> Experience:
    at = _BEGIN + timedelta(minutes=number)
    decision = Decision.model_construct(
        id=f"{run}-{number}", run_id=run, agent=AGENT.name, state_key=state.key(), proposed=action, action=action,
        probability=next(each.probability for each in weighed if each.action == action), confidence=1.0, explored=False,
        policy="weighing", policy_version="1", decided_by="policy", alternatives=weighed, at=at,
    )  # fmt: skip
    reward = Reward.model_construct(profile="composite", parts=(), raw=earned, shaped=earned, credited=earned)
    return Experience.model_construct(
        key=decision.id, run_id=run, agent=AGENT.name, category=AGENT.category, decision=decision,
        kind=AGENT.action(action).kind, state=state.model_dump(mode="json"), state_key=decision.state_key,
        category_key="", fleet_key="", next_state_key=None, outcome={"duration_seconds": 1.0}, reward=reward, done=True,
        at=at,
    )  # fmt: skip
