"""Where a replay stands: everything about it that is not an array."""

from typing import Annotated, Any, Self, cast

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

LARGEST_ERROR = float(np.finfo(np.float32).max)  # so that the sum of all priorities is finite
Fraction = Annotated[float, Field(ge=0.0, le=1.0)]


class Standing(BaseModel):
    """`first_beta` is β before any annealing, `annealed` how far it has come on its way to 1."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)

    capacity: Annotated[int, Field(ge=1)]
    alpha: Fraction
    first_beta: Fraction
    random: dict[str, Any]
    annealed: Fraction = 0.0
    held: Annotated[int, Field(ge=0)] = 0
    next_place: Annotated[int, Field(ge=0)] = 0
    largest_mass: Annotated[float, Field(gt=0.0, le=2.0 * LARGEST_ERROR)] = 1.0

    @property
    def beta(self) -> float:
        return self.first_beta + (1.0 - self.first_beta) * self.annealed

    @field_validator("random")
    @classmethod
    def _is_a_state(cls, random: dict[str, Any]) -> dict[str, Any]:
        try:
            generator(random)
        except (KeyError, TypeError, OverflowError) as error:
            raise ValueError(f"no state of a random generator ({error})") from error
        return random

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.held > self.capacity or self.next_place >= self.capacity:
            raise ValueError("it holds more than its capacity")
        if self.held < self.capacity and self.next_place != self.held:
            raise ValueError("the next place is not the first free one")
        return self


def generator(state: dict[str, Any]) -> np.random.Generator:
    bits = np.random.PCG64()
    bits.state = cast(Any, state)
    return np.random.Generator(bits)
