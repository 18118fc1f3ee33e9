"""Decisions: what was seen, what could be done, why this, what came of it; and a person's word on it."""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from pydantic import ValidationError
from starlette.responses import Response

from whet.agents.catalogue import AGENTS
from whet.core.records import Action, Alternative, Recollection, Review
from whet.core.views import Decided
from whet.reports.compose import why
from whet.service.desk import desk_of
from whet.service.pages.asking import Before, Reviewer, Viewer
from whet.service.pages.drawing import back, page
from whet.service.problems import Refused
from whet.store.sql_store import SqlStore

router = APIRouter()


@router.get("/decisions")
def decisions(
    request: Request, _person: Viewer, before: Before = None, agent: Annotated[str, Query(max_length=100)] = ""
) -> Response:
    shown = desk_of(request).store.views.decisions(agent=agent or None, before=before)
    return page(request, "decisions.html.j2", "Decisions", page=shown, agent=agent, agents=sorted(AGENTS))


@router.get("/review")
def review(request: Request, _person: Viewer, before: Before = None) -> Response:
    return page(request, "review.html.j2", "Review", page=desk_of(request).store.views.waiting(before))


@router.get("/decisions/{decision_id}")
def decision(request: Request, decision_id: str, _person: Viewer) -> Response:
    store, told = desk_of(request).store, _known(request, decision_id)
    weighed = sorted(told.decision.alternatives, key=_by_value)
    return page(
        request,
        "decision.html.j2",
        f"Decision {decision_id[:8]}",
        told=told,
        d=told.decision,
        because=why(told.decision),
        weighed=weighed,
        seen=[(name, value) for name, value in told.state.items() if name != "situation"],
        allowed=possible(told),
        ruling=store.decisions.ruling(told.decision.agent, told.decision.state_key),
        memories=recalled(store, told.decision.memories),
    )


@router.post("/decisions/{decision_id}/ruling")
def rule(
    request: Request,
    decision_id: str,
    person: Reviewer,
    verdict: Annotated[Literal["approve", "override", "revoke"], Form()],
    action: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    store, told = desk_of(request).store, _known(request, decision_id)
    place = f"/decisions/{decision_id}"
    if verdict == "revoke":
        store.decisions.revoke(told.decision.agent, told.decision.state_key)
        return back(place, "revoked")
    wanted = told.decision.proposed if verdict == "approve" else action
    if wanted not in {each.name for each in possible(told)}:
        raise Refused(422, "That action cannot run in this state.", "Choose one of those the page offers.")
    said = Review.APPROVED if verdict == "approve" else Review.OVERRIDDEN
    store.decisions.rule(decision_id, said, wanted, person.name)
    return back(place, said.value)


def possible(told: Decided) -> tuple[Action, ...]:
    """What can run in that state; nothing for an agent, or a state, of another version of Whet."""
    agent = AGENTS.get(told.decision.agent)
    if agent is None:
        return ()
    try:
        return agent.allowed(agent.state_type.model_validate(told.state))
    except ValidationError:
        return ()


def recalled(store: SqlStore, told: Sequence[Recollection]) -> list[tuple[Recollection, str | None]]:
    """Memories that counted, with their text; None where they were forgotten since."""
    texts = {memory.id: memory.text for memory in store.memories.get([each.memory for each in told])}
    return [(each, texts.get(each.memory)) for each in told]


def _known(request: Request, decision_id: str) -> Decided:
    told = desk_of(request).store.views.decision(decision_id)
    if told is None:
        raise Refused(404, f"There is no decision {decision_id[:80]!r}.", "Decisions are listed at /decisions.")
    return told


def _by_value(alternative: Alternative) -> tuple[bool, float]:
    return alternative.value is None, -(alternative.value or 0.0)
