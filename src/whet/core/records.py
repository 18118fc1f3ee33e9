"""The values handed from step to step of the loop. All frozen; unknown fields are refused."""

from abc import abstractmethod
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Literal, Self
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field

from whet.core.keys import Atom, state_key


class Record(BaseModel):
    """A frozen value. NaN and infinities are refused wherever a float is asked for."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


Probability = Annotated[float, Field(ge=0.0, le=1.0)]
Seconds = Annotated[float, Field(ge=0.0)]
Count = Annotated[int, Field(ge=0)]
# Wide enough for every profile (see docs/rewards.md); a value outside is a defect, not an outcome.
Points = Annotated[float, Field(ge=-10_000.0, le=10_000.0)]


def new_id() -> str:
    return uuid4().hex


def now() -> datetime:
    return datetime.now(UTC)


class ActionKind(StrEnum):
    """What actions of different agents have in common; category and fleet tables are keyed by it."""

    AS_CONFIGURED = "as-configured"
    FASTER = "faster"
    FOCUSED = "focused"
    ORDERED = "ordered"
    REPEATED = "repeated"
    DEEPER = "deeper"
    RECALLED = "recalled"
    DELEGATED = "delegated"
    STOPPED = "stopped"


class Action(Record):
    """One thing an agent can do. `hides` marks what may keep something from the user (skipped tests)."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    kind: ActionKind
    summary: str
    hides: bool = False


class Situation(Record):
    """The shared abstract state: few features that every agent of a project can compute."""

    suite: Literal["empty", "small", "medium", "large"]
    pace: Literal["unknown", "fast", "moderate", "slow"]
    failing: bool | None
    changed: bool | None
    history: Literal["none", "some", "rich"]
    budget: Literal["tight", "ample"]

    def category_key(self) -> str:
        atoms = (self.suite, self.pace, self.failing, self.changed, self.history, self.budget)
        return state_key(("category", *atoms))

    def fleet_key(self) -> str:
        return state_key(("fleet", self.pace, self.failing, self.budget))


class State(Record):
    """What an agent observed. Subclasses add fields and say how they are binned."""

    situation: Situation

    @abstractmethod
    def discrete(self) -> tuple[Atom, ...]:
        """The bins under which the agent's own table files this state."""

    def key(self) -> str:
        return state_key((type(self).__name__, *self.discrete()))


class Recollection(Record):
    """A memory that was used, and why: what decisions and findings keep of it."""

    memory: str = Field(description="its id")
    text: str = Field(
        "", max_length=300, description="looked up when shown, never stored: the forgotten leaves no trace"
    )
    why: str
    weight: Probability = Field(description="of a decision's, its share of all that counted; of a finding's, how alike")


class Finding(Record):
    """Something wrong in the user's software, with evidence and a way to see it again."""

    kind: Literal["failing-test", "flaky-test", "coverage-gap", "risky-change", "suite-problem", "api-fault"]
    title: str
    severity: Literal["critical", "high", "medium", "low"]
    evidence: str
    reproduce: str | None = None
    file: str | None = None
    line: Count | None = None
    test: str | None = None
    probability: Probability | None = None
    cause: str | None = Field(None, description="what tells it apart where no test or line does: a fault's signature")
    turned: str | None = Field(None, description="where it first goes another way than when it passed, as a sentence")
    memories: tuple[Recollection, ...] = Field((), description="what it resembles; the same trouble without them too")
    known: tuple[Recollection, ...] = Field((), description="facts about its test, or its place and what is changed")

    def fingerprint(self) -> str:
        """The same trouble met again has the same fingerprint."""
        if self.cause is not None:
            return state_key((self.kind, self.cause))
        return state_key((self.kind, self.test, self.file, None if self.test else self.line))


class Outcome(Record):
    """What the tool measured. A number is measured, or it is None: never a stand-in."""

    duration_seconds: Seconds
    peak_memory_mb: Annotated[float, Field(ge=0.0)] | None = None
    failed: str | None = Field(None, description="Why the tool could not do its job, as a sentence.")
    cut_short: bool = Field(False, description="the visit's budget ended it; says nothing about the action")
    unearned: str | None = Field(None, description="why nothing is learned from its reward, as a sentence")
    findings: tuple[Finding, ...] = ()


class Alternative(Record):
    """One action a policy weighed, as it stood at the moment of the decision."""

    action: str
    value: float | None = Field(description="expected reward; None while nothing is known")
    uncertainty: Annotated[float, Field(ge=0.0)] | None = Field(description="standard error of the value")
    visits: Count
    source: Literal["individual", "abstract", "category", "fleet", "memory", "network", "none"]
    probability: Probability
    confidence: Probability | None = Field(description="chance to be within 5 % of the best; None: nobody can tell")


class Review(StrEnum):
    NOT_NEEDED = "not-needed"
    PENDING = "pending"
    APPROVED = "approved"
    OVERRIDDEN = "overridden"


class Decision(Record):
    """The action that runs, and everything needed to explain it and to evaluate other policies on it."""

    id: str = Field(default_factory=new_id)
    run_id: str
    agent: str
    state_key: str
    proposed: str = Field(description="what the policy wanted")
    action: str = Field(description="what runs: the proposal, the safe default, or a person's word")
    probability: Annotated[float, Field(gt=0.0, le=1.0)] = Field(description="chance that `action` would run here")
    confidence: Probability | None = Field(
        description="chance that the proposal is within 5 % of the best action; None for policies that weigh nothing"
    )
    explored: bool
    policy: str
    policy_version: str
    decided_by: Literal["policy", "safe-default", "person"]
    alternatives: tuple[Alternative, ...]
    memories: tuple[Recollection, ...] = Field((), description="that changed what the policy believed")
    review: Review = Review.NOT_NEEDED
    at: datetime = Field(default_factory=now)


Severities = dict[Literal["critical", "high", "medium", "low"], Count]


class Measures(Record):
    """What the reward profiles ask for. None means that it was not measured; it then earns and costs nothing."""

    coverage_before: Annotated[float, Field(ge=0, le=100)] | None = None
    coverage_after: Annotated[float, Field(ge=0, le=100)] | None = None
    bugs_found: Severities | None = None
    edge_cases_found: Count | None = None
    regression_detected: bool | None = None
    expected_seconds: Seconds | None = None
    actual_seconds: Seconds | None = None
    expected_cost: Annotated[float, Field(ge=0)] | None = None
    actual_cost: Annotated[float, Field(ge=0)] | None = None
    quality_before: Annotated[float, Field(ge=0, le=100)] | None = None
    quality_after: Annotated[float, Field(ge=0, le=100)] | None = None
    pattern_reused: bool | None = None
    pattern_success: bool | None = None
    incidents_prevented: Severities | None = None
    false_positives: Count | None = None
    user_rating: Annotated[float, Field(ge=1, le=5)] | None = None
    clarity_score: Probability | None = None
    self_healed: bool | None = None
    is_flaky: bool | None = None
    tests_blocked: Count | None = None
    resource_usage: Annotated[float, Field(ge=0)] | None = None
    resource_limit: Annotated[float, Field(ge=0)] | None = None
    required_manual_fix: bool | None = None
    task_failed: bool | None = None


class Part(Record):
    """One named part of a reward. `points` is None when what it needs was not measured."""

    name: str
    points: Points | None
    weight: float = 1.0
    because: str = ""

    def weighted(self) -> float:
        return 0.0 if self.points is None else self.points * self.weight


class Valuation(Record):
    """What an agent makes of an outcome: the measures every profile reads, and the agent's own terms."""

    measures: Measures
    own: tuple[Part, ...] = ()
    anyway: "Valuation | None" = Field(
        None,
        description="what any action would have earned here; it is part of the reward, but not to this one's credit",
    )


class Reward(Record):
    """Raw is what happened, shaped adds the potential, credited is this agent's share of the run."""

    profile: str
    parts: tuple[Part, ...]
    raw: Points
    shaped: Points
    credited: Points


class Experience(Record):
    """One turn of the loop. The key makes a repeated delivery count once."""

    key: str = Field(min_length=1, max_length=200)
    run_id: str
    agent: str
    category: str
    decision: Decision
    kind: ActionKind
    state: dict[str, object]
    state_key: str
    category_key: str
    fleet_key: str
    outcome: dict[str, object]
    reward: Reward
    next_state_key: str | None
    next_category_key: str | None = None
    next_fleet_key: str | None = None
    next_actions: tuple[str, ...] = ()
    done: bool
    at: datetime = Field(default_factory=now)

    @property
    def teaches(self) -> bool:
        """What was cut short says nothing about the action, and a reward that was not earned the wrong thing."""
        return not self.outcome.get("cut_short") and self.outcome.get("unearned") is None

    def with_reward(self, reward: Reward) -> Self:
        return self.model_copy(update={"reward": reward})
