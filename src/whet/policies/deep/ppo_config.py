"""Everything about PPO that can be chosen. The defaults learn small problems fast; see docs/deep.md::

Config(layout=Layout(tokens=1, width=4), actions=("left", "right"), discount=0.98)
"""

from typing import Annotated, Literal

from pydantic import Field

from whet.core.records import Count, Probability, Record
from whet.policies.deep.layout import Layout

Size = Annotated[int, Field(ge=1, le=65_536)]
Number = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]


class Linear(Record):
    """From `first` to `last` while the first `steps` of environments pass; constant when `steps` is 0."""

    first: Positive
    last: NotNegative = 0.0
    steps: Count = 0

    def at(self, steps: int) -> float:
        if not self.steps:
            return self.first
        return self.first + (self.last - self.first) * min(1.0, steps / self.steps)


class Config(Record):
    layout: Layout
    actions: tuple[str, ...] = Field(min_length=1, max_length=4096)
    hidden: tuple[Size, ...] = Field((64, 64), description="layers of the actor, and as many of the critic")

    rollout_steps: Number = Field(32, description="of each environment, after which it is time to improve")
    epochs: Number = Field(20, description="how often each rollout is gone through")
    minibatch: Number = 256

    discount: Probability = 0.99
    gae_lambda: Probability = 0.95
    normalise_rewards: bool = True
    normalise_advantages: bool = True

    clip: Linear = Linear(first=0.2)
    value_clip: Positive | None = Field(None, description="of how far a value may move, in normalised rewards")
    value_weight: NotNegative = 0.5
    entropy_weight: NotNegative = 0.0

    learning_rate: Linear = Linear(first=1e-3)
    gradient_clip: Positive = 0.5

    device: Literal["auto", "cpu", "cuda"] = "auto"
