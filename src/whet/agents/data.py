"""test-data-architect: where the values of requests come from, so that they are accepted and show something new."""

import time
from typing import Final

from pydantic import Field

from whet.core.agent import Agent
from whet.core.errors import WhetError
from whet.core.events import Progressed
from whet.core.keys import Atom
from whet.core.records import Action, ActionKind, Count, Measures, Outcome, Probability, Seconds, State, Valuation
from whet.core.services import ServicePlan, ServiceRun, looked_at
from whet.rewards import specialists
from whet.skills.api.values.slots import Source
from whet.tools.workplace import Workplace

PROBE_SHARE = 0.3  # of the requests that one action may send: a probe, not a hunt
_LEANING: Final = {
    "examples_first": Source.EXAMPLE,
    "observed_first": Source.OBSERVED,
    "realistic_first": Source.REALISTIC,
    "boundary_first": Source.BOUNDARY,
}


class DataState(State):
    """What is unknown is so because the service did not start, or because no value of a source was ever sent."""

    operations: Count | None
    operations_reached: Count | None = Field(description="by earlier runs, with a 2xx")
    earlier_runs: Count | None
    has_examples: bool | None
    accepted_examples: Probability | None = Field(description="share of values that were accepted, by their source")
    accepted_observed: Probability | None
    accepted_realistic: Probability | None
    accepted_boundary: Probability | None
    request_budget: Count
    seconds_left: Seconds

    def discrete(self) -> tuple[Atom, ...]:
        if self.operations is None:
            return (None,)
        reached = (self.operations_reached or 0) * 4 // max(1, self.operations)
        return reached, min(self.earlier_runs or 0, 4) // 2, self.has_examples, self.best()

    def best(self) -> str | None:
        """The source that was accepted most; None while none was tried."""
        shares = {
            "examples": self.accepted_examples,
            "observed": self.accepted_observed,
            "realistic": self.accepted_realistic,
            "boundary": self.accepted_boundary,
        }
        known = {name: share for name, share in shares.items() if share is not None}
        return max(known, key=lambda name: known[name]) if known else None


class DataOutcome(Outcome):
    """All None when the service did not start."""

    requests: Count | None = None
    valid: Count | None = Field(None, description="requests that kept the contract")
    accepted: Count | None = Field(None, description="those of them that got a 2xx")
    behaviours: Count | None = Field(None, description="exchanges that showed a new status, form of answer or error")
    operations_reached: Count | None = None
    operations_new: Count | None = None


class DataArchitect(Agent[DataState, DataOutcome, Workplace]):
    name = "test-data-architect"
    category = "advanced-testing"
    state_type = DataState
    outcome_type = DataOutcome
    actions = (
        Action(name="as_learned", kind=ActionKind.AS_CONFIGURED, summary="each value from where it was accepted most"),
        Action(name="examples_first", kind=ActionKind.FOCUSED, summary="lean on the contract's examples and enums"),
        Action(name="observed_first", kind=ActionKind.RECALLED, summary="lean on values that the service answered"),
        Action(name="realistic_first", kind=ActionKind.ORDERED, summary="lean on values that fit a field's name"),
        Action(name="boundary_first", kind=ActionKind.DEEPER, summary="lean on the extremes that the contract allows"),
    )

    def obstacle(self, workplace: Workplace) -> str | None:
        return workplace.service.obstacle()

    def observe(self, workplace: Workplace) -> DataState:
        known = looked_at(workplace.service)
        accepted = {} if known is None else known.accepted
        return DataState(
            situation=workplace.situation(),
            operations=None if known is None else known.operations,
            operations_reached=None if known is None else known.reached_before,
            earlier_runs=None if known is None else known.runs,
            has_examples=None if known is None else known.has_examples,
            accepted_examples=accepted.get(Source.EXAMPLE),
            accepted_observed=accepted.get(Source.OBSERVED),
            accepted_realistic=accepted.get(Source.REALISTIC),
            accepted_boundary=accepted.get(Source.BOUNDARY),
            request_budget=workplace.service.requests,
            seconds_left=workplace.budget.left(),
        )

    def allowed(self, state: DataState) -> tuple[Action, ...]:
        """Without a service to look at, every leaning would do the same: nothing."""
        if state.operations is None:
            return (self.action("as_learned"),)
        return tuple(one for one in self.actions if one.name != "examples_first" or state.has_examples)

    def safe_default(self, state: DataState) -> Action:
        """What `whet api` does."""
        return self.action("as_learned")

    def act(self, state: DataState, action: Action, workplace: Workplace) -> DataOutcome:
        started = time.monotonic()
        plan = ServicePlan(
            requests=max(1, int(PROBE_SHARE * state.request_budget)),
            seconds=workplace.limits().timeout_seconds,
            mutate="none",
            lean_on=_LEANING.get(action.name),
        )

        def hear(done: int, most: int, suspected: int) -> None:
            workplace.emit(Progressed(self.name, "trying test data", done, most, suspected))

        try:
            run = workplace.service.test(plan, hear)
        except WhetError as error:
            return DataOutcome(duration_seconds=time.monotonic() - started, failed=str(error))
        return _outcome(run, time.monotonic() - started)

    def value(self, state: DataState, action: Action, outcome: DataOutcome) -> Valuation:
        own = specialists.data(
            valid=outcome.valid,
            accepted=outcome.accepted,
            behaviours=outcome.behaviours,
            requests=outcome.requests,
        )
        return Valuation(measures=Measures(task_failed=outcome.failed is not None), own=own)


def _outcome(run: ServiceRun, seconds: float) -> DataOutcome:
    """Faults it meets are findings too: a service that fails on good data fails."""
    return DataOutcome(
        duration_seconds=seconds,
        findings=run.findings,
        requests=run.requests,
        valid=run.valid,
        accepted=run.accepted,
        behaviours=run.behaviours,
        operations_reached=run.reached,
        operations_new=run.reached_new,
    )
