"""Training: begin it, end it, see how it stands."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import Field

from whet.client.wire import Stopped, Trained, TrainingStatus
from whet.core.people import Person, Role
from whet.core.records import Record
from whet.service.access import require
from whet.service.desk import desk_of
from whet.service.problems import Refused
from whet.service.rest.answers import PROBLEMS
from whet.service.rest.bodies import Body
from whet.service.rest.names import Trainee

router = APIRouter(prefix="/api/v1/training", tags=["learning"], responses=PROBLEMS)
Minutes = Annotated[float, Field(gt=0, le=1440)]
Operator = Annotated[Person, Depends(require(Role.OPERATOR))]


class Learn(Record):
    """A candidate of what waits; proven, and rolled out."""

    what: Literal["learn"]
    minutes: Minutes | None = Field(None, description="at most what settings allow")


class Train(Record):
    """A policy for an agent, from recorded worlds."""

    what: Literal["train"]
    agent: Trainee
    policy: Literal["dqn", "ppo", "warm-start"] | None = None
    steps: Annotated[int, Field(ge=8, le=10**7)] | None = None
    minutes: Minutes | None = Field(None, description="at most what settings allow")


Start = Annotated[Learn | Train, Field(discriminator="what")]
_START: Final[Body[Learn | Train]] = Body(Start, {"what": "learn"})


@router.post("/start", status_code=202, openapi_extra=_START.described)
def start(request: Request, person: Operator, asked: Annotated[Learn | Train, Depends(_START)]) -> Trained:
    """Begin training in a process of its own. There is one at a time, whoever of those that serve the store began it;
    it ends after `minutes` at the latest."""
    desk = desk_of(request)
    most = desk.settings.service.training_minutes
    begun = desk.training.start(asked.what, _options(asked), min(asked.minutes or most, most), person.name)
    if begun is None:
        raise Refused(409, "A training is under way.", "Wait for it, or end it: POST /api/v1/training/stop")
    return begun


@router.post("/stop")
def stop(request: Request, _person: Operator) -> Stopped:
    """End what is under way, with all its processes. What it saved stays."""
    return Stopped(stopped=desk_of(request).training.stop())


@router.get("/status")
def status(request: Request, _person: Annotated[Person, Depends(require(Role.VIEWER))]) -> TrainingStatus:
    desk = desk_of(request)
    learning, last = desk.store.learning, desk.training.last()
    return TrainingStatus(
        under_way=last is not None and last.ended_at is None,
        last=last,
        waiting={agent: learning.waiting(agent)[0] for agent in learning.agents_waiting()},
        unread=learning.backlog(),
    )


def _options(asked: Learn | Train) -> list[str]:
    """Nothing of this is text that somebody else made up."""
    if isinstance(asked, Learn):
        return ["--now", "--format", "json"]
    options = ["--agent", asked.agent, "--format", "json"]
    options += ["--policy", asked.policy] if asked.policy else []
    return options + (["--steps", str(asked.steps)] if asked.steps else [])
