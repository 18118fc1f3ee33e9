"""api-contract-validator: how to spend the next requests on the project's service, so that it keeps its contract."""

import time

from pydantic import Field

from whet.core.agent import Agent
from whet.core.errors import WhetError
from whet.core.events import Progressed
from whet.core.keys import Atom
from whet.core.records import (
    Action,
    ActionKind,
    Count,
    Finding,
    Measures,
    Outcome,
    Seconds,
    Severities,
    State,
    Valuation,
)
from whet.core.services import NotServed, ServicePlan, ServiceRun, looked_at
from whet.rewards import specialists
from whet.tools.workplace import Workplace

# Of a re-test: some requests to see each fault again, and as many to make it small.
_FOR_EACH_KNOWN = 25
# Of covering: a few attempts at every operation, and those that make what it needs.
_FOR_EACH_OPERATION = 5
_SHARE_FOR_CHANGES = 0.5


class ContractState(State):
    """What is unknown is so because the service did not start."""

    operations: Count | None
    operations_reached: Count | None = Field(description="by earlier runs, with a 2xx")
    known_faults: Count | None
    changed_operations: Count | None = Field(description="whose contract is another than in the last run")
    breaking_changes: Count | None
    earlier_runs: Count | None
    request_budget: Count
    seconds_left: Seconds

    def discrete(self) -> tuple[Atom, ...]:
        if self.operations is None:
            return (None,)
        return (
            _size(self.operations),
            (self.operations_reached or 0) * 4 // max(1, self.operations),
            _few_or_many(self.known_faults or 0),
            bool(self.changed_operations),
            bool(self.breaking_changes),
            min(self.earlier_runs or 0, 4) // 2,
        )


class ContractOutcome(Outcome):
    """All None when the service did not start."""

    requests: Count | None = None
    operations: Count | None = None
    operations_reached: Count | None = None
    operations_new: Count | None = None
    faults: dict[str, Count] | None = Field(None, description="those that are there, by kind")
    faults_new: Severities | None = None
    still_there: Count | None = None
    fixed: Count | None = None
    restarts: Count | None = Field(None, description="how often the service died and was started again")
    notes: tuple[str, ...] = ()


class ContractValidator(Agent[ContractState, ContractOutcome, Workplace]):
    name = "api-contract-validator"
    category = "advanced-testing"
    state_type = ContractState
    outcome_type = ContractOutcome
    actions = (
        Action(name="hunt_faults", kind=ActionKind.DEEPER, summary="valid and broken requests to every operation"),
        Action(name="cover_operations", kind=ActionKind.FASTER, summary="valid requests only, to reach operations"),
        Action(name="retest_known", kind=ActionKind.REPEATED, summary="only look whether known faults are fixed"),
        Action(
            name="check_changed", kind=ActionKind.FOCUSED, summary="broken requests only where the contract changed"
        ),
    )

    def obstacle(self, workplace: Workplace) -> str | None:
        return workplace.service.obstacle()

    def observe(self, workplace: Workplace) -> ContractState:
        known = looked_at(workplace.service)
        return ContractState(
            situation=workplace.situation(),
            operations=None if known is None else known.operations,
            operations_reached=None if known is None else known.reached_before,
            known_faults=None if known is None else known.known_faults,
            changed_operations=None if known is None else known.changed_operations,
            breaking_changes=None if known is None else known.breaking_changes,
            earlier_runs=None if known is None else known.runs,
            request_budget=workplace.service.requests,
            seconds_left=workplace.budget.left(),
        )

    def allowed(self, state: ContractState) -> tuple[Action, ...]:
        possible = {
            "hunt_faults": True,
            "cover_operations": state.operations is not None,
            "retest_known": bool(state.known_faults),
            "check_changed": bool(state.changed_operations),
        }
        return tuple(action for action in self.actions if possible[action.name])

    def safe_default(self, state: ContractState) -> Action:
        """What `whet api` does."""
        return self.action("hunt_faults")

    def act(self, state: ContractState, action: Action, workplace: Workplace) -> ContractOutcome:
        started = time.monotonic()
        plan = _plan(action.name, state, workplace.limits().timeout_seconds)

        def hear(done: int, most: int, suspected: int) -> None:
            workplace.emit(Progressed(self.name, "testing the service", done, most, suspected))

        try:
            run = workplace.service.test(plan, hear)
        except WhetError as error:
            return ContractOutcome(
                duration_seconds=time.monotonic() - started, failed=str(error), findings=_not_served(error)
            )
        return _outcome(run, time.monotonic() - started)

    def value(self, state: ContractState, action: Action, outcome: ContractOutcome) -> Valuation:
        settled = None if outcome.still_there is None or outcome.fixed is None else outcome.still_there + outcome.fixed
        measures = Measures(bugs_found=outcome.faults_new, task_failed=outcome.failed is not None)
        own = specialists.contracts(
            operations_new=outcome.operations_new,
            known_settled=settled,
            requests=outcome.requests,
            seconds=outcome.duration_seconds if outcome.requests is not None else None,
        )
        return Valuation(measures=measures, own=own)


def _plan(action: str, state: ContractState, seconds: float) -> ServicePlan:
    most = max(1, state.request_budget)
    match action:
        case "cover_operations":
            asked = _FOR_EACH_OPERATION * (state.operations or most)
            return ServicePlan(requests=min(most, max(1, asked)), seconds=seconds, mutate="none")
        case "retest_known":
            asked = _FOR_EACH_KNOWN * (state.known_faults or 1)
            return ServicePlan(requests=min(most, asked), seconds=seconds, retest_only=True)
        case "check_changed":
            asked = max(1, int(_SHARE_FOR_CHANGES * most))
            return ServicePlan(requests=asked, seconds=seconds, mutate="changed")
    return ServicePlan(requests=most, seconds=seconds)


def _outcome(run: ServiceRun, seconds: float) -> ContractOutcome:
    return ContractOutcome(
        duration_seconds=seconds,
        findings=run.findings,
        requests=run.requests,
        operations=run.operations,
        operations_reached=run.reached,
        operations_new=run.reached_new,
        faults=run.faults,
        faults_new=run.faults_new,
        still_there=run.still_there,
        fixed=run.fixed,
        restarts=run.restarts,
        notes=run.notes,
    )


def _not_served(error: WhetError) -> tuple[Finding, ...]:
    """A service that does not start is the first thing wrong with it; wrong settings are no fault of the service."""
    if not isinstance(error, NotServed):
        return ()
    title = "The service does not start"
    return (Finding(kind="api-fault", title=title, severity="critical", evidence=error.problem, cause="not served"),)


def _size(operations: int) -> str:
    return "small" if operations < 20 else "medium" if operations < 100 else "large"


def _few_or_many(faults: int) -> int:
    return 0 if faults == 0 else 1 if faults < 4 else 2
