"""What an evaluation tells of each policy on each world."""

from pydantic import Field

from whet.core.records import Record
from whet.improvement.reliability import Reliability


class Curve(Record):
    """Share of right decisions per window: mean over seeds and the half-width of its 95 % interval."""

    decisions: tuple[int, ...]
    accuracy: tuple[float, ...]
    half_width: tuple[float | None, ...]


class Learned(Record):
    """A learning policy on one world."""

    policy: str
    accuracy: float
    accuracy_half_width: float | None
    whole_accuracy: float = Field(description="over all decisions, the first ones too")
    whole_half_width: float | None
    untrained_accuracy: float
    mean_reward: float
    regret: float
    curve: Curve
    calibration_error: float
    chance_error: float = Field(description="of a perfectly calibrated policy that decided as often on the same states")
    reliability: tuple[Reliability, ...]


class Static(Record):
    policy: str
    accuracy: float
    mean_reward: float


class WorldReport(Record):
    world: str
    agent: str
    used_for_tuning: bool
    contexts: int
    states: int
    learned: tuple[Learned, ...]
    random: Static
    safe_default: Static
    statics: tuple[Static, ...]
    best_static: Static
    best_possible_reward: float
