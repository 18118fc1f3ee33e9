"""What the service answers. Both sides use these, so that neither can be wrong about the other."""

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import Field

from whet.core.candidates import Candidate
from whet.core.memories import Memory
from whet.core.people import Role
from whet.core.ports import RunRecord
from whet.core.records import Alternative, Count, Decision, Experience, Finding, Probability, Record, Review, Reward
from whet.core.views import Standing

T = TypeVar("T")


class Prediction(Record):
    decision: str = Field(description="its id; an outcome names it")
    run: str | None
    kept: bool
    agent: str
    action: str = Field(description="what should run")
    proposed: str = Field(description="what the policy wanted; another one when confidence was low or a person ruled")
    probability: Annotated[float, Field(gt=0.0, le=1.0)] = Field(description="chance that `action` would be the answer")
    confidence: Probability | None
    explored: bool
    decided_by: Literal["policy", "safe-default", "person"]
    review: Review
    policy: str
    version: str = Field(description="of what the answer was made from")
    alternatives: tuple[Alternative, ...]


class Begun(Record):
    run: str


class Learned(Record):
    key: str = Field(description="of the experience; telling the same outcome again changes nothing")
    reward: Reward
    learned: bool = Field(description="false: it was known already, and this is what it earned the first time")


class Trained(Record):
    """A training, under way or over. `ok` is None while nobody can tell."""

    what: Literal["learn", "train"]
    by: str
    begun_at: datetime
    ended_at: datetime | None = None
    ok: bool | None = None
    stopped: bool = False
    timed_out: bool = False
    said: str = ""


class TrainingStatus(Record):
    under_way: bool
    last: Trained | None = Field(description="the one under way, or the last")
    waiting: dict[str, Count] = Field(description="experiences that wait to be trained with, by agent")
    unread: Count = Field(description="experiences that were not looked at yet")


class Stopped(Record):
    stopped: bool = Field(description="false: none was under way")


class Model(Record):
    agent: str
    actions: tuple[str, ...]
    chosen: str = Field(description="the policy that settings choose; it decides where no candidate does")
    production: Candidate | None = Field(description="the candidate that decides instead")
    canary: Candidate | None = Field(description="the candidate on trial, with its share of the runs")


class Models(Record):
    models: tuple[Model, ...]


class Noted(Record):
    id: str
    new: bool = Field(description="false: the same was noted before")


class Found(Record):
    id: str
    memory: Memory
    score: Probability
    why: str


class Retrieved(Record):
    items: tuple[Found, ...]


class Consolidated(Record):
    remembered: Count = Field(description="new memories of what was lived")
    made: Count = Field(description="new facts and procedures")
    confirmed: Count
    let_go: Count
    forgotten: Count


class Rewarded(Record):
    decision: str
    run: str
    agent: str
    action: str
    reward: Reward
    at: datetime


class History(Record):
    items: tuple[Rewarded, ...]


class Part(Record, Generic[T]):
    """Part of a list, newest first."""

    items: tuple[T, ...]
    before: Count | None = Field(description="where the next, older part begins; null: this was the last")


class RunItem(Record):
    number: Count
    run: RunRecord
    decisions: Count
    reward: float | None = Field(description="credited to its decisions together; null until one was")
    successes: Count
    judged: Count
    findings: Count


class FindingItem(Record):
    number: Count
    fingerprint: str
    finding: Finding
    standing: Standing
    first_run: str
    last_run: str


class DecisionItem(Record):
    number: Count
    decision: Decision
    credited: float | None


class DecidedItem(Record):
    decision: Decision
    state: dict[str, Any]
    experience: Experience | None


class Heard(Record):
    rewards_changed: Count


class Ruled(Record):
    agent: str
    state_key: str
    action: str | None = Field(description="what runs in this state from now on; null: the fleet decides")


class KeyItem(Record):
    id: str
    name: str
    role: Role
    made_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


class NewKeyItem(Record):
    key: KeyItem
    text: str = Field(description="the key itself; it is shown this once")


class KeyItems(Record):
    items: tuple[KeyItem, ...]
