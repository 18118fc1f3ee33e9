"""POST /predict: what would the fleet do here? And runs, to which kept decisions belong."""

from typing import Annotated, Any, Final, Literal, Union

from fastapi import APIRouter, Depends, Path, Request
from pydantic import Field, create_model
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from whet.agents.catalogue import AGENTS, AnyAgent
from whet.client.wire import Begun, Prediction
from whet.core.people import Person, Role
from whet.core.records import Decision, Record, Seconds
from whet.service.access import require
from whet.service.desk import Desk, desk_of
from whet.service.problems import Refused
from whet.service.rest.answers import PROBLEMS
from whet.service.rest.bodies import Body
from whet.service.rest.samples import STATE
from whet.service.rest.sense import making_sense

router = APIRouter(tags=["deciding"], responses=PROBLEMS)
Run = Annotated[str, Field(min_length=1, max_length=100)]


class Question(Record):
    run: Run | None = Field(None, description="the run it belongs to; also what a canary is assigned by")
    keep: bool = Field(False, description="store the decision, so that its outcome can follow; needs an operator's key")


def _question(agent: AnyAgent) -> Any:
    name = agent.state_type.__name__.removesuffix("State")
    fields: dict[str, Any] = {"agent": (Literal[agent.name], ...), "state": (agent.state_type, ...)}
    return create_model(f"{name}Question", __base__=Question, **fields)


_Questions: Any = Union[tuple(_question(agent) for agent in AGENTS.values())]  # noqa: UP007 - made at run time
_ASKED: Final[Body[Any]] = Body(
    Annotated[_Questions, Field(discriminator="agent")], {"agent": "test-executor", "state": STATE}
)


_VIEWER: Final = require(Role.VIEWER)


@router.post("/predict", response_model=Prediction, openapi_extra=_ASKED.described)
async def predict(
    request: Request,
    person: Annotated[Person, Depends(_VIEWER)],
    asked: Annotated[Any, Depends(_ASKED)],
) -> Response:
    """What the fleet would do in this state, how sure it is, and what else it weighed."""
    desk, agent = desk_of(request), AGENTS[asked.agent]
    if asked.keep and not person.role.may(Role.OPERATOR):
        raise Refused(403, "Keeping a decision needs the role operator.", "Ask with keep = false, or with another key.")
    run_id = await run_in_threadpool(_run_of, desk, asked) if asked.keep else asked.run or ""
    with making_sense():
        decision = await desk.predicting.decide(agent, asked.state, run_id)
    if asked.keep:
        await run_in_threadpool(desk.store.decisions.record, decision, asked.state)
    request.app.state.meters.predictions.labels(decision.agent, decision.policy).inc()
    return Response(_told(decision, asked.keep), media_type="application/json")


async def predicted(request: Request) -> Response:
    """The same, called without FastAPI."""
    return await predict(request, await _VIEWER(request), await _ASKED(request))


def _run_of(desk: Desk, asked: Any) -> str:
    if asked.run is None:
        return desk.visits.own()
    desk.visits.require_running(asked.run)
    run: str = asked.run
    return run


def _told(decision: Decision, kept: bool) -> str:
    return Prediction(
        decision=decision.id,
        run=decision.run_id or None,
        kept=kept,
        agent=decision.agent,
        action=decision.action,
        proposed=decision.proposed,
        probability=decision.probability,
        confidence=decision.confidence,
        explored=decision.explored,
        decided_by=decision.decided_by,
        review=decision.review,
        policy=decision.policy,
        version=decision.policy_version,
        alternatives=decision.alternatives,
    ).model_dump_json()


class Begin(Record):
    budget_seconds: Annotated[Seconds, Field(le=31_536_000)] = 0.0
    code_version: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        None, description="of the software under test; found from the project when not given"
    )


class End(Record):
    status: Literal["finished", "interrupted"] = "finished"


_BEGIN: Final[Body[Begin]] = Body(Begin, {"budget_seconds": 600.0})
_END: Final[Body[End]] = Body(End, {"status": "finished"})


@router.post("/api/v1/runs", status_code=201, openapi_extra=_BEGIN.described)
def begin(
    request: Request,
    _person: Annotated[Person, Depends(require(Role.OPERATOR))],
    asked: Annotated[Begin, Depends(_BEGIN)],
) -> Begun:
    """Begin a run; decisions that are kept may name it."""
    return Begun(run=desk_of(request).visits.begin(asked.budget_seconds, asked.code_version))


@router.post("/api/v1/runs/{run}/finish", openapi_extra=_END.described)
def finish(
    request: Request,
    _person: Annotated[Person, Depends(require(Role.OPERATOR))],
    run: Annotated[str, Path(min_length=1, max_length=200)],
    asked: Annotated[End, Depends(_END)],
) -> Begun:
    """End a run."""
    desk_of(request).visits.finish(run, asked.status)
    return Begun(run=run)
