"""Small states, actions and experiences from which the tests of the policies are made."""

from itertools import count
from typing import Any

from whet.core.keys import Atom
from whet.core.ports import Entry
from whet.core.records import Action, ActionKind, Alternative, Decision, Experience, Reward, Situation, State
from whet.policies.exploration import Exponential

HERE = Situation(suite="small", pace="fast", failing=False, changed=True, history="some", budget="ample")
ELSEWHERE = HERE.model_copy(update={"suite": "large", "pace": "slow"})

LEFT = Action(name="left", kind=ActionKind.FASTER, summary="Go left.")
RIGHT = Action(name="right", kind=ActionKind.DEEPER, summary="Go right.")
STAY = Action(name="stay", kind=ActionKind.AS_CONFIGURED, summary="Stay.")

_numbers = count()


class Spot(State):
    """A state that is nothing but a number."""

    where: int
    situation: Situation = HERE

    def discrete(self) -> tuple[Atom, ...]:
        return (self.where,)


class Mood(State):
    """Another agent's state: nothing in common with Spot but the situation."""

    mood: str
    situation: Situation = HERE

    def discrete(self) -> tuple[Atom, ...]:
        return (self.mood,)


def entry(q_value: float, visits: int = 1, m2: float = 0.0) -> Entry:
    return Entry(q_value=q_value, visits=visits, mean=q_value, m2=m2)


def constant(epsilon: float) -> Exponential:
    return Exponential(initial=epsilon, floor=0.0, decay=1.0)


def reward(credited: float) -> Reward:
    return Reward(profile="test", parts=(), raw=credited, shaped=credited, credited=credited)


def decision(agent: str, state: State, action: str) -> Decision:
    weighed = Alternative(
        action=action, value=None, uncertainty=1.0, visits=0, source="none", probability=1.0, confidence=1.0
    )
    return Decision(
        run_id="run",
        agent=agent,
        state_key=state.key(),
        proposed=action,
        action=action,
        probability=1.0,
        confidence=1.0,
        explored=False,
        policy="test",
        policy_version="1",
        decided_by="policy",
        alternatives=(weighed,),
    )


def experience(
    state: State,
    action: Action,
    credited: float,
    *,
    next_state: State | None = None,
    next_actions: tuple[str, ...] = (),
    agent: str = "walker",
    category: str = "walkers",
    **changes: Any,
) -> Experience:
    """A last step unless a next state is given."""
    after = next_state.situation if next_state else None
    fields: dict[str, Any] = {
        "key": f"experience-{next(_numbers)}",
        "run_id": "run",
        "agent": agent,
        "category": category,
        "decision": decision(agent, state, action.name),
        "kind": action.kind,
        "state": {},
        "state_key": state.key(),
        "category_key": state.situation.category_key(),
        "fleet_key": state.situation.fleet_key(),
        "outcome": {},
        "reward": reward(credited),
        "next_state_key": next_state.key() if next_state else None,
        "next_category_key": after.category_key() if after else None,
        "next_fleet_key": after.fleet_key() if after else None,
        "next_actions": next_actions,
        "done": next_state is None,
    }
    return Experience(**(fields | changes))
