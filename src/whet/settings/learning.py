"""How the fleet learns: tables [tool.whet.q_learning] to [tool.whet.convergence]."""

from typing import Literal, Self

from pydantic import Field, model_validator

from whet.settings.section import Section, not_yet


class QLearning(Section):
    """Tabular Q-learning and its exploration."""

    learning_rate: float = Field(0.1, gt=0, le=1, description="How far one experience moves a value.")
    discount_factor: float = Field(0.95, ge=0, lt=1, description="What the next step's value counts today.")
    exploration: Literal["thompson", "epsilon-greedy"] = Field(
        "thompson", description="How untried actions get their chance; the epsilon keys belong to epsilon-greedy."
    )
    epsilon_strategy: Literal["reward_based", "exponential", "step"] = Field(
        "reward_based", description="How the share of random actions falls."
    )
    initial_epsilon: float = Field(0.2, ge=0, le=1, description="Share of random actions at the start.")
    min_epsilon: float = Field(0.01, ge=0, le=1, description="Share of random actions that always stays.")
    epsilon_decay: float = Field(0.995, gt=0, le=1, description="Factor by which epsilon falls.")
    target_reward: float = Field(
        50.0, ge=-10_000, le=10_000, description="Mean reward above which reward_based exploration falls fastest."
    )
    reward_window: int = Field(100, ge=10, description="How many of the newest rewards make that mean.")
    first_visits: Literal["average", "constant"] = Field(
        "average", description="average: first visits are averaged; constant: the learning rate from the first one."
    )

    @model_validator(mode="after")
    def _floor_below_start(self) -> Self:
        if self.min_epsilon > self.initial_epsilon:
            raise ValueError(
                f"min_epsilon is {self.min_epsilon}, above initial_epsilon {self.initial_epsilon}. "
                "Give a floor that is not above the start."
            )
        return self


class ExperienceReplay(Section):
    """Learning again from what is stored."""

    enabled: bool = Field(True, description="Replay stored experiences after a run, at half the learning rate.")
    batch_size: int = Field(32, ge=1, le=100_000, description="How many experiences one replay draws.")
    buffer_size: int = not_yet(10_000, "How many experiences are kept for replay.", ge=1)
    update_frequency: int = not_yet(10, "Replay after so many new experiences.", ge=1)
    prioritized: bool = not_yet(True, "Draw surprising experiences more often.")
    alpha: float = not_yet(0.6, "How much surprise counts in a draw; 0 draws evenly.", ge=0, le=1)
    beta: float = not_yet(0.4, "How much of the bias of such draws is corrected at the start.", ge=0, le=1)
    beta_increment: float = not_yet(0.001, "How much beta grows with every draw, up to 1.", ge=0, le=1)
    max_memory_bytes: int = not_yet(104_857_600, "How much memory a replay may use.", ge=1)


class HierarchicalLearning(Section):
    """Tables of a category and of the whole fleet behind each agent's own."""

    enabled: bool = Field(True, description="Let agents fall back on, and teach, the shared tables.")
    individual_weight: float = Field(1.0, ge=0, le=1, description="Weight of an agent's own table in a look-up.")
    category_weight: float = Field(0.7, ge=0, le=1, description="Weight of its category's table.")
    fleet_weight: float = Field(0.5, ge=0, le=1, description="Weight of the fleet's table.")
    category_rate: float = Field(0.1, gt=0, le=1, description="How far an agent's value moves its category's.")
    fleet_rate: float = Field(0.05, gt=0, le=1, description="How far an agent's value moves the fleet's.")
    aggregation_interval_seconds: int = not_yet(
        300, "How often values are passed on; Whet passes them on at once, with every experience.", ge=1
    )


class TransferLearning(Section):
    """A start for new agents from similar ones."""

    enabled: bool = Field(True, description="Start an agent's empty table from a similar agent's.")
    min_confidence: float = Field(0.7, ge=0, le=1, description="Values below this confidence are not handed on.")
    decay_factor: float = Field(0.8, ge=0, le=1, description="What a handed-on value counts.")


class Convergence(Section):
    """When learning counts as settled."""

    check_interval_seconds: int = not_yet(3600, "How often convergence is looked at.", ge=1)
    q_value_change_threshold: float = Field(
        0.01, ge=0, description="Mean change of the values below which they stand still."
    )
    reward_variance_threshold: float = Field(
        5.0, ge=0, description="Standard deviation of the rewards below which they are steady."
    )
    min_success_rate: float = Field(0.85, ge=0, le=1, description="Share of successful runs that is needed.")
    min_exploration_rate: float = Field(
        0.05, ge=0, le=1, description="Share of random actions below which exploring is over."
    )
    target_improvement: float = not_yet(0.2, "Gain over the start that learning aims at.", ge=0)


class Training(Section):
    """What whet train does when its options do not say otherwise."""

    steps: int = Field(8000, ge=8, le=10**8, description="How many decisions a deep policy is trained with.")
    save_every: int = Field(2000, ge=8, description="After how many decisions everything is saved, to resume from.")
    curriculum: bool = Field(False, description="Practise the world where most is being learned.")
    device: Literal["cpu", "auto", "cuda"] = Field(
        "cpu",
        description="Where networks are trained; auto: a GPU if there is one. Equal seeds are equal on the CPU.",
    )
