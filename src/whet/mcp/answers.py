"""What the tools answer. Unknown is null, never a stand-in; words of the project are `Quoted`."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from whet.core.feedback import Verdict
from whet.core.records import Count, Probability, Record, Seconds
from whet.mcp.quoting import Quoted

Severity = Literal["critical", "high", "medium", "low"]
FindingKind = Literal["failing-test", "flaky-test", "coverage-gap", "risky-change", "suite-problem", "api-fault"]
NOT_VISITED = "Whet has not visited this project yet, so nothing is known. Call run_agent with test-executor first."


class RankedTest(Record):
    place: Count = Field(description="1 is the test to run first")
    test: str = Field(description="pytest's id")
    reason: str = Field(description="why it stands where it does")
    near_the_change: str | None = Field(description="what it has to do with the change; null: nothing is known of that")
    likelihood: float | None = Field(description="to compare within this answer, not a probability; null: unknown")
    expected_seconds: Seconds | None = Field(description="null: never timed")


class Ranking(Record):
    tests: tuple[RankedTest, ...]
    tests_total: Count = Field(description="how many there are; `tests` holds the first of them")
    runs_known: Count = Field(description="runs that the order was learned from")
    branch: str | None
    changed_files: tuple[str, ...] | None = Field(description="what nearness was judged by; null: not known")
    notes: tuple[str, ...] = Field(description="what could not be taken into account")


class Hinted(Record):
    cause: str = Field(description="order, time, randomness or network")
    because: str


class FlakyTest(Record):
    test: str
    probability: Probability = Field(description="that it is flaky, from executions of unchanged code")
    failures: Count
    executions: Count = Field(description="of the present code")
    likely_causes: tuple[Hinted, ...]


class FlakyTests(Record):
    flaky: tuple[FlakyTest, ...] = Field(description="beyond doubt (0.95) and, if asked for, suspected ones")
    tests_executed: Count = Field(description="tests that were executed at all on the present code")
    fewest_executions: Count | None = Field(description="of any of them: a verdict needs repeated executions")
    notes: tuple[str, ...] = ()


class FoundTrouble(Record):
    fingerprint: str = Field(description="the same whenever the same trouble is met again")
    kind: FindingKind
    severity: Severity
    title: Quoted
    evidence: Quoted
    test: str | None
    file: str | None
    line: Count | None
    probability: Probability | None = Field(description="how sure it is; null: not a matter of chance")
    reproduce: Quoted | None = Field(description="a command that shows it again; look at it before running it")
    marked: Verdict | None = Field(description="what a person said of it; null: nobody did")


class FoundTroubles(Record):
    findings: tuple[FoundTrouble, ...] = Field(description="most urgent first, then newest")
    findings_total: Count = Field(description="how many match; `findings` holds the first of them")
    code_unchanged: bool | None = Field(description="whether the code is still what they were found in; null: no run")
    notes: tuple[str, ...] = ()


class DecisionLine(Record):
    id: str
    at: datetime
    run_id: str
    agent: str
    action: str
    why: str
    confidence: Probability | None = Field(description="that the proposal is within 5 % of the best; null: unknown")
    explored: bool
    review: str


class DecisionList(Record):
    decisions: tuple[DecisionLine, ...] = Field(description="newest first")
    decisions_total: Count
    notes: tuple[str, ...] = ()


class Weighed(Record):
    action: str
    expected_reward: float | None = Field(description="null: nothing is known of it here")
    standard_error: float | None
    visits: Count
    source: str = Field(description="whose experience the value comes from")
    probability: Probability = Field(description="chance that it would have been chosen")
    confidence: Probability | None


class Earned(Record):
    raw: float
    shaped: float
    credited: float
    parts: dict[str, float | None] = Field(description="points by name before weights; null: not measured")


class Recollected(Record):
    text: Quoted | None = Field(description="null: forgotten since")
    why: str
    weight: Probability = Field(description="how much it counted, of everything that was recalled")


class ExplainedDecision(Record):
    decision: DecisionLine
    action_summary: str
    proposed: str
    decided_by: str
    probability: Probability
    policy: str
    policy_version: str
    state: dict[str, Any] = Field(description="what the agent saw")
    alternatives: tuple[Weighed, ...]
    memories: tuple[Recollected, ...] = Field(description="what was recalled and counted")
    measured: dict[str, str] | None = Field(description="what came of it; null: the run ended before the action did")
    problem: Quoted | None = Field(description="why the action could not do its job; null: it did, or nobody knows")
    reward: Earned | None


class Failure(Record):
    at: datetime
    outcome: str
    source: str = Field(description="pytest, visit, junit, …")
    branch: str | None
    commit: str | None
    code_version: str | None
    on_present_code: bool | None = Field(description="null: the code of that run is not known")


class Resembling(Record):
    text: Quoted
    test: str | None = Field(description="that failed then; null: it is not about one test")
    topic: str
    at: datetime
    likeness: Probability = Field(description="how much it counts for this question, 0 to 1")
    why: str
    times_met: Count


class AtRisk(Record):
    risk: Probability = Field(description="orders tests by present risk; not a measured probability")
    because: str


class KnownTest(Record):
    """One test, over everything that is known of it."""

    test: str
    executions: Count
    failures: Count
    present_code_executions: Count
    present_code_failures: Count
    last_outcome: str | None
    mean_seconds: Seconds | None
    last_failed_runs_ago: Count | None = Field(description="0: in the newest run that executed it; null: never seen")
    failed: tuple[Failure, ...] = Field(description="whole-suite runs and reports in which it failed, newest first")
    looked_back_days: Count = Field(description="how far `failed` looks back")
    said: tuple[Quoted, ...] = Field(description="evidence of its findings, newest first")
    flaky: FlakyTest | None = Field(description="null: never executed on the present code")
    risk: AtRisk | None


class ExplainedFailure(Record):
    tests: tuple[KnownTest, ...]
    resembles: tuple[Resembling, ...] | None = Field(description="remembered failures like it; null: no memory here")
    notes: tuple[str, ...] = ()


class StepTaken(Record):
    decision_id: str
    agent: str
    action: str
    why: str
    seconds: Seconds | None
    cut_short: bool = Field(description="the budget ended it; nothing was learned from it")
    measured: dict[str, str]
    problem: Quoted | None = Field(description="why it could not do its job; null: it did")
    reward: Earned


class RunOutcome(Record):
    """One run: what each agent did, what came of it and what was found."""

    run_id: str
    status: Literal["running", "finished", "interrupted"]
    started_at: datetime
    budget_seconds: Seconds
    used_seconds: Seconds | None
    steps: tuple[StepTaken, ...]
    reward_total: float | None = Field(description="credited, over all steps; null: no step was finished")
    findings: tuple[FoundTrouble, ...] = Field(description="of this run, most urgent first")
    findings_total: Count
    notes: tuple[str, ...] = ()
