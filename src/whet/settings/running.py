"""What outcomes are worth and what a run may do: [tool.whet.rewards], [tool.whet.confidence], [tool.whet.limits]."""

from typing import Literal, Self

from pydantic import Field, model_validator

from whet.core.errors import RefusedInput
from whet.rewards import TEAM_SHARE, known_weights, profile, weight_names
from whet.settings.section import Section


class Rewards(Section):
    """What outcomes are worth."""

    profile: Literal["composite", "multi-objective"] = Field("multi-objective", description="The reward profile.")
    weights: dict[str, float] = Field(
        {}, description="Weights of reward parts, each from 0 to 10, by name.", examples=[{"coverage_gain": 0.5}]
    )
    team_share: float = Field(TEAM_SHARE, ge=0, le=1, description="Share of every reward that goes to the whole team.")

    @model_validator(mode="after")
    def _weights_exist(self) -> Self:
        try:
            known_weights(self.weights, weight_names(profile(self.profile)))
        except RefusedInput as error:
            raise ValueError(str(error)) from error
        return self


class Confidence(Section):
    """When a person is asked."""

    review_below: float = Field(0.05, ge=0, le=1, description="Decisions less sure than this wait for a person.")
    review_hiding_below: float = Field(
        0.6, ge=0, le=1, description="The same for actions that may hide something, such as skipping tests."
    )


class Limits(Section):
    """What one action may use."""

    timeout_seconds: float | None = Field(None, gt=0, description="Longest time of one action.", examples=[300.0])
    memory_mb: int | None = Field(None, ge=16, description="Most memory of one action.", examples=[2048])
