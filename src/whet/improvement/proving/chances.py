"""With which chance each action would run: what a policy answers, through the gate that decides on its word."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from whet.agents.catalogue import AnyAgent
from whet.core.errors import WhetError
from whet.core.ports import Choice, Policy
from whet.core.records import Action, Decision, State
from whet.fleet.gate import Gate

_ROUNDING = 1e-6


class Answer(NamedTuple):
    """`running` is None when the answer cannot be used, and `fault` says why; `forbidden`: an action is not allowed."""

    running: Mapping[str, float] | None
    fault: str | None = None
    forbidden: bool = False


def answer(policy: Policy, agent: AnyAgent, state: State, allowed: Sequence[Action], gate: Gate) -> Answer:
    """What would run if this policy decided here."""
    try:
        choice = policy.choose(state, allowed)
    except WhetError as error:
        return Answer(None, f"it refused to answer: {error}")
    except (
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:  # a policy's own defect is what is looked for
        return Answer(None, f"it broke: {type(error).__name__}: {error}")
    forbidden = sorted({choice.action, *(each.action for each in choice.alternatives)} - {a.name for a in allowed})
    if forbidden:
        return Answer(None, f"it would run {forbidden[0]}, which is not allowed there", forbidden=True)
    default = agent.safe_default(state)
    fault = fault_in(choice, allowed, default)
    return Answer(None, fault) if fault else Answer(running(choice, allowed, default, gate))


def fault_in(choice: Choice, allowed: Sequence[Action], default: Action) -> str | None:
    """What must not be in an answer, whatever the policy is worth."""
    weighed = [each.action for each in choice.alternatives]
    if len(set(weighed)) != len(weighed) or choice.action not in weighed:
        return "it weighs an action twice, or chooses one that it did not weigh"
    if not abs(math.fsum(each.probability for each in choice.alternatives) - 1.0) < _ROUNDING:
        return "its probabilities do not add up to one"
    hiding = {action.name for action in allowed if action.hides and action.name != default.name}
    for each in choice.alternatives:
        if each.action in hiding and each.probability > 0.0 and each.confidence is None:
            return f"it would run {each.action}, which may hide something, without saying how sure it is"
    return None


def running(choice: Choice, allowed: Sequence[Action], default: Action, gate: Gate) -> dict[str, float]:
    """The chance of each allowed action to run: the gate is asked about every proposal the policy could have made."""
    chances = {action.name: 0.0 for action in allowed}
    for each in (weighed for weighed in choice.alternatives if weighed.probability > 0.0):
        decided = gate.decide(
            run_id="",
            agent="",
            state_key="",
            policy="",
            choice=choice.model_copy(update={"action": each.action}),
            allowed=allowed,
            default=default,
            ruling=None,
        )
        chances[decided.action] = chances.get(decided.action, 0.0) + each.probability
    return chances


def logged(decision: Decision, allowed: Sequence[Action], default: Action, gate: Gate) -> dict[str, float] | None:
    """Production's chances at a logged decision; None when they do not fit the probability that was logged, because the
    gate had other limits then."""
    choice = Choice(
        action=decision.proposed,
        explored=decision.explored,
        version=decision.policy_version,
        alternatives=decision.alternatives,
    )
    chances = running(choice, allowed, default, gate)
    return chances if abs(chances.get(decision.action, 0.0) - decision.probability) < _ROUNDING else None
