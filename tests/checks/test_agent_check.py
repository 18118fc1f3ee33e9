"""The agent check: quiet about the agents there are, and the right sentence about each wrong one."""

from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import ConfigDict
from tests.agents.workplaces import SmallProject

from whet.agents.catalogue import AGENTS, AnyAgent
from whet.checks.agent import check_agent
from whet.core.agent import Agent
from whet.core.keys import Atom
from whet.core.records import (
    Action,
    ActionKind,
    Measures,
    Outcome,
    Part,
    Situation,
    State,
    Valuation,
)

LOOK = Action(name="look", kind=ActionKind.AS_CONFIGURED, summary="look around once")
REST = Action(name="rest", kind=ActionKind.STOPPED, summary="do nothing more")
SITUATION = Situation(suite="small", pace="fast", failing=None, changed=None, history="none", budget="ample")


class Seen(State):
    looks: int

    def discrete(self) -> tuple[Atom, ...]:
        return (self.looks,)


class Done(Outcome):
    things: tuple[str, ...] = ()


class Good(Agent[Any, Any, Any]):
    """Fit for the fleet; each wrong agent below changes one thing."""

    name = "good-agent"
    category = "specialized"
    actions: tuple[Action, ...] = (LOOK, REST)
    state_type: ClassVar[type[State]] = Seen
    outcome_type: ClassVar[type[Outcome]] = Done

    def observe(self, workplace: Any) -> Any:
        return Seen(situation=SITUATION, looks=1)

    def safe_default(self, state: Any) -> Action:
        return LOOK

    def act(self, state: Any, action: Action, workplace: Any) -> Any:
        return Done(duration_seconds=0.0)

    def value(self, state: Any, action: Action, outcome: Any) -> Any:
        return Valuation(measures=Measures())


class Shouting(Good):
    name = "Good_Agent"


class Homeless(Good):
    category = "odds-and-ends"


class Idle(Good):
    actions = ()


class Twice(Good):
    actions = (LOOK, LOOK)


class Terse(Good):
    actions = (Action(name="look", kind=ActionKind.FASTER, summary="look"),)


class Stateless(Good):
    state_type = State


class Loose(Good):
    class Open(Outcome):
        model_config = ConfigDict(extra="allow")

    outcome_type = Open


class NotAState(Good):
    state_type = dict  # type: ignore[assignment]  # the mistake this agent is here for


class Restless(Good):
    looks = 0

    def observe(self, workplace: Any) -> Any:
        self.looks += 1
        return Seen(situation=SITUATION, looks=self.looks)


class Keyless(Good):
    class Hazy(State):
        looks: int

        def discrete(self) -> tuple[Atom, ...]:
            return (float("nan"),)

    state_type = Hazy

    def observe(self, workplace: Any) -> Any:
        return self.Hazy(situation=SITUATION, looks=1)


class Stuck(Good):
    def allowed(self, state: Any) -> tuple[Action, ...]:
        return ()


class Reaching(Good):
    def allowed(self, state: Any) -> tuple[Action, ...]:
        return (LOOK, Action(name="leap", kind=ActionKind.FASTER, summary="leap far away"))


class Unsafe(Good):
    def allowed(self, state: Any) -> tuple[Action, ...]:
        return (REST,)


class Boundless(Good):
    def potential(self, state: Any) -> float:
        return float("inf")


class Stranger(Good):
    def act(self, state: Any, action: Action, workplace: Any) -> Any:
        return Outcome(duration_seconds=0.0)


class Worthless(Good):
    def value(self, state: Any, action: Action, outcome: Any) -> Any:
        return 3.0


class Doubled(Good):
    def value(self, state: Any, action: Action, outcome: Any) -> Any:
        return Valuation(measures=Measures(), own=(Part(name="luck", points=1.0), Part(name="luck", points=2.0)))


class Forgetful(Good):
    class Kept(Outcome):
        things: Any = ()

    outcome_type = Kept

    def act(self, state: Any, action: Action, workplace: Any) -> Any:
        return self.Kept(duration_seconds=0.0, things=("a", "b"))


class Blocked(Good):
    def obstacle(self, workplace: Any) -> str | None:
        return "There is no moon. Wait for it."


SAID = {
    Shouting: "Its name is 'Good_Agent'. Give it a lower-case name with hyphens, such as 'flaky-test-hunter'.",
    Homeless: "Its category is 'odds-and-ends'. Choose one of: core-testing,",
    Idle: "`actions` must be a tuple of at least one Action.",
    Twice: "Two actions are named 'look'. Give every action a name of its own.",
    Terse: "The summary of 'look' says nothing.",
    Stateless: "`state_type` is State itself.",
    Loose: "`outcome_type` can be changed or takes unknown fields.",
    NotAState: "`state_type` is <class 'dict'>. Make it a subclass of State.",
    Restless: "Two looks at the same workplace gave different states.",
    Keyless: "`discrete` of Hazy cannot be a key:",
    Stuck: "`allowed` is empty.",
    Reaching: "`allowed` offers 'leap', which is not among its actions.",
    Unsafe: "The safe default 'look' is not allowed in this state.",
    Boundless: "`potential` is inf. Return a finite number.",
    Stranger: "`act` returned Outcome, not its outcome_type Done.",
    Worthless: "`value` returned float, not a Valuation.",
    Doubled: "Two of its reward parts are named 'luck'.",
    Forgetful: "Kept comes back from storage as something else.",
    Blocked: "It cannot work in this workplace: There is no moon.",
}


def test_a_good_agent_has_no_problems() -> None:
    assert check_agent(Good(), object()) == []


@pytest.mark.parametrize("wrong", SAID, ids=lambda wrong: wrong.__name__)
def test_the_right_sentence_about_each_wrong_agent(wrong: type[Good]) -> None:
    (problem,) = check_agent(wrong(), object())
    assert problem.startswith(SAID[wrong])


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_the_agents_there_are_have_the_form(agent: AnyAgent) -> None:
    assert check_agent(agent) == []


@pytest.mark.parametrize("name", ["test-executor", "regression-risk-analyzer"])
def test_the_agents_there_are_behave_on_a_real_project(tmp_path: Path, name: str) -> None:
    project = SmallProject(tmp_path, {"test_one.py": "def test_one(): pass\n"})
    with project.workplace() as place:
        assert check_agent(AGENTS[name], place) == []
    assert project.traced()[0].tests == ["test_one"]


def test_a_workplace_without_a_crew_will_do(tmp_path: Path) -> None:
    """Authors check one agent on its own; nobody else has to be named for that."""
    with SmallProject(tmp_path, {"test_one.py": "def test_one(): pass\n"}).workplace() as place:
        place.crew = ()
        assert check_agent(AGENTS["test-executor"], place) == []
