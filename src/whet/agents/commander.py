"""fleet-commander: which agent next with the budget that is left, and when to stop."""

from collections.abc import Sequence

from pydantic import Field

from whet.core.agent import Agent
from whet.core.keys import Atom
from whet.core.records import Action, ActionKind, Count, Measures, Outcome, Probability, Seconds, State, Valuation
from whet.rewards import specialists
from whet.tools.workplace import Workplace

# A visit calls no agent more often than this: repeated looks at unchanged code find less and less.
VISITS_EACH = 2
# Points per agent that was sent at least once, for shaping; it changes how fast is learned, not what.
POTENTIAL_EACH = 2.0
STOP = Action(
    name="stop", kind=ActionKind.STOPPED, summary="enough: the rest of the budget is not worth spending", hides=True
)


class CommanderState(State):
    budget_left: Probability = Field(description="share of the budget that is left")
    suites_left: float | None = Field(description="how many plain runs of the suite fit into what is left")
    turns_done: Count
    visits: dict[str, Count] = Field(description="how often each agent of the crew was sent")
    blocked: tuple[str, ...] = Field(description="agents that cannot work here")

    def discrete(self) -> tuple[Atom, ...]:
        room = None if self.suites_left is None else 0 if self.suites_left < 1 else 1 if self.suites_left < 5 else 2
        visits = [min(n, VISITS_EACH) for _, n in sorted(self.visits.items())]
        return (int(self.budget_left * 4), room, ",".join(sorted(self.visits)), ",".join(sorted(self.blocked)), *visits)


class CommanderOutcome(Outcome):
    agent: str | None
    new_findings: Count | None
    room_seconds: Seconds | None = Field(None, description="what was left of the budget when the agent was sent")
    suite_seconds: Seconds | None = Field(None, description="what one plain run of the suite takes, for comparison")


class Commander(Agent[CommanderState, CommanderOutcome, Workplace]):
    """Sends the crew. Their order is the one in which they run while nothing is known."""

    name = "fleet-commander"
    category = "fleet"
    state_type = CommanderState
    outcome_type = CommanderOutcome

    def __init__(self, crew: Sequence[str]) -> None:
        self.crew = tuple(crew)
        self._sent_by = {"dispatch_" + name.replace("-", "_"): name for name in crew}
        self.actions = (
            *(
                Action(name=action, kind=ActionKind.DELEGATED, summary=f"send {agent}")
                for action, agent in self._sent_by.items()
            ),
            STOP,
        )

    def observe(self, workplace: Workplace) -> CommanderState:
        seconds = workplace.suite_seconds()
        return CommanderState(
            situation=workplace.situation(),
            budget_left=min(1.0, workplace.budget.left() / workplace.budget.total_seconds),
            suites_left=None if not seconds else workplace.budget.left() / seconds,
            turns_done=len(workplace.agents_done),
            visits={agent: workplace.agents_done.count(agent) for agent in self.crew},
            blocked=tuple(workplace.obstacles),
        )

    def allowed(self, state: CommanderState) -> tuple[Action, ...]:
        """Every visit runs the first of the crew: a fleet that stops before that has told the user nothing."""
        if self._not_begun(state):
            return self._crew_of(state)[:1]
        if _no_room(state):
            return (STOP,)
        return (*(a for a in self._crew_of(state) if self._visits(a, state) < VISITS_EACH), STOP)

    def safe_default(self, state: CommanderState) -> Action:
        """Everyone once, then stop."""
        if self._not_begun(state):
            return self._crew_of(state)[0]
        if _no_room(state):
            return STOP
        return next((a for a in self._crew_of(state) if self._visits(a, state) == 0), STOP)

    def act(self, state: CommanderState, action: Action, workplace: Workplace) -> CommanderOutcome:
        agent = self._sent_by.get(action.name)
        if agent is None or workplace.dispatch is None:
            return CommanderOutcome(duration_seconds=0.0, agent=None, new_findings=None)
        before, room = workplace.budget.used(), workplace.budget.left()
        done = workplace.dispatch(agent)
        return CommanderOutcome(
            duration_seconds=workplace.budget.used() - before,
            failed=done.failed,
            agent=agent,
            new_findings=done.new_findings,
            room_seconds=room,
            suite_seconds=workplace.suite_seconds(),
        )

    def value(self, state: CommanderState, action: Action, outcome: CommanderOutcome) -> Valuation:
        sent = outcome.agent is not None
        own = specialists.command(
            new_findings=outcome.new_findings,
            used_seconds=outcome.duration_seconds if sent else None,
            budget_seconds=outcome.room_seconds,
        )
        measures = Measures(
            expected_seconds=outcome.suite_seconds,
            actual_seconds=outcome.duration_seconds,
            task_failed=outcome.failed is not None,
        )
        return Valuation(measures=measures if sent else Measures(), own=own)

    def potential(self, state: CommanderState) -> float:
        """A crew that has had its turn once is worth more than one that has not: it spurs on to go round."""
        return POTENTIAL_EACH * sum(visits > 0 for visits in state.visits.values())

    def _crew_of(self, state: CommanderState) -> tuple[Action, ...]:
        """Of those it could send, the ones that were there: a visit may have had a smaller crew than the one asked."""
        there = tuple(action for action in self.actions[:-1] if self._sent_by[action.name] in state.visits)
        if not there:
            raise KeyError(f"none of {', '.join(sorted(state.visits))} is of the crew")
        return there

    def _not_begun(self, state: CommanderState) -> bool:
        first = self._sent_by[self._crew_of(state)[0].name]
        return not any(state.visits.values()) and first not in state.blocked

    def _visits(self, action: Action, state: CommanderState) -> int:
        agent = self._sent_by[action.name]
        return VISITS_EACH if agent in state.blocked else state.visits[agent]


def _no_room(state: CommanderState) -> bool:
    """Whoever is sent runs the suite at least once: what does not fit is not begun."""
    return state.budget_left <= 0 or (state.suites_left is not None and state.suites_left < 1)
