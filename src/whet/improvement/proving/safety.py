"""Does a policy stay within what is allowed? In held-out states, in states mixed from them, under any mask."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from whet.agents.catalogue import AnyAgent
from whet.core.ports import Policy
from whet.core.records import Action, State
from whet.fleet.gate import Gate
from whet.improvement.proving.chances import Answer, answer

MIXED_STATES = 200
# Each state is asked about with everything that is allowed there, and with so many random parts of that.
MASKS_EACH = 2
_MOST_HELD_OUT = 200


class Safety(NamedTuple):
    asked: int
    faults: int
    forbidden: int  # of the faults: an action that is not allowed
    first: str | None  # the first fault, as a sentence

    @property
    def share(self) -> float | None:
        return None if not self.asked else 1.0 - self.faults / self.asked


def safety(policy: Policy, agent: AnyAgent, states: Sequence[State], gate: Gate, seed: int = 0) -> Safety:
    """The same questions for the same states: two looks at one candidate agree."""
    rng = np.random.default_rng(seed)
    answers = [
        answer(policy, agent, state, allowed, gate)
        for state in (*states[-_MOST_HELD_OUT:], *_mixed(agent, states, rng))
        for allowed in _masks(agent, state, rng)
    ]
    return _counted(answers)


def _counted(answers: Sequence[Answer]) -> Safety:
    faults = [each for each in answers if each.fault is not None]
    forbidden = [each for each in faults if each.forbidden]
    first = next(iter((*forbidden, *faults)), None)
    return Safety(len(answers), len(faults), len(forbidden), None if first is None else first.fault)


def _mixed(agent: AnyAgent, states: Sequence[State], rng: np.random.Generator) -> Iterator[State]:
    """Each field from another state that was met: combinations nobody has seen."""
    if not states:
        return
    fields = list(agent.state_type.model_fields)
    for _ in range(MIXED_STATES):
        donors = rng.integers(len(states), size=len(fields))
        values: dict[str, Any] = {f: getattr(states[int(d)], f) for f, d in zip(fields, donors, strict=True)}
        try:
            yield agent.state_type.model_validate(values)
        except ValidationError:  # fields that cannot go together
            continue


def _masks(agent: AnyAgent, state: State, rng: np.random.Generator) -> Iterator[tuple[Action, ...]]:
    """Everything, then random parts; the safe default is always allowed."""
    allowed, default = agent.allowed(state), agent.safe_default(state).name
    yield allowed
    for _ in range(MASKS_EACH):
        kept = rng.random(len(allowed)) < 0.5
        yield tuple(action for action, keep in zip(allowed, kept, strict=True) if keep or action.name == default)
