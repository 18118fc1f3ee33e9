"""How a row of numbers is read: groups of a state's features, then recalled memories, then which of these there are."""

from typing import Annotated, NoReturn

import numpy as np
from pydantic import Field

from whet.core.errors import RefusedInput
from whet.core.records import Record
from whet.policies.deep.learning import Flags, Floats, Whole

MOST_MEMORIES = 16
LARGEST = 1e9
_LARGEST_SQUARE = LARGEST**2
_Size = Annotated[int, Field(ge=1, le=65_536)]


class Layout(Record):
    """A row is `tokens` groups of `width` numbers, `memories` of `memory_width` numbers, and 1 or 0 for each of these.

    `Layout(tokens=1, width=4)` is an observation of four numbers with nothing recalled.
    """

    tokens: _Size
    width: _Size
    memories: Annotated[int, Field(ge=0, le=MOST_MEMORIES)] = 0
    memory_width: Annotated[int, Field(ge=0, le=65_536)] = 0
    digest: str = Field("", description="of what each number means; what was made for another one is refused")

    @property
    def state_size(self) -> int:
        return self.tokens * self.width

    @property
    def size(self) -> int:
        return self.state_size + self.memories * (self.memory_width + 1)

    @property
    def attended(self) -> int:
        """How many tokens attention chooses between; with one there is nothing to choose."""
        return self.tokens + self.memories

    def refuse_another(self, other: "Layout", what: str) -> None:
        if self != other:
            raise RefusedInput(
                f"{what} was made for another layout of the state ({other.digest[:12] or other}), "
                f"not for this one ({self.digest[:12] or self}).",
                "Train it again: the fields of the state have changed since.",
            )


def check(layout: Layout, actions: int, observations: Floats, masks: Flags) -> None:
    """Refuses what must not reach a network: it would answer something, and nobody would know that it is nonsense."""
    rows = len(observations) if isinstance(observations, np.ndarray) and observations.ndim == 2 else 0
    if not rows or observations.shape[1] != layout.size:
        _refuse(f"observations must be rows of {layout.size} numbers, not of the shape {np.shape(observations)}")
    if not np.isfinite(observations).all():
        bad = int(np.argmin(np.isfinite(observations).all(axis=1)))
        _refuse(f"observation {bad} has numbers that are not finite")
    if np.abs(observations).max() > LARGEST:
        _refuse(f"observations have numbers beyond ±{LARGEST:.0e}, which squared and summed are not finite")
    if not isinstance(masks, np.ndarray) or masks.dtype != np.bool_ or masks.shape != (rows, actions):
        _refuse(f"masks must be {rows} rows of {actions} booleans, not of the shape {np.shape(masks)}")
    if not masks.any(axis=1).all():
        _refuse(f"no action is allowed for observation {int(np.argmin(masks.any(axis=1)))}")


class CheckOne:
    """As `check`, for one row and quickly: what is short as a vector needs no closer look."""

    def __init__(self, layout: Layout, actions: int) -> None:
        self.layout, self.actions = layout, actions
        self.shapes = (layout.size,), (actions,)

    def __call__(self, observation: Floats, mask: Flags) -> None:
        fits = (observation.shape, mask.shape) == self.shapes and mask.dtype == np.bool_
        if not (fits and observation.dot(observation) <= _LARGEST_SQUARE and mask.any()):
            check(self.layout, self.actions, observation[None], mask[None])


def check_actions(actions: Whole, masks: Flags) -> None:
    """Of steps that are learned from: one action each, and one that was allowed."""
    whole = isinstance(actions, np.ndarray) and actions.dtype == np.int64 and actions.shape == masks.shape[:1]
    if not whole or actions.min() < 0 or actions.max() >= masks.shape[1]:
        _refuse(f"actions must be one integer from 0 to {masks.shape[1] - 1} for each observation")
    taken = masks[np.arange(len(actions)), actions]
    if not taken.all():
        first = int(np.argmin(taken))
        _refuse(f"action {actions[first]} was taken at observation {first}, and was not allowed there")


def _refuse(problem: str) -> NoReturn:
    raise RefusedInput(f"This cannot be decided on: {problem}.", "Give finite numbers and at least one allowed action.")
