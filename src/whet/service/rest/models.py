"""Who decides now, and a person's word on candidates."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request
from pydantic import Field

from whet.agents.catalogue import AGENTS
from whet.bootstrap.learning import plan
from whet.client.wire import Model, Models
from whet.core.candidates import Candidate, Stage
from whet.core.people import Person, Role
from whet.core.records import Record
from whet.improvement.rollout import people
from whet.service.access import require
from whet.service.desk import Desk, desk_of
from whet.service.problems import Refused
from whet.service.rest.answers import PROBLEMS
from whet.service.rest.bodies import Body
from whet.service.rest.lists import Name, Number, known_candidate

router = APIRouter(tags=["models"], responses=PROBLEMS)
Operator = Annotated[Person, Depends(require(Role.OPERATOR))]


class Word(Record):
    why: Annotated[str, Field(min_length=1, max_length=300)] = "no reason given"


_WORD: Final[Body[Word]] = Body(Word, {"why": "worse on Mondays"})


@router.get("/model/info")
def info(request: Request, _person: Annotated[Person, Depends(require(Role.VIEWER))], agent: Name = None) -> Models:
    """Who decides for each agent: settings, a candidate in production, one on trial; with what was proven of them."""
    if agent is not None and agent not in AGENTS:
        raise Refused(404, f"There is no agent {agent!r}.", f"The agents are: {', '.join(AGENTS)}.")
    return Models(models=tuple(_model(desk_of(request), name) for name in AGENTS if agent in (None, name)))


def _model(desk: Desk, agent: str) -> Model:
    def standing(stage: Stage) -> Candidate | None:
        return next(iter(desk.store.candidates.at_stage(agent, stage)), None)

    settings = desk.settings
    return Model(
        agent=agent,
        actions=tuple(action.name for action in AGENTS[agent].actions),
        chosen=settings.policies.get(agent, settings.q_learning.exploration),
        production=standing(Stage.PRODUCTION),
        canary=standing(Stage.CANARY),
    )


def _steered(request: Request, candidate: Candidate) -> Candidate:
    """The next decision already knows."""
    desk_of(request).predicting.forget()
    return candidate


@router.post("/api/v1/candidates/{number}/promote", openapi_extra=_WORD.described)
def promote(request: Request, person: Operator, number: Number, _word: Annotated[Any, Depends(_WORD)]) -> Candidate:
    """Into production, or back into it. What was not proven is kept in the audit trail as forced."""
    desk = desk_of(request)
    known_candidate(request, number)
    return _steered(request, people.promote(desk.store, number, person.name, plan(desk.settings), desk.clock()))


@router.post("/api/v1/candidates/{number}/rollback", openapi_extra=_WORD.described)
def rollback(request: Request, person: Operator, number: Number, word: Annotated[Word, Depends(_WORD)]) -> Candidate:
    """Out of use; whoever decided before it decides again."""
    desk = desk_of(request)
    known_candidate(request, number)
    return _steered(request, people.rollback(desk.store, number, person.name, word.why, desk.clock()))


@router.post("/api/v1/candidates/{number}/pause", openapi_extra=_WORD.described)
def pause(request: Request, person: Operator, number: Number, word: Annotated[Word, Depends(_WORD)]) -> Candidate:
    """It stays where it is, and still goes back by itself when it is worse."""
    desk = desk_of(request)
    known_candidate(request, number)
    return people.pause(desk.store, number, person.name, word.why, desk.clock())


@router.post("/api/v1/candidates/{number}/resume", openapi_extra=_WORD.described)
def resume(request: Request, person: Operator, number: Number, word: Annotated[Word, Depends(_WORD)]) -> Candidate:
    """It goes on after a pause."""
    desk = desk_of(request)
    known_candidate(request, number)
    return people.resume(desk.store, number, person.name, word.why, desk.clock())
