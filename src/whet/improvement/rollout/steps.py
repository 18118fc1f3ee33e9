"""The steps there are, ready to be taken, and when the present one began.

That is kept beside the candidate, because a step can begin again without leading anywhere: after the clock was set
back, after the baseline changed, after a person let it go on.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import ValidationError

from whet.core.candidates import Candidate, Stage, Step
from whet.core.records import Count, Probability, Record

STEP = "step"
RESTORES = "restores"


class Begun(Record):
    """`against`: who was in production when it began; None: the policy that settings choose."""

    stage: Stage
    share: Probability
    at: datetime
    against: Count | None


def begun(candidate: Candidate) -> Begun | None:
    """None when the beginning of the present step was not noted."""
    found = last_begun(candidate)
    here = found is not None and (found.stage, found.share) == (candidate.stage, candidate.share)
    return found if here else None


def last_begun(candidate: Candidate) -> Begun | None:
    try:
        return Begun.model_validate(candidate.evidence.get(STEP))
    except ValidationError:
        return None


def as_begun(candidate: Candidate) -> Candidate:
    """The candidate, its `since` being when the present step last began."""
    noted = begun(candidate)
    return candidate if noted is None else candidate.model_copy(update={"since": noted.at})


def beginning(stage: Stage, share: float, at: datetime, against: int | None) -> dict[str, Any]:
    """What to note of a step that begins."""
    return {STEP: Begun(stage=stage, share=share, at=at, against=against).model_dump(mode="json")}


def begins_again(candidate: Candidate, at: datetime, against: int | None) -> dict[str, Any]:
    """Measured from now on. In production it is still whom it replaced that would come back."""
    noted = begun(candidate)
    kept = noted.against if noted is not None and candidate.stage is Stage.PRODUCTION else against
    return beginning(candidate.stage, candidate.share, at, kept)


class Told(NamedTuple):
    """What is said of a step, and who says it; `asked`: a person, whom a pause does not stop."""

    why: str
    by: str = "whet"
    evidence: Mapping[str, Any] = MappingProxyType({})
    asked: bool = False


def to_canary(candidate: Candidate, share: float, against: int | None, at: datetime, told: Told) -> Step:
    return taken(candidate, Stage.CANARY, share, told, beginning(Stage.CANARY, share, at, against))


def to_production(candidate: Candidate, replaced: int | None, at: datetime, told: Told) -> Step:
    return taken(candidate, Stage.PRODUCTION, 1.0, told, beginning(Stage.PRODUCTION, 1.0, at, replaced))


def back(candidate: Candidate, restores: int | None, told: Told) -> Step:
    """`restores` is who decides again; noted in the same step, so that a crash after it forgets nobody."""
    return taken(candidate, Stage.ROLLED_BACK, 0.0, told, {RESTORES: {"number": restores, "done": restores is None}})


def taken(candidate: Candidate, to: Stage, share: float, told: Told, noted: Mapping[str, Any] | None = None) -> Step:
    return Step(
        number=candidate.number,
        seen=candidate.stage,
        seen_share=candidate.share,
        to=to,
        share=share,
        why=told.why,
        by=told.by,
        asked=told.asked,
        evidence={**told.evidence, **(noted or {})},
    )
