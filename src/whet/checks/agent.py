"""Is it an agent? Tells its author, in sentences, what is wrong::

    problems = check_agent(MyAgent(), workplace)
    assert problems == []

Without a workplace only the form is checked; with one the agent observes, acts once by its safe
default and values the outcome, with the real tools.
"""

import math
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from whet.core.agent import Agent
from whet.core.errors import WhetError
from whet.core.keys import canonical
from whet.core.records import Action, Outcome, Record, State, Valuation

CATEGORIES = ("core-testing", "performance-security", "advanced-testing", "specialized", "strategic", "fleet")
AnyAgent = Agent[Any, Any, Any]


def check_agent(agent: AnyAgent, workplace: object | None = None) -> list[str]:
    """What is wrong with this agent; an empty list when it is fit for the fleet."""
    problems = list(_form(agent))
    if problems or workplace is None:
        return problems
    return list(_conduct(agent, workplace))


def _form(agent: AnyAgent) -> Iterator[str]:
    name = getattr(agent, "name", None)
    if not isinstance(name, str) or name != name.lower().replace("_", "-") or not name.replace("-", "").isalnum():
        yield f"Its name is {name!r}. Give it a lower-case name with hyphens, such as 'flaky-test-hunter'."
    if getattr(agent, "category", None) not in CATEGORIES:
        yield f"Its category is {getattr(agent, 'category', None)!r}. Choose one of: {', '.join(CATEGORIES)}."
    yield from _actions(agent)
    yield from _type(agent, "state_type", State)
    yield from _type(agent, "outcome_type", Outcome)


def _actions(agent: AnyAgent) -> Iterator[str]:
    actions = getattr(agent, "actions", ())
    if not isinstance(actions, tuple) or not actions or not all(isinstance(a, Action) for a in actions):
        yield "`actions` must be a tuple of at least one Action."
        return
    names = [action.name for action in actions]
    for twice in sorted({name for name in names if names.count(name) > 1}):
        yield f"Two actions are named {twice!r}. Give every action a name of its own."
    for action in actions:
        if len(action.summary.split()) < 2:
            yield f"The summary of {action.name!r} says nothing. Say in a few words what the action does."


def _type(agent: AnyAgent, attribute: str, base: type[Record]) -> Iterator[str]:
    given = getattr(agent, attribute, None)
    if not isinstance(given, type) or not issubclass(given, base):
        yield f"`{attribute}` is {given!r}. Make it a subclass of {base.__name__}."
        return
    if not given.model_config.get("frozen") or given.model_config.get("extra") != "forbid":
        yield f"`{attribute}` can be changed or takes unknown fields. Leave model_config as {base.__name__} has it."
    elif given is base:
        yield f"`{attribute}` is {base.__name__} itself. Subclass it with what your agent sees or measures."


def _conduct(agent: AnyAgent, workplace: object) -> Iterator[str]:
    obstacle = agent.obstacle(workplace)
    if obstacle is not None:
        yield f"It cannot work in this workplace: {obstacle}"
        return
    state = agent.observe(workplace)
    if not isinstance(state, agent.state_type):
        yield f"`observe` returned {type(state).__name__}, not its state_type {agent.state_type.__name__}."
        return
    trouble = list(_state(agent, state, agent.observe(workplace)))
    yield from trouble
    if not trouble:
        yield from _turn(agent, state, workplace)


def _state(agent: AnyAgent, state: State, again: State) -> Iterator[str]:
    try:
        canonical(state.discrete())
    except WhetError as error:
        yield f"`discrete` of {type(state).__name__} cannot be a key: {error}"
        return
    if state.key() != again.key():
        yield "Two looks at the same workplace gave different states. Bin what changes by itself, such as time."
    allowed = agent.allowed(state)
    if not allowed:
        yield "`allowed` is empty. There must always be something to do; name what stands in the way in `obstacle`."
    for action in allowed:
        if action not in agent.actions:
            yield f"`allowed` offers {action.name!r}, which is not among its actions."
    default = agent.safe_default(state)
    if allowed and default not in allowed:
        yield f"The safe default {default.name!r} is not allowed in this state. It must always be possible."
    if not math.isfinite(agent.potential(state)):
        yield f"`potential` is {agent.potential(state)}. Return a finite number."


def _turn(agent: AnyAgent, state: State, workplace: object) -> Iterator[str]:
    action = agent.safe_default(state)
    outcome = agent.act(state, action, workplace)
    if not isinstance(outcome, agent.outcome_type):
        yield f"`act` returned {type(outcome).__name__}, not its outcome_type {agent.outcome_type.__name__}."
        return
    yield from _round_trip(agent, state, outcome)
    valuation = agent.value(state, action, outcome)
    if not isinstance(valuation, Valuation):
        yield f"`value` returned {type(valuation).__name__}, not a Valuation."
        return
    names = [part.name for part in valuation.own]
    for twice in sorted({name for name in names if names.count(name) > 1}):
        yield f"Two of its reward parts are named {twice!r}. Weights are set by name, so each needs its own."


def _round_trip(agent: AnyAgent, state: State, outcome: Outcome) -> Iterator[str]:
    """Worlds and previews read states and outcomes back from JSON."""
    for record, kind in ((state, agent.state_type), (outcome, agent.outcome_type)):
        try:
            same = kind.model_validate(record.model_dump(mode="json")) == record
        except ValidationError as error:
            yield f"{kind.__name__} does not survive storage: {error.errors()[0]['msg']}. Use plain, typed fields."
            continue
        if not same:
            yield f"{kind.__name__} comes back from storage as something else. Use plain, typed fields."
