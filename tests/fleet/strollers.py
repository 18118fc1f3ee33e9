"""An agent of nobody's fleet, whose work takes no time: what the loop does with it can be looked at closely."""

from collections.abc import Mapping
from typing import ClassVar

from whet.core.agent import Agent
from whet.core.keys import Atom
from whet.core.records import Action, ActionKind, Finding, Measures, Outcome, Part, Situation, State, Valuation

HERE = Situation(suite="small", pace="fast", failing=False, changed=True, history="some", budget="ample")
LEFT = Action(name="left", kind=ActionKind.FASTER, summary="Go left.")
RIGHT = Action(name="right", kind=ActionKind.DEEPER, summary="Go right.")


class Corner(State):
    street: str
    houses: int
    situation: Situation = HERE

    def discrete(self) -> tuple[Atom, ...]:
        return (self.street, self.houses)


class Walked(Outcome):
    street: str


class Street:
    """The workplace: where one stands, and what each way pays."""

    def __init__(self, name: str = "high", houses: int = 8, pay: Mapping[str, float] | None = None) -> None:
        self.name, self.houses, self.pay = name, houses, pay or {"left": 5.0, "right": 1.0}
        self.findings: tuple[Finding, ...] = ()


class Stroller(Agent[Corner, Walked, Street]):
    name: ClassVar[str] = "stroller"
    category: ClassVar[str] = "strollers"
    actions = (LEFT, RIGHT)
    state_type: ClassVar[type[State]] = Corner
    outcome_type: ClassVar[type[Outcome]] = Walked

    def observe(self, workplace: Street) -> Corner:
        return Corner(street=workplace.name, houses=workplace.houses)

    def safe_default(self, state: Corner) -> Action:
        return LEFT

    def act(self, state: Corner, action: Action, workplace: Street) -> Walked:
        self.pay = workplace.pay
        return Walked(duration_seconds=0.0, street=workplace.name, findings=workplace.findings)

    def value(self, state: Corner, action: Action, outcome: Walked) -> Valuation:
        return Valuation(measures=Measures(), own=(Part(name="walk", points=self.pay[action.name]),))
