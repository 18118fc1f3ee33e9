"""What outcomes are worth, without learning from them; and what past ones were."""

from typing import Annotated, Any, Final, Literal, Union

from fastapi import APIRouter, Depends, Request
from pydantic import Field, create_model

from whet.agents.catalogue import AGENTS, AnyAgent
from whet.bootstrap.assembly import valuing
from whet.client.wire import History, Rewarded
from whet.core.people import Person, Role
from whet.core.records import Experience, Record, Reward
from whet.rewards import profile, reward_of
from whet.service.access import require
from whet.service.desk import desk_of
from whet.service.rest.answers import PROBLEMS
from whet.service.rest.bodies import Body
from whet.service.rest.lists import Limit, Name
from whet.service.rest.names import PartName
from whet.service.rest.samples import OUTCOME, STATE
from whet.service.rest.sense import making_sense

router = APIRouter(prefix="/api/v1/rewards", tags=["rewards"], responses=PROBLEMS)
Viewer = Annotated[Person, Depends(require(Role.VIEWER))]
Weight = Annotated[float, Field(ge=0.0, le=10.0)]


class Sum(Record):
    profile: Literal["composite", "multi-objective"] | None = Field(
        None, description="the project's own when not given"
    )
    weights: dict[PartName, Weight] = Field(default_factory=dict, description="other weights than the project's")


def _sum(agent: AnyAgent) -> Any:
    name = agent.state_type.__name__.removesuffix("State")
    fields: dict[str, Any] = {
        "agent": (Literal[agent.name], ...),
        "state": (agent.state_type, ...),
        "action": (Literal[tuple(action.name for action in agent.actions)], ...),
        "outcome": (agent.outcome_type, ...),
    }
    return create_model(f"{name}Sum", __base__=Sum, **fields)


_Sums: Any = Union[tuple(_sum(agent) for agent in AGENTS.values())]  # noqa: UP007 - made at run time
_EXAMPLE: Final = {"agent": "test-executor", "state": STATE, "action": "run_all_tests", "outcome": OUTCOME}
_ASKED: Final[Body[Any]] = Body(Annotated[_Sums, Field(discriminator="agent")], _EXAMPLE)


@router.post("/calculate", openapi_extra=_ASKED.described)
def calculate(request: Request, _person: Viewer, asked: Annotated[Any, Depends(_ASKED)]) -> Reward:
    """What this outcome would be worth, part by part. Nothing is kept."""
    agent, rules = AGENTS[asked.agent], valuing(desk_of(request).settings)
    chosen = rules.profile if asked.profile is None else profile(asked.profile)
    weights = {**rules.weights, **asked.weights}
    with making_sense():
        valuation = agent.value(asked.state, agent.action(asked.action), asked.outcome)
        return reward_of(chosen, valuation, weights)


@router.get("/history")
def history(request: Request, _person: Viewer, agent: Name = None, run: Name = None, limit: Limit = 100) -> History:
    """What past decisions earned, newest first: raw, shaped and credited."""
    found = desk_of(request).store.experiences.recent(agent, limit, run)
    return History(items=tuple(_rewarded(experience) for experience in found))


def _rewarded(experience: Experience) -> Rewarded:
    return Rewarded(
        decision=experience.decision.id,
        run=experience.run_id,
        agent=experience.agent,
        action=experience.decision.action,
        reward=experience.reward,
        at=experience.at,
    )
