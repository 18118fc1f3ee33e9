"""Confidence means the same whoever decides: of the decisions that claim 70 %, seven in ten are right.

Right is what is within 5 % of the best. Beliefs give that a probability too, but they are wider than they need be, so
that good actions get their chance, and normal beliefs know no ties. So each policy's probabilities go through a
logistic of their log-odds (Platt, 1999), with a number more for what was never tried here. Among actions that were
tried, or were not, the order stays. `benchmarks/confidence.py` fits it and writes `confidence.json`, with its source.
"""

import json
from functools import cache
from importlib import resources
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

from whet.core.errors import WhetError
from whet.core.records import Record
from whet.policies.beliefs import Vector

Flags = npt.NDArray[np.bool_]
_LEAST = 1e-3  # beliefs are integrated by 512 draws: none of them says 0


class Calibration(Record):
    """In log-odds."""

    offset: float = 0.0
    slope: Annotated[float, Field(gt=0.0)] = 1.0
    untried: float = Field(0.0, description="added where nothing was tried yet")

    def __call__(self, probabilities: Vector, untried: Flags) -> Vector:
        """Of all allowed actions. One alone is the best there is."""
        if len(probabilities) == 1:
            return np.ones(1)
        odds = self.offset + self.slope * log_odds(probabilities) + self.untried * untried
        return np.asarray(1.0 / (1.0 + np.exp(-odds)))


class Raw(Calibration):
    """What beliefs say, as it is: what calibration is fitted on."""

    def __call__(self, probabilities: Vector, untried: Flags) -> Vector:
        return probabilities


class Fitted(Record):
    """One policy's, with the expected calibration error of worlds that were left out, before and after."""

    calibration: Calibration
    decisions: int
    error_before: float
    error_left_out: float


class Shipped(Record):
    command: str
    worlds: tuple[str, ...] = Field(description="that it was fitted on; none of them counts as proof")
    policies: dict[str, Fitted]


def log_odds(probabilities: Vector) -> Vector:
    inside = np.clip(probabilities, _LEAST, 1.0 - _LEAST)
    return np.asarray(np.log(inside / (1.0 - inside)))


@cache
def shipped() -> Shipped:
    return Shipped.model_validate(json.loads((resources.files("whet.policies") / "confidence.json").read_text()))


def calibration_of(policy: str) -> Calibration:
    found = shipped().policies.get(policy)
    if found is None:
        raise WhetError(f"Nobody knows how sure the policy {policy!r} is.", "Fit it: python benchmarks/confidence.py")
    return found.calibration
