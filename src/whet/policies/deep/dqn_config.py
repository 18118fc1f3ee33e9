"""Everything about a DQN that can be chosen. The defaults are for Whet's agents; other problems give their own values::

Config(layout=Layout(tokens=1, width=4), actions=("left", "right"), batch=64, learning_rate=2.3e-3, heads=1)
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from whet.core.records import Probability, Record
from whet.policies.deep.layout import Layout

Size = Annotated[int, Field(ge=1, le=65_536)]
Number = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0.0)]


class Network(Record):
    """Sizes. The encoder sees the whole state; its summary then attends to the tokens."""

    encoder: tuple[Size, Size] = (512, 256)
    stream: Size = Field(128, description="of each dueling stream: what the state is worth, what an action adds")
    heads: Annotated[int, Field(ge=1, le=64)] = Field(
        3, description="of the ensemble; their spread is the doubt, and each costs 10 µs"
    )
    attention: Size = Field(64, description="width of a token; shared by the heads of attention")
    attention_heads: Size = 4

    @model_validator(mode="after")
    def _parts_are_equal(self) -> Self:
        if self.attention % self.attention_heads:
            raise ValueError(f"attention {self.attention} cannot be shared by {self.attention_heads} heads")
        return self


class Config(Record):
    layout: Layout
    actions: tuple[str, ...] = Field(min_length=1, max_length=4096)
    network: Network = Network()

    discount: Probability = 0.99
    target_rate: Annotated[float, Field(gt=0.0, le=1.0)] = Field(0.001, description="τ of the target network")
    reward_scale: Positive = Field(1.0, description="rewards are multiplied by it; values are told in unscaled rewards")

    learning_rate: Positive = 3e-4
    weight_decay: Annotated[float, Field(ge=0.0)] = 1e-5
    restart_updates: Annotated[int, Field(ge=0)] = Field(1000, description="first cosine cycle; 0: a constant rate")
    restart_factor: Number = Field(2, description="by which each cycle is longer than the one before")
    lowest_rate: Probability = Field(0.0, description="share of the learning rate at the end of a cycle")
    gradient_clip: Positive = 10.0

    batch: Number = 256
    warm_up_steps: Number = Field(256, description="of environments, before the first update")
    steps_per_round: Number = Field(1, description="of environments, after which it is time to improve")
    updates_per_round: Number = 1

    capacity: Number = 1_000_000
    alpha: Probability = 0.6
    beta: Probability = 0.4
    anneal_steps: Number = Field(100_000, description="of environments, in which β rises to 1")

    epsilon: Probability = 0.2
    epsilon_floor: Probability = 0.01
    epsilon_decay: Probability = Field(0.995, description="per step of an environment")

    device: Literal["auto", "cpu", "cuda"] = "auto"
