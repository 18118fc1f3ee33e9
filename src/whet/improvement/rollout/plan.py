"""The numbers a rollout goes by. Settings may change them; the defaults are the ones documented in docs/rollout.md."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from whet.core.records import Count, Record
from whet.improvement.proving.sequences import FEWEST_UNITS

Share = Annotated[float, Field(gt=0.0, lt=1.0)]
Confidence = Annotated[float, Field(ge=0.5, lt=1.0)]
Positive = Annotated[float, Field(gt=0.0)]
Hours = Annotated[float, Field(ge=0.0)]


class Plan(Record):
    """How far, how long and how sure."""

    unattended: bool = Field(True, description="proven candidates begin to decide by themselves; else when promoted")
    shares: tuple[Share, ...] = Field((0.1, 0.5), min_length=1, description="of the units, before all of them")
    fewest_units: Count = Field(100, description="runs decided by the candidate, measured in a step before the next")
    fewest_decisions: Count = Field(500, description="likewise, decisions")
    fewest_hours: Hours = Field(24.0, description="a step lasts at least so long")
    most_units: Count = Field(2000, description="runs decided by it in one step, after which a person decides")
    judged_from: Annotated[int, Field(ge=FEWEST_UNITS)] = Field(
        30, description="runs of each arm before anything is concluded"
    )
    confidence: Confidence = Field(0.95, description="of the always-valid intervals")
    alarm_confidence: Confidence = Field(0.9, description="with which a drop beyond the limits below is believed")
    floor: Annotated[float, Field(gt=0.0, le=1.0)] = Field(0.95, description="of the baseline's reward; below: back")
    success_drop: Annotated[float, Field(gt=0.0, le=1.0)] = Field(0.10, description="of the success rate; more: back")
    reward_drop: Positive = Field(15.0, description="points; more: back")
    probation_hours: Hours = Field(168.0, description="in production, during which it still goes back by itself")
    baseline_hours: Positive = Field(168.0, description="before production, which its probation is compared with")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if list(self.shares) != sorted(set(self.shares)):
            raise ValueError(f"shares must grow from step to step, not be {list(self.shares)}")
        if self.most_units < max(self.fewest_units, self.judged_from):
            raise ValueError("most_units is below fewest_units or judged_from: no step could ever be left")
        return self

    @property
    def alarm(self) -> float:
        """An alarm never has to be surer than a proof."""
        return min(self.alarm_confidence, self.confidence)

    def after(self, share: float) -> float | None:
        """The next larger share; None when production is next."""
        return next((each for each in self.shares if each > share), None)
