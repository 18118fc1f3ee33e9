"""All settings. Without a single line of configuration, these defaults hold."""

from pydantic import Field, SecretStr

from whet.settings.api import Api
from whet.settings.cost import Cost
from whet.settings.learning import (
    Convergence,
    ExperienceReplay,
    HierarchicalLearning,
    QLearning,
    Training,
    TransferLearning,
)
from whet.settings.memory import Memory
from whet.settings.production import Learn, Production, TeamLearning
from whet.settings.running import Confidence, Limits, Rewards
from whet.settings.section import Section
from whet.settings.service import Service


class Settings(Section):
    """The table [tool.whet] of pyproject.toml, or whet.toml."""

    project: str | None = Field(
        None,
        pattern=r"^\w[\w .+@-]{0,199}$",
        description="The name this project has in a store that several share; found when not set (docs/memory.md).",
        examples=["shop"],
    )
    minutes: float = Field(10.0, gt=0, le=1440, description="Budget of a run.")
    learning: bool = Field(True, description="Learn from outcomes; false decides by what is known and changes nothing.")
    seed: int | None = Field(
        None,
        ge=0,
        lt=2**32,
        description="Makes a run's choices repeatable; a new one per run when not set.",
        examples=[7],
    )
    python: str | None = Field(
        None,
        min_length=1,
        description="The interpreter that runs the project's tests; found when not set.",
        examples=[".venv/bin/python"],
    )
    database_url: str | None = Field(
        None,
        min_length=1,
        repr=False,
        description="Where experience is kept; a SQLite file in .whet when not set.",
        examples=["postgresql+psycopg://localhost/whet"],
    )
    audit_key: SecretStr | None = Field(
        None, description="Key of the audit trail; only from the environment (WHET_AUDIT_KEY), never from a file."
    )
    agents: tuple[str, ...] | None = Field(
        None, strict=False, description="The agents that take part; all when not set.", examples=[["test-executor"]]
    )
    policies: dict[str, str] = Field(
        {},
        description="Which policy an agent uses, by the agent's name: tabular, dqn, ppo and others: docs/training.md.",
        examples=[{"test-executor": "epsilon-greedy"}],
    )
    q_learning: QLearning = QLearning()
    experience_replay: ExperienceReplay = ExperienceReplay()
    hierarchical_learning: HierarchicalLearning = HierarchicalLearning()
    transfer_learning: TransferLearning = TransferLearning()
    training: Training = Training()
    convergence: Convergence = Convergence()
    learn: Learn = Learn()
    production: Production = Production()
    team_learning: TeamLearning = TeamLearning()
    memory: Memory = Memory()
    rewards: Rewards = Rewards()
    confidence: Confidence = Confidence()
    limits: Limits = Limits()
    cost: Cost = Cost()
    api: Api = Api()
    service: Service = Service()
