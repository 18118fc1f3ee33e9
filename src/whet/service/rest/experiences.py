"""POST /api/v1/experiences: what came of a decision, to learn from."""

from typing import Annotated, Any, Final, Literal, Union

from fastapi import APIRouter, Depends, Request
from pydantic import Field, create_model

from whet.agents.catalogue import AGENTS, AnyAgent
from whet.client.wire import Learned
from whet.core.people import Person, Role
from whet.core.records import Record
from whet.service.access import require
from whet.service.desk import desk_of
from whet.service.living import Told
from whet.service.rest.answers import PROBLEMS
from whet.service.rest.bodies import Body
from whet.service.rest.samples import DECISION, OUTCOME
from whet.service.rest.sense import making_sense

router = APIRouter(tags=["learning"], responses=PROBLEMS)


class Happened(Record):
    decision: Annotated[str, Field(min_length=1, max_length=200)] = Field(description="as POST /predict gave it")


def _happened(agent: AnyAgent) -> Any:
    name = agent.state_type.__name__.removesuffix("State")
    fields: dict[str, Any] = {
        "agent": (Literal[agent.name], ...),
        "outcome": (agent.outcome_type, ...),
        "next_state": (agent.state_type | None, Field(None, description="what it saw then; null: nothing follows")),
    }
    return create_model(f"{name}Happened", __base__=Happened, **fields)


_All: Any = Union[tuple(_happened(agent) for agent in AGENTS.values())]  # noqa: UP007 - made at run time
_HAPPENED: Final[Body[Any]] = Body(
    Annotated[_All, Field(discriminator="agent")],
    {"agent": "test-executor", "decision": DECISION, "outcome": OUTCOME},
)


@router.post("/api/v1/experiences", openapi_extra=_HAPPENED.described)
def tell(
    request: Request,
    _person: Annotated[Person, Depends(require(Role.OPERATOR))],
    told: Annotated[Any, Depends(_HAPPENED)],
) -> Learned:
    """What came of a decision that was kept. It is valued by the project's rules and learned from, once."""
    with making_sense():
        lived = desk_of(request).living.live(AGENTS[told.agent], Told(told.decision, told.outcome, told.next_state))
    return Learned(key=lived.key, reward=lived.reward, learned=lived.learned)
