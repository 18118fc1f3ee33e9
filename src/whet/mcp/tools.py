"""The tools, as coding agents see them: signatures become schemas, docstrings descriptions."""

from pathlib import Path
from typing import Annotated, Any, Literal

import anyio.to_thread
from mcp.server.mcpserver import Context
from pydantic import Field

from whet.bootstrap.site import Site, open_site
from whet.core.errors import RefusedInput
from whet.mcp import deciding, failing, finding, flakiness, ranking, running
from whet.mcp.answers import (
    DecisionList,
    ExplainedDecision,
    ExplainedFailure,
    FindingKind,
    FlakyTests,
    FoundTroubles,
    Ranking,
    RunOutcome,
    Severity,
)
from whet.mcp.errands import Progress

MOST_MINUTES = 30.0

Specialist = Literal[
    "test-executor",
    "coverage-analyzer",
    "flaky-test-hunter",
    "regression-risk-analyzer",
    "api-contract-validator",
    "test-data-architect",
]
Limit = Annotated[int, Field(ge=1, le=1000, description="How many at most.")]
Text = Annotated[str, Field(min_length=1, max_length=100_000)]


class Tools:
    """Opens the project anew for each call, so that what others learned meanwhile counts."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def rank_tests(
        self,
        ctx: Context[Any, Any],
        diff: Annotated[
            Annotated[str, Field(min_length=1, max_length=2_000_000)] | None,
            Field(description="A unified diff of the change, applied to the working tree already or not."),
        ] = None,
        changed_files: Annotated[
            Annotated[list[Annotated[str, Field(min_length=1, max_length=1000)]], Field(max_length=1000)] | None,
            Field(description="Instead of a diff: paths relative to the project."),
        ] = None,
        changed_since: Annotated[
            Annotated[str, Field(min_length=1, max_length=200)] | None,
            Field(description="Instead of a diff: a commit, branch or tag that git compares with."),
        ] = None,
        limit: Limit = 50,
    ) -> Ranking:
        """The project's tests in the order that finds failures soonest, with a reason for each.

        Learned from earlier runs and from how near each test is to the change. Give the change as diff, changed_files
        or changed_since; without any, git tells what changed since the last full run. Collects the suite with pytest,
        which imports the project's test files, and runs no test.
        """
        site = self._site()
        change = await anyio.to_thread.run_sync(ranking.described, site, diff, changed_files, changed_since)
        tests = await running.collect(self._root, _reporting(ctx, None))
        return await anyio.to_thread.run_sync(ranking.rank, site, tests, change, limit)

    def flaky_tests(
        self,
        include_suspected: Annotated[
            bool, Field(description="Also tests that failed on this code but are not proven flaky.")
        ] = False,
    ) -> FlakyTests:
        """Tests that pass and fail on the same, present code, with how sure that is, counts and likely causes.

        Only repeated executions of unchanged code can tell: see fewest_executions before you believe an empty list.
        """
        return flakiness.flaky(self._site(), include_suspected)

    def explain_failure(
        self,
        test: Annotated[
            Annotated[str, Field(min_length=1, max_length=2000)] | None,
            Field(description="The failing test's pytest id, or its end if that is unique."),
        ] = None,
        text: Annotated[Text | None, Field(description="Or the failure's output, such as a traceback.")] = None,
    ) -> ExplainedFailure:
        """The history of a failure: when and on which code the test failed, what it said then, whether it is flaky,
        how much it is at risk now, and which remembered failures it resembles. Give test, text or both.
        """
        if test is None and text is None:
            raise RefusedInput("Neither test nor text was given.", "Name the failing test, or give what it printed.")
        return failing.explain(self._site(), test, text)

    def findings(
        self,
        kind: Annotated[FindingKind | None, Field(description="Only of this kind.")] = None,
        severity: Annotated[Severity | None, Field(description="Only of this severity.")] = None,
        limit: Limit = 50,
        include_past: Annotated[bool, Field(description="Also what was found in other code, fixed or not.")] = False,
    ) -> FoundTroubles:
        """What is wrong with the project as far as earlier runs showed: failing and flaky tests, coverage gaps, risky
        changes, API faults; with evidence and a way to see it again. Runs nothing.
        """
        return finding.find(self._site(), kind, severity, limit, include_past)

    def decisions(self, limit: Limit = 20) -> DecisionList:
        """The latest decisions of Whet's agents: which action ran, why, and how confident the policy was."""
        return deciding.recent(self._site(), limit)

    def explain_decision(
        self,
        id: Annotated[str, Field(pattern="^[0-9a-f]{4,32}$", description="A decision's id, or its beginning.")],  # noqa: A002
    ) -> ExplainedDecision:
        """One decision in full: what the agent saw, every alternative with its expected reward, the outcome that was
        measured and the reward it earned."""
        return deciding.explain(self._site(), id)

    async def run_agent(
        self,
        ctx: Context[Any, Any],
        agent: Annotated[
            Specialist,
            Field(description="Which specialist to send."),
        ],
        minutes: Annotated[
            float, Field(gt=0.0, le=MOST_MINUTES, description="Budget; the run is ended soon after it is spent.")
        ] = 2.0,
    ) -> RunOutcome:
        """Sends one specialist to the project for real: it runs the project's tests (or tests its service), measures,
        and Whet learns from the outcome. One run at a time in a project. Cancelling ends everything it started.

        test-executor runs the suite; coverage-analyzer finds untested code; flaky-test-hunter repeats tests;
        regression-risk-analyzer tries the riskiest tests; api-contract-validator and test-data-architect need
        [tool.whet.api] in the project's settings.
        """
        return await running.run_agent(self._root, agent, minutes, _reporting(ctx, minutes * 60))

    def _site(self) -> Site:
        return open_site(self._root)


def _reporting(ctx: Context[Any, Any], total_seconds: float | None) -> Progress:
    async def report(seconds: float, told: str) -> None:
        await ctx.report_progress(seconds, total_seconds, told)

    return report
