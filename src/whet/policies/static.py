"""Policies that do not learn: the baselines, and fixed choices people make in settings."""

from collections.abc import Sequence

import numpy as np

from whet.core.errors import WhetError
from whet.core.ports import Choice
from whet.core.records import Action, Alternative, State


class RandomPolicy:
    """Every allowed action equally often."""

    name = "random"

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def choose(self, state: State, allowed: Sequence[Action]) -> Choice:
        drawn = allowed[int(self.rng.integers(len(allowed)))]
        share = 1.0 / len(allowed)
        alternatives = tuple(_blank(action.name, share) for action in allowed)
        return Choice(action=drawn.name, explored=True, version=self.name, alternatives=alternatives)


class FixedPolicy:
    """Always the same action; the agent's safe default is asked for where it is not allowed."""

    def __init__(self, action: str, fallback: str | None = None) -> None:
        self.action, self.fallback = action, fallback

    @property
    def name(self) -> str:
        return f"always-{self.action}"

    def choose(self, state: State, allowed: Sequence[Action]) -> Choice:
        names = [action.name for action in allowed]
        chosen = next((name for name in (self.action, self.fallback, names[0]) if name in names), None)
        if chosen is None:
            raise WhetError("A policy was asked to choose among no actions.")
        alternatives = tuple(_blank(name, float(name == chosen)) for name in names)
        return Choice(action=chosen, explored=False, version=self.name, alternatives=alternatives)


def _blank(action: str, probability: float) -> Alternative:
    """Static policies know nothing of values; confidence in a given order is a person's own, so 1."""
    return Alternative(
        action=action, value=None, uncertainty=0.0, visits=0, source="none", probability=probability, confidence=1.0
    )
