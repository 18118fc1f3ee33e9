"""Policies that do not learn: the baselines, and fixed choices people make in settings."""

from collections.abc import Sequence

import numpy as np

from whet.core.errors import WhetError
from whet.core.memories import Recalled
from whet.core.ports import Choice
from whet.core.records import Action, Alternative, State


class RandomPolicy:
    """Every allowed action equally often."""

    name = "random"

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
        require_actions(allowed)
        drawn = allowed[int(self.rng.integers(len(allowed)))]
        share = 1.0 / len(allowed)
        alternatives = tuple(_blank(action.name, share) for action in allowed)
        return Choice(action=drawn.name, explored=True, version=self.name, alternatives=alternatives)


class FixedPolicy:
    """Always the same action. Where it is not allowed it has no confidence in anything: the safe default runs."""

    def __init__(self, action: str) -> None:
        self.action = action

    @property
    def name(self) -> str:
        return f"always-{self.action}"

    def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
        require_actions(allowed)
        names = [action.name for action in allowed]
        chosen = self.action if self.action in names else names[0]
        sure = None if self.action in names else 0.0
        alternatives = tuple(_blank(name, float(name == chosen), sure) for name in names)
        return Choice(action=chosen, explored=False, version=self.name, alternatives=alternatives)


def require_actions(allowed: Sequence[Action]) -> None:
    if not allowed:
        raise WhetError(
            "A policy was asked to choose among no actions.",
            "An agent's `allowed` is never empty; what stands in the way belongs into `obstacle`.",
        )


def _blank(action: str, probability: float, confidence: float | None = None) -> Alternative:
    """Static policies weigh nothing; whether they are any good is not for them to say."""
    return Alternative(
        action=action,
        value=None,
        uncertainty=None,
        visits=0,
        source="none",
        probability=probability,
        confidence=confidence,
    )
