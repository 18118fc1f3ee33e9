"""A candidate is a trained policy on its way to production. Its life is a small table; the store is where it stands.

`TRAINED → PROVEN → CANARY → PRODUCTION → RETIRED`, or on the way `REJECTED` (a gate said no) or `ROLLED_BACK` (it was
worse where it counted, or a person took it back).
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field

from whet.core.records import Count, Probability, Record


class Stage(StrEnum):
    TRAINED = "trained"
    PROVEN = "proven"
    CANARY = "canary"
    PRODUCTION = "production"
    RETIRED = "retired"  # another one took over; it can be brought back
    REJECTED = "rejected"
    ROLLED_BACK = "rolled-back"


# A stage may be "moved" to itself, to change its share; otherwise only to those named.
SUCCESSORS: Mapping[Stage, frozenset[Stage]] = {
    Stage.TRAINED: frozenset({Stage.PROVEN, Stage.REJECTED}),
    Stage.PROVEN: frozenset({Stage.CANARY, Stage.REJECTED}),
    Stage.CANARY: frozenset({Stage.PRODUCTION, Stage.ROLLED_BACK}),
    Stage.PRODUCTION: frozenset({Stage.RETIRED, Stage.ROLLED_BACK}),
    Stage.RETIRED: frozenset({Stage.PRODUCTION}),
    Stage.REJECTED: frozenset(),
    Stage.ROLLED_BACK: frozenset(),
}
# At most one candidate of an agent is in each of these.
SINGULAR = frozenset({Stage.CANARY, Stage.PRODUCTION})

ModelKind = Literal["tables", "dqn", "ppo"]


class Lineage(Record):
    """Where a candidate comes from."""

    batch: Count = Field(description="the batch of experiences that it was trained with")
    experiences: Count
    first: str | None = Field(description="key of the batch's oldest experience")
    last: str | None
    parent: Count | None = Field(description="the candidate whose artefact training went on from; None: from nothing")
    code_version: str = Field(description="of Whet")
    seed: Count
    keys_digest: str | None = Field(None, description="SHA-256 of the keys of what it was trained with, one a line")
    code_digest: str | None = Field(None, description="SHA-256 of the sources of Whet that trained it")


class Candidate(Record):
    number: Count
    key: str = Field(description="what made it, so that making it twice makes one")
    agent: str
    kind: ModelKind
    artefact: str = Field(pattern="^[0-9a-f]{64}$", description="what the registry knows it by")
    lineage: Lineage
    stage: Stage = Stage.TRAINED
    share: Probability = Field(0.0, description="of the units, decided by it")
    paused: bool = Field(False, description="no step forward until a person says otherwise; it still goes back")
    evidence: dict[str, Any] = Field(default_factory=dict, description="by name: gates, looks; what the last step saw")
    why: str = Field("", description="the last step, as a sentence")
    since: datetime = Field(description="when it reached this stage and share")
    made_at: datetime


class NewCandidate(Record):
    key: Annotated[str, Field(min_length=1, max_length=200)]
    agent: str
    kind: ModelKind
    artefact: str = Field(pattern="^[0-9a-f]{64}$")
    lineage: Lineage


class Step(Record):
    """One move of one candidate, taken only if it stands where the mover believes it to stand."""

    number: Count
    seen: Stage
    seen_share: Probability
    to: Stage
    share: Probability
    why: Annotated[str, Field(min_length=1)]
    by: str = "whet"
    asked: bool = Field(False, description="by a person, and so taken although it is paused; else only going back is")
    evidence: dict[str, Any] = Field(default_factory=dict, description="added to what is known, by name")

    @property
    def goes_back(self) -> bool:
        """Out of use, or into it again because whoever took over went out."""
        return self.to is Stage.ROLLED_BACK or (self.seen, self.to) == (Stage.RETIRED, Stage.PRODUCTION)


class Candidates(Protocol):
    """The candidates of record. Every change is one transaction with its audit entry."""

    def add(self, new: NewCandidate, at: datetime) -> Candidate:
        """The same key again gives the candidate that is there already, unchanged."""

    def get(self, number: int) -> Candidate | None: ...

    def all(self, agent: str | None = None) -> list[Candidate]:
        """Newest first."""

    def at_stage(self, agent: str, stage: Stage) -> list[Candidate]:
        """Newest first."""

    def move(self, step: Step, at: datetime) -> Candidate | None:
        """The candidate after the step; None, and no change, when it does not stand where the step says.

        RefusedInput for a step that SUCCESSORS does not allow. Whoever reaches PRODUCTION retires, in the same
        transaction, the one that was there; a CANARY is refused (None) while the agent has another one. Unless a person
        asked, what is paused only goes back (None), and nobody takes its place in PRODUCTION.
        """

    def pause(self, number: int, paused: bool, by: str, why: str, at: datetime) -> Candidate | None:
        """None when there is no such candidate."""

    def note(self, number: int, evidence: Mapping[str, Any], why: str | None = None) -> Candidate | None:
        """Add to what is known of it, by name, without moving it; in the audit trail only when `why` is given."""
