"""The agent: the one form all specialists and stage agents have."""

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from whet.core.errors import WhetError
from whet.core.records import Action, Outcome, State, Valuation

S = TypeVar("S", bound=State)
O = TypeVar("O", bound=Outcome)  # noqa: E741 - the outcome's own letter
W = TypeVar("W")


class Agent(ABC, Generic[S, O, W]):
    """A State, Actions, a real tool, an Outcome, a Reward.

    The fleet drives every agent through the same verbs, on a workplace `W`
    (the project, its tools, its history and what is left of the budget)::

        state = agent.observe(workplace)
        action = policy.choose(state, agent.allowed(state))
        outcome = agent.act(state, action, workplace)
        valuation = agent.value(state, action, outcome)

    An agent never names a policy, and agents do not know each other.
    """

    name: ClassVar[str]
    category: ClassVar[str]
    actions: tuple[Action, ...]
    state_type: ClassVar[type[State]]
    outcome_type: ClassVar[type[Outcome]]

    def obstacle(self, workplace: W) -> str | None:
        """Why this agent cannot work here, as a sentence with the remedy; None when it can."""
        return None

    @abstractmethod
    def observe(self, workplace: W) -> S:
        """Look, without changing anything."""

    def allowed(self, state: S) -> tuple[Action, ...]:
        """The actions that make sense here; never empty. An action that cannot work, or that
        would do the same as another, is left out."""
        return self.actions

    @abstractmethod
    def safe_default(self, state: S) -> Action:
        """What runs when nothing is known or confidence is low: what the user would have had anyway."""

    @abstractmethod
    def act(self, state: S, action: Action, workplace: W) -> O:
        """Really do it, and measure."""

    @abstractmethod
    def value(self, state: S, action: Action, outcome: O) -> Valuation:
        """What the outcome is worth: measures for the reward profile, and terms of the agent's own."""

    def potential(self, state: S) -> float:
        """How promising a state is, for potential-based shaping; 0 leaves the reward unshaped."""
        return 0.0

    def action(self, name: str) -> Action:
        for action in self.actions:
            if action.name == name:
                return action
        allowed = ", ".join(action.name for action in self.actions)
        raise WhetError(f"{self.name} has no action {name!r}.", f"It has: {allowed}.")
