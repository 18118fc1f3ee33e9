"""How learned policies are trained, proven and put into use: [tool.whet.learn], [tool.whet.production] and teams."""

from typing import Literal, Self

from pydantic import Field, model_validator

from whet.settings.section import Section, not_yet


class Learn(Section):
    """Continuous learning: what `whet learn` does when its options do not say otherwise."""

    policy: Literal["tables", "dqn"] = Field("tables", description="What is trained; dqn needs the extra deep.")
    min_experiences: int = Field(1000, ge=1, description="New experiences of an agent that a training needs.")
    min_hours: float = Field(24.0, ge=0, description="Hours between two trainings of an agent.")
    check_seconds: float = Field(3600.0, ge=1, description="How often `whet learn --watch` looks.")
    holdout: float = Field(0.25, gt=0, lt=1, description="Share of the runs that are kept for proof, never trained on.")
    stream_days: float = Field(7.0, gt=0, description="Older experiences are stale: they are not trained on.")
    stream_capacity: int = Field(100_000, ge=1, description="How many of the newest experiences count as the stream.")
    replay_capacity: int = Field(1_000_000, ge=1, description="How many experiences of earlier trainings are kept.")
    importance: float = Field(1000.0, ge=0, description="How strongly a network holds on to what it knew (EWC).")
    queue: str = Field(
        "store",
        min_length=1,
        repr=False,
        description="The training queue: store, or the address of Redis or Kafka.",
        examples=["redis://127.0.0.1:6379/0"],
    )
    registry: str = Field(
        "plain",
        min_length=1,
        repr=False,
        description="Where policies are kept: plain, mlflow, or the address of an MLflow server.",
        examples=["mlflow"],
    )


class Production(Section):
    """Comparing a new policy with the old one, and going back."""

    ab_testing: bool = Field(True, description="Proven candidates begin to decide by themselves; false: when promoted.")
    first_share: float = Field(0.1, gt=0, lt=1, description="Share of the runs a candidate decides at first.")
    traffic_split: float = Field(0.5, gt=0, lt=1, description="Share of the runs it decides after that.")
    min_samples: int = Field(100, ge=2, description="Runs of a candidate that a step to the next share needs.")
    min_decisions: int = Field(500, ge=1, description="Likewise, decisions.")
    # Below 30 runs nothing is ever concluded (`rollout.plan.Plan.judged_from`).
    most_samples: int = Field(2000, ge=30, description="Runs of a candidate after which a person has to decide.")
    step_hours: float = Field(24.0, ge=0, description="Hours at a share before the next.")
    probation_hours: float = Field(168.0, ge=0, description="Hours in which production is still watched after a step.")
    confidence_level: float = Field(0.95, gt=0.5, lt=1, description="How sure a comparison must be.")
    min_accuracy: float = Field(0.85, ge=0, le=1, description="Gate: share of right decisions on kept runs.")
    min_regression: float = Field(0.90, ge=0, le=1, description="Gate: old accuracy, as a share of production's.")
    min_safety: float = Field(0.95, ge=0, le=1, description="Gate: share of safe decisions.")
    min_effective: int = Field(200, ge=1, description="Gate: effective number of held-out runs.")
    rollback_threshold: float = Field(
        0.10, gt=0, le=1, description="Fall of the success rate that brings the old policy back."
    )
    rollback_reward: float = Field(15.0, gt=0, description="Fall of the mean reward that brings it back.")
    rollback_performance: float = Field(
        0.95, gt=0, le=1, description="Share of the baseline's mean reward below which it is brought back."
    )

    @model_validator(mode="after")
    def _steps_can_be_taken(self) -> Self:
        if self.first_share >= self.traffic_split:
            raise ValueError(
                f"first_share is {self.first_share}, not below traffic_split {self.traffic_split}. "
                "Give a first share that is smaller than the one after it."
            )
        if self.most_samples < self.min_samples:
            raise ValueError(
                f"most_samples is {self.most_samples}, below min_samples {self.min_samples}: no step could be taken. "
                "Give at least as many."
            )
        return self


class TeamLearning(Section):
    """Sharing what was learned. Off unless asked for: nothing leaves the machine by default."""

    enabled: bool = not_yet(False, "Share tables with the team.")
    sync_interval_seconds: int = not_yet(3600, "How often tables are exchanged.", ge=1)
    push_threshold: float = not_yet(0.7, "Values below this confidence are not shared.", ge=0, le=1)
    conflict_resolution: Literal["highest_confidence"] = not_yet(
        "highest_confidence", "Whose value wins when two differ."
    )
    privacy_mode: Literal["differential"] = not_yet("differential", "How shared values are protected.")
    dp_epsilon: float = not_yet(1.0, "Privacy budget of differential privacy; less is more private.", gt=0)
