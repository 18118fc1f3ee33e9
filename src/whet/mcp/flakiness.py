"""Tests that pass and fail on the same code, with what speaks for it."""

from whet.agents.flaky import verdicts_of
from whet.bootstrap.site import Site
from whet.mcp.answers import NOT_VISITED, FlakyTest, FlakyTests, Hinted
from whet.mcp.quoting import named, sentence
from whet.skills.flakiness import Verdict

_UNEXECUTED = "No test was executed on this version of the code yet; run_agent with flaky-test-hunter does."
_ONCE = "Some tests were executed once only on this code, which says nothing; run_agent with flaky-test-hunter repeats."


def flaky(site: Site, suspected: bool) -> FlakyTests:
    if not site.visited:
        return FlakyTests(flaky=(), tests_executed=0, fewest_executions=None, notes=(NOT_VISITED,))
    with site.store() as store:
        known = verdicts_of(store.history, site.project, site.project.code_version())
    fewest = min((v.executions for v in known.values()), default=None)
    shown = sorted(
        (v for v in known.values() if v.failures and (v.flaky or suspected)), key=lambda v: (-v.probability, v.test)
    )
    notes = (_UNEXECUTED,) if fewest is None else (_ONCE,) if fewest < 2 else ()
    return FlakyTests(
        flaky=tuple(map(flaky_test, shown)), tests_executed=len(known), fewest_executions=fewest, notes=notes
    )


def flaky_test(verdict: Verdict) -> FlakyTest:
    return FlakyTest(
        test=named(verdict.test),
        probability=verdict.probability,
        failures=verdict.failures,
        executions=verdict.executions,
        likely_causes=tuple(Hinted(cause=h.cause, because=sentence(h.because)) for h in verdict.hints),
    )
