"""The constraints themselves: each looks at one outcome, beside earlier ones, and says what is wrong or None."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from whet.agents.coverage import CoverageOutcome, CoverageState
from whet.agents.executor import ExecutorOutcome
from whet.agents.flaky import FlakyOutcome
from whet.agents.risk import RiskOutcome
from whet.core.records import Action, ActionKind, Outcome, State

# Nothing is usual before it was seen this often.
FEWEST_EARLIER = 3
# A suite that is a tenth smaller than usual has lost tests; less than that is everyday tidying.
SHRUNK = 0.9
# Of the tests' usual share of the time. Machines and caches vary by less than this; skipping tests does not.
LITTLE_WORK = 0.25
# Below this the tests themselves take hardly any time, and their share of it is noise.
MEASURABLE_SECONDS = 0.1
# Coverage counts as lost when it falls by more than a point and fewer lines run; rounding and timing do less.
LOST_POINTS, LOST_LINES = 1.0, 0.95
# Public studies find 1 to 5 % of tests flaky: more new ones at once than this have a cause in common.
MANY_FLAKY_SHARE, MANY_FLAKY = 0.2, 3
_TESTS_FAILED = 1  # pytest's exit code


class Scene(NamedTuple):
    """With earlier outcomes of the same agent: all of them, and those that nothing spoke against."""

    state: State
    action: Action
    outcome: Outcome
    earlier: Sequence[Outcome]
    trusted: Sequence[Outcome]


def _nothing_ran(scene: Scene) -> str | None:
    ran, there = _tests(scene.outcome)
    if ran != 0 or not there or scene.action.kind is ActionKind.RECALLED:
        return None
    return f"{scene.action.name} ran none of {there:,} tests: there was nothing to be fast at."


def _tests(outcome: Outcome) -> tuple[int | None, int | None]:
    """How many ran, and how many there were."""
    if isinstance(outcome, ExecutorOutcome):
        return outcome.tests_run, outcome.tests_collected
    return (outcome.tests_run, outcome.tests_ranked) if isinstance(outcome, RiskOutcome) else (None, None)


def _left_out(scene: Scene) -> str | None:
    """A plan for all tests that ran fewer. A run that stopped at a failure, as the project asked, is no such plan."""
    outcome = scene.outcome
    if not isinstance(outcome, ExecutorOutcome) or scene.action.hides or _failures(outcome):
        return None
    if outcome.tests_run >= outcome.tests_collected:
        return None
    return (
        f"{scene.action.name} is for all tests, but ran {outcome.tests_run:,} of {outcome.tests_collected:,} "
        "and none failed: the time it saved is that of the tests it left out."
    )


def _not_audited(scene: Scene) -> str | None:
    outcome = scene.outcome
    if not isinstance(outcome, ExecutorOutcome) or not scene.action.hides or outcome.missed_failures is not None:
        return None
    left_out = outcome.tests_collected - outcome.tests_run
    if left_out <= 0:
        return None
    return (
        f"{scene.action.name} left out {left_out:,} of {outcome.tests_collected:,} tests and nobody looked what they "
        "would have shown: being fast may be all that it did."
    )


def _shrunk(scene: Scene) -> str | None:
    """Everything earlier counts, so that a suite that stays smaller is the usual one after a while."""
    outcome = scene.outcome
    usual = _median(each.tests_collected for each in scene.earlier if isinstance(each, ExecutorOutcome))
    if not isinstance(outcome, ExecutorOutcome) or usual is None or scene.state.situation.changed:
        return None
    if outcome.tests_collected >= SHRUNK * usual:
        return None
    return (
        f"The suite has {outcome.tests_collected:,} tests where it usually has {usual:,.0f}, and no change of the code "
        "explains it: a smaller suite is no faster way to run it."
    )


def _little_work(scene: Scene) -> str | None:
    """Tests that are skipped or emptied still count as run, but take no time.

    Compared to what the reward expects, so that it ends when the expectation has adapted; what was suspected does
    not become usual.
    """
    outcome, now = scene.outcome, _share_of_work(scene.outcome)
    usual = _median(share for each in scene.trusted if (share := _share_of_work(each)) is not None)
    if not isinstance(outcome, ExecutorOutcome) or now is None or usual is None or scene.action.hides:
        return None
    expected = usual * (outcome.expected_seconds or 0.0)
    if expected < MEASURABLE_SECONDS or now >= LITTLE_WORK * usual:
        return None
    return (
        f"The tests themselves took {outcome.test_seconds:.2g} s where about {expected:.2g} s are usual: they were "
        "skipped or emptied, and that is not the plan's speed."
    )


def _share_of_work(outcome: Outcome) -> float | None:
    """What the tests themselves took, of the time that the whole suite was expected to take."""
    if not isinstance(outcome, ExecutorOutcome) or outcome.test_seconds is None or not outcome.expected_seconds:
        return None
    return outcome.test_seconds / outcome.expected_seconds


def _retried_green(scene: Scene) -> str | None:
    """pytest said that tests failed; the outcome has no failure of any kind and no finding that tells of one."""
    outcome = scene.outcome
    if not isinstance(outcome, ExecutorOutcome) or outcome.exit_code != _TESTS_FAILED:
        return None
    if _failures(outcome) or outcome.unconfirmed_failures != 0 or outcome.findings:
        return None
    return (
        f"Tests failed and {scene.action.name} ran them again until they passed, and no finding tells of it: "
        "a failure that went away is a flaky test, not a success."
    )


def _failures(outcome: ExecutorOutcome) -> int:
    return outcome.confirmed_failures + outcome.unchecked_failures


def _coverage_lost(scene: Scene) -> str | None:
    """Adding untested code lowers the share but not the lines that run; removing code lowers both alike."""
    before, after = scene.state, scene.outcome
    if not isinstance(before, CoverageState) or not isinstance(after, CoverageOutcome):
        return None
    ran_before, ran_after = _lines_before(before), _lines_after(after)
    if ran_before is None or ran_after is None or ran_after >= LOST_LINES * ran_before:
        return None
    was, is_now = before.line_coverage, after.line_coverage
    if was is None or is_now is None or was - is_now <= LOST_POINTS:
        return None
    return (
        f"Coverage fell from {was:.0f} % to {is_now:.0f} % with {scene.action.name}: it was quick, and had gaps to "
        "name, because fewer lines ran."
    )


def _lines_before(state: CoverageState) -> int | None:
    if state.total_lines is None or state.uncovered_lines is None:
        return None
    return state.total_lines - state.uncovered_lines


def _lines_after(outcome: CoverageOutcome) -> float | None:
    """Lines that ran, from their share and the number of the others; unknown when there are no others to count by."""
    percent, missing = outcome.line_coverage, outcome.uncovered_lines
    if percent is None or missing is None or percent >= 100.0:
        return None
    return missing * percent / (100.0 - percent)


def _everything_flaky(scene: Scene) -> str | None:
    outcome = scene.outcome
    if not isinstance(outcome, FlakyOutcome) or outcome.confirmed_new <= MANY_FLAKY:
        return None
    if outcome.confirmed_new <= MANY_FLAKY_SHARE * outcome.tests_examined:
        return None
    return (
        f"{scene.action.name} calls {outcome.confirmed_new:,} of {outcome.tests_examined:,} tests flaky at once: one "
        "cause that they share (the machine, a service, the order) is likelier than so many flaky tests."
    )


def _median(values: Iterable[float]) -> float | None:
    known = list(values)
    return statistics.median(known) if len(known) >= FEWEST_EARLIER else None


Constraint = Callable[[Scene], str | None]
CONSTRAINTS: Final[Mapping[str, Constraint]] = {
    "nothing ran": _nothing_ran,
    "tests left out": _left_out,
    "selection not audited": _not_audited,
    "smaller suite": _shrunk,
    "tests without work": _little_work,
    "retried until green": _retried_green,
    "coverage lowered": _coverage_lost,
    "everything flaky": _everything_flaky,
}


def accuses(rule: str, action: Action) -> bool:
    """Whether somebody has to answer for it. Nobody does for what an action is openly there for, or for a look that
    nobody took: that reward is only not known to be earned."""
    retries = rule == "retried until green" and action.kind is ActionKind.REPEATED
    return not retries and rule != "selection not audited"
