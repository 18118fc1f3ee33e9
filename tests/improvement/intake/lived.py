"""Experiences as the fleet makes them, from outcomes that were really recorded."""

from datetime import UTC, datetime
from functools import cache
from typing import Any

from whet.agents.catalogue import agent_named
from whet.core.records import Decision, Experience, Outcome, State
from whet.improvement.world import World, shipped
from whet.rewards import profile, reward_of

PROFILE = profile("multi-objective")
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@cache
def world(agent: str = "test-executor", project: str = "h11") -> World:
    return next(each for each in shipped() if each.agent == agent and each.project.startswith(project))


def lived(
    key: str = "one",
    action: str = "run_all_tests",
    *,
    of: World | None = None,
    state: dict[str, Any] | None = None,
    outcome: dict[str, Any] | None = None,
    **changes: Any,
) -> Experience:
    """One turn in the world's first situation; `state` and `outcome` replace some of their fields."""
    context = (of or world()).contexts[0]
    agent = agent_named((of or world()).agent)
    seen: State = agent.state_type.model_validate(context.state | (state or {}))
    measured: Outcome = agent.outcome_type.model_validate(context.outcomes[action][0] | (outcome or {}))
    value = agent.value(seen, agent.action(action), measured)
    run_id = changes.pop("run_id", f"run-{key}")
    decision = Decision(
        run_id=run_id, agent=agent.name, state_key=seen.key(), proposed=action, action=action, probability=0.5,
        confidence=0.5, explored=False, policy="tabular-thompson", policy_version="1", decided_by="policy",
        alternatives=(),
    )  # fmt: skip
    fields: dict[str, Any] = {
        "key": key,
        "run_id": run_id,
        "agent": agent.name,
        "category": agent.category,
        "decision": decision,
        "kind": agent.action(action).kind,
        "state": seen.model_dump(mode="json"),
        "state_key": seen.key(),
        "category_key": seen.situation.category_key(),
        "fleet_key": seen.situation.fleet_key(),
        "outcome": measured.model_dump(mode="json"),
        "reward": reward_of(PROFILE, value),
        "next_state_key": None,
        "done": True,
        "at": NOON,
    }
    return Experience(**(fields | changes))
