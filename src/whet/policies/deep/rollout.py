"""The steps of several environments since the learner last improved."""

from collections.abc import Mapping
from typing import NoReturn

import numpy as np

from whet.core.errors import RefusedInput
from whet.policies.deep import layout
from whet.policies.deep.artefacts import Array
from whet.policies.deep.learning import Steps


class Rollout:
    def __init__(self, shape: layout.Layout, actions: int) -> None:
        self._layout, self._actions = shape, actions
        self._steps: list[Steps] = []

    def __len__(self) -> int:
        """Steps of each environment."""
        return len(self._steps)

    def add(self, steps: Steps) -> None:
        """Refused, and nothing has changed, when these are no steps, or other environments' than the earlier ones."""
        layout.check(self._layout, self._actions, steps.observations, steps.masks)
        next_masks = steps.next_masks | np.asarray(steps.terminated)[:, None]  # nothing is chosen after the end
        layout.check(self._layout, self._actions, steps.next_observations, next_masks)
        if problem := self._problem(steps):
            _refuse(problem)
        columns: list[Array] = [column.copy() for column in steps]  # callers may reuse their arrays
        self._steps.append(Steps(*columns))

    def clear(self) -> None:
        self._steps.clear()

    def stacked(self) -> Steps:
        """Every column T × N × …"""
        return Steps(*(np.stack(column) for column in zip(*self._steps, strict=True)))

    def columns(self) -> Mapping[str, Array]:
        return self.stacked()._asdict() if self._steps else {}

    def restore(self, columns: Mapping[str, Array]) -> None:
        self.clear()
        if columns:
            for row in zip(*(columns[name] for name in Steps._fields), strict=True):
                self.add(Steps(*row))

    def _problem(self, steps: Steps) -> str | None:
        rows = len(steps.observations)
        lengths = {len(column) for column in steps}
        if lengths != {rows} or (self._steps and rows != len(self._steps[0].actions)):
            known = f" after {len(self._steps[0].actions)} of earlier steps" if self._steps else ""
            return f"its columns have {sorted(lengths)} rows{known}; each environment has one row"
        if not np.isfinite(steps.rewards).all():
            return "a reward is not finite"
        if not ((steps.actions >= 0) & (steps.actions < self._actions)).all():
            return f"an action is none of 0 to {self._actions - 1}"
        if not steps.masks[np.arange(rows), steps.actions].all():
            return "an action was taken that its mask does not allow"
        if not ((steps.probabilities > 0.0) & (steps.probabilities <= 1.0)).all():
            return "an action was taken with a probability that is not above 0 and at most 1"
        return None


def _refuse(problem: str) -> NoReturn:
    raise RefusedInput(
        f"This cannot be learned from: {problem}.", "Give what act said and what the environments showed."
    )
