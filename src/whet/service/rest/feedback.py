"""What a person says: of a finding, a run, a decision. It changes rewards, and with them later decisions."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import Field

from whet.agents.catalogue import agent_named
from whet.bootstrap.feedback import Listener
from whet.client.wire import Heard, Ruled
from whet.core.feedback import Stars
from whet.core.people import Person, Role
from whet.core.records import Record, Review
from whet.core.views import Decided
from whet.service.access import require
from whet.service.desk import desk_of
from whet.service.problems import Refused
from whet.service.rest.answers import PROBLEMS
from whet.service.rest.bodies import Body
from whet.service.rest.lists import Id

router = APIRouter(prefix="/api/v1", tags=["feedback"], responses=PROBLEMS)
Reviewer = Annotated[Person, Depends(require(Role.REVIEWER))]


class Mark(Record):
    verdict: Literal["real", "false-alarm"] | None = Field(description="null takes it back")


class Rating(Record):
    stars: Stars


class Word(Record):
    verdict: Literal["approve", "revoke"]


class Override(Record):
    verdict: Literal["override"]
    action: Annotated[str, Field(min_length=1, max_length=200)]


_MARK: Final[Body[Mark]] = Body(Mark, {"verdict": "false-alarm"})
_RATING: Final[Body[Rating]] = Body(Rating, {"stars": 4})
_RULE: Final[Body[Word | Override]] = Body(
    Annotated[Word | Override, Field(discriminator="verdict")], {"verdict": "override", "action": "run_all_tests"}
)


@router.post("/findings/{fingerprint}/mark", openapi_extra=_MARK.described)
def mark(request: Request, person: Reviewer, fingerprint: Id, said: Annotated[Mark, Depends(_MARK)]) -> Heard:
    """Real, or a false alarm."""
    desk = desk_of(request)
    if desk.store.views.finding(fingerprint) is None:
        raise Refused(404, f"There is no finding {fingerprint!r}.", "List them: GET /api/v1/findings")
    taught = Listener(desk.store, desk.settings).mark(fingerprint, said.verdict, person.name)
    return Heard(rewards_changed=len(taught))


@router.post("/runs/{run}/rating", openapi_extra=_RATING.described)
def rate(request: Request, person: Reviewer, run: Id, said: Annotated[Rating, Depends(_RATING)]) -> Heard:
    """How useful a run was, from 1 to 5."""
    desk = desk_of(request)
    if desk.store.views.run(run) is None:
        raise Refused(404, f"There is no run {run!r}.", "List them: GET /api/v1/runs")
    return Heard(rewards_changed=len(Listener(desk.store, desk.settings).rate(run, said.stars, person.name)))


@router.post("/decisions/{decision}/ruling", openapi_extra=_RULE.described)
def rule(request: Request, person: Reviewer, decision: Id, said: Annotated[Word | Override, Depends(_RULE)]) -> Ruled:
    """Approve what was proposed, put another action in its place, or take that back; for this state, from now on."""
    desk = desk_of(request)
    decided = desk.store.views.decision(decision)
    if decided is None:
        raise Refused(404, f"There is no decision {decision!r}.", "List them: GET /api/v1/decisions")
    about = decided.decision
    if said.verdict == "revoke":
        desk.store.decisions.revoke(about.agent, about.state_key)
        desk.predicting.forget()
        return Ruled(agent=about.agent, state_key=about.state_key, action=None)
    action, verdict = _wanted(decided, said)
    desk.store.decisions.rule(decision, verdict, action, person.name)
    desk.predicting.forget()
    return Ruled(agent=about.agent, state_key=about.state_key, action=action)


def _wanted(decided: Decided, said: Word | Override) -> tuple[str, Review]:
    """A word that can never come true is no help."""
    agent = agent_named(decided.decision.agent)
    allowed = [action.name for action in agent.allowed(agent.state_type.model_validate(decided.state))]
    approved = isinstance(said, Word)
    wanted = decided.decision.proposed if isinstance(said, Word) else said.action
    if wanted not in allowed:
        raise Refused(409, f"{wanted!r} cannot run in that state.", f"There, it can be: {', '.join(allowed)}.")
    return wanted, Review.APPROVED if approved else Review.OVERRIDDEN
