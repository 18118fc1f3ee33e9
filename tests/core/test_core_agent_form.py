"""The one form of all agents, and the errors people see."""

from typing import ClassVar

import pytest

from whet.core.agent import Agent
from whet.core.errors import Busy, MissingTool, RefusedInput, WhetError
from whet.core.keys import Atom
from whet.core.records import Action, ActionKind, Measures, Outcome, Situation, State, Valuation

GO = Action(name="go", kind=ActionKind.FASTER, summary="Go.")
WAIT = Action(name="wait", kind=ActionKind.STOPPED, summary="Wait.")


class Lamp(State):
    green: bool

    def discrete(self) -> tuple[Atom, ...]:
        return (self.green,)


class Walker(Agent[Lamp, Outcome, bool]):
    """As little as an agent can be. Its workplace is the colour of a lamp."""

    name: ClassVar[str] = "walker"
    category: ClassVar[str] = "walkers"
    actions = (GO, WAIT)
    state_type: ClassVar[type[State]] = Lamp
    outcome_type: ClassVar[type[Outcome]] = Outcome

    def observe(self, workplace: bool) -> Lamp:
        here = Situation(suite="small", pace="fast", failing=None, changed=None, history="none", budget="ample")
        return Lamp(situation=here, green=workplace)

    def safe_default(self, state: Lamp) -> Action:
        return WAIT

    def act(self, state: Lamp, action: Action, workplace: bool) -> Outcome:
        return Outcome(duration_seconds=1.0)

    def value(self, state: Lamp, action: Action, outcome: Outcome) -> Valuation:
        return Valuation(measures=Measures(actual_seconds=outcome.duration_seconds))


def test_an_agent_starts_able_unshaped_and_with_all_its_actions() -> None:
    walker = Walker()
    state = walker.observe(True)
    assert walker.obstacle(True) is None
    assert walker.allowed(state) == (GO, WAIT)
    assert walker.potential(state) == 0.0


def test_actions_are_found_by_name() -> None:
    assert Walker().action("wait") is WAIT


def test_an_unknown_action_names_the_known_ones() -> None:
    with pytest.raises(WhetError, match=r"walker has no action 'fly'\. It has: go, wait\."):
        Walker().action("fly")


def test_an_agent_without_its_verbs_cannot_be_made() -> None:
    class Idle(Agent[Lamp, Outcome, bool]):
        pass

    with pytest.raises(TypeError, match=r"abstract.*act.*observe.*safe_default.*value"):
        Idle()  # type: ignore[abstract]  # what the test is about


def test_an_error_says_what_and_what_to_do() -> None:
    error = WhetError("The lamp is broken.", "Replace it.")
    assert str(error) == "The lamp is broken. Replace it."
    assert (error.problem, error.remedy, error.exit_code) == ("The lamp is broken.", "Replace it.", 2)
    assert str(WhetError("The lamp is broken.")) == "The lamp is broken."


@pytest.mark.parametrize("kind", [RefusedInput, MissingTool, Busy])
def test_every_error_is_one_that_people_see(kind: type[WhetError]) -> None:
    with pytest.raises(WhetError):
        raise kind("Something.", "Do something.")
