"""Held-out decisions, made readable, and what a policy would do at each of them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from pydantic import ValidationError

from whet.agents.catalogue import AnyAgent, agent_named
from whet.core.errors import WhetError
from whet.core.ports import Policy
from whet.core.records import Action, Experience, State
from whet.fleet.gate import Gate
from whet.improvement.intervals import Matrix
from whet.improvement.proving.chances import Answer, answer, logged
from whet.improvement.proving.off_policy import Logged


class Case(NamedTuple):
    """One decision as it was met: the state, what was allowed, what was done and what it earned."""

    run: str
    state: State
    allowed: tuple[Action, ...]
    action: str
    reward: float
    production: Mapping[str, float] | None  # the chance of each action; None: the log does not say

    @property
    def spot(self) -> tuple[str, tuple[str, ...]]:
        """Cases that look the same to a table, with the same actions allowed."""
        return self.state.key(), tuple(sorted(action.name for action in self.allowed))


class Examined(NamedTuple):
    agent: AnyAgent
    cases: Sequence[Case]
    answers: Sequence[Answer]
    unreadable: int  # decisions whose state or actions this version does not know


def examine(policy: Policy, agent_name: str, experiences: Sequence[Experience], gate: Gate) -> Examined:
    """What the policy would do at each decision that a policy took, whose outcome tells of it: not cut short, and with
    a reward that was earned.

    A person's word holds whatever the policy, so those decisions say nothing about it.
    """
    agent = agent_named(agent_name)
    asked = [each for each in experiences if each.agent == agent_name and _tells(each)]
    cases = [case for case in (_case(agent, each, gate) for each in asked) if case is not None]
    return Examined(agent, cases, _answers(policy, agent, cases, gate), len(asked) - len(cases))


def _answers(policy: Policy, agent: AnyAgent, cases: Sequence[Case], gate: Gate) -> list[Answer]:
    """Asked once about cases that are the same in every field: chances do not depend on how often one asks."""
    known: dict[tuple[str, tuple[str, ...]], Answer] = {}
    places = [(case.state.model_dump_json(), tuple(action.name for action in case.allowed)) for case in cases]
    for place, case in zip(places, cases, strict=True):
        if place not in known:
            known[place] = answer(policy, agent, case.state, case.allowed, gate)
    return [known[place] for place in places]


def _tells(experience: Experience) -> bool:
    return experience.decision.decided_by != "person" and experience.teaches


def _case(agent: AnyAgent, experience: Experience, gate: Gate) -> Case | None:
    decision = experience.decision
    try:
        state = agent.state_type.model_validate(experience.state)
        allowed = tuple(agent.action(each.action) for each in decision.alternatives)
    except (ValidationError, WhetError):  # of another version of the agent; counted as unreadable
        return None
    chances = logged(decision, allowed, agent.safe_default(state), gate)
    return Case(experience.run_id, state, allowed, decision.action, experience.reward.credited, chances)


def as_logged(examined: Examined) -> Logged:
    """The same as columns, NaN where production's chances or the candidate's answer are missing."""
    names = [action.name for action in examined.agent.actions]
    cases = examined.cases
    return Logged(
        runs=_numbered([case.run for case in cases]),
        states=_numbered([case.spot for case in cases]),
        actions=np.array([names.index(case.action) for case in cases], dtype=np.int64),
        rewards=np.array([case.reward for case in cases], dtype=np.float64),
        production=_rows([case.production for case in cases], names),
        candidate=_rows([each.running for each in examined.answers], names),
    )


def _numbered(keys: Sequence[object]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    places: dict[object, int] = {}
    return np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int64)


def _rows(chances: Sequence[Mapping[str, float] | None], names: Sequence[str]) -> Matrix:
    missing = dict.fromkeys(names, float("nan"))
    rows = [[(missing if each is None else each).get(name, 0.0) for name in names] for each in chances]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
