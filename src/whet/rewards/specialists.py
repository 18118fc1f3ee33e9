"""The agents' own reward terms, on top of the profile. Penalties are penalties: their points are never positive.

Each function takes what one kind of agent measured (None: not measured) and returns its parts; the tuple of scales
beside it has the bounds, so that true ranges can be derived with the agent's terms included.
"""

from typing import Final

from whet.core.records import Part
from whet.rewards.terms import Bounds, Scale, change, ratio

EXECUTION: Final = (
    Scale("parallelization", 10.0, Bounds(0.0, 10.0), "parallelization efficiency (0 to 1)"),
    Scale("utilization", 5.0, Bounds(0.0, 5.0), "resource utilization (0 to 1)"),
    Scale("time_savings", 3.0, Bounds(-3.0, 3.0), "share of the expected time saved (-1 to 1)"),
    Scale("failed_scheduling", -5.0, Bounds(-50.0, 0.0), "tests that could not be scheduled"),
)

TRUST: Final = (
    Scale("missed_failures", -10.0, Bounds(-100.0, 0.0), "failing tests that were not run"),
    Scale("unconfirmed_failures", -5.0, Bounds(-50.0, 0.0), "failures that the plan itself caused"),
)

FLAKY_TRUTH: Final = (
    Scale("flaky_f1", 100.0, Bounds(0.0, 100.0), "F1 score against known flaky tests"),
    Scale("flaky_missed", -20.0, Bounds(-100.0, 0.0), "flaky tests missed"),
    Scale("flaky_wrongly_flagged", -5.0, Bounds(-50.0, 0.0), "stable tests called flaky"),
)

FLAKY_EVIDENCE: Final = (
    Scale("flaky_confirmed", 10.0, Bounds(0.0, 60.0), "new flaky tests, confirmed"),
    Scale(
        "evidence_gained",
        20.0,
        Bounds(0.0, 20.0),
        "what was learned of the tests, as a share of the doubt before (0 to 1)",
    ),
)

GENERATION: Final = (
    Scale("edge_cases", 5.0, Bounds(0.0, 50.0), "edge cases covered"),
    Scale("generation_size", -2.0, Bounds(-50.0, 0.0), "tests more or fewer than the best number"),
)

COVERAGE: Final = (Scale("gaps_that_matter", 2.0, Bounds(0.0, 40.0), "coverage gaps that matter"),)

RISK: Final = (Scale("early_failures", 30.0, Bounds(0.0, 30.0), "share of failing tests caught early (0 to 1)"),)

COMMAND: Final = (
    Scale("findings_per_minute", 2.0, Bounds(0.0, 40.0), "new findings per minute"),
    Scale("budget_overrun", -20.0, Bounds(-20.0, 0.0), "share of the budget overrun"),
)

CONTRACTS: Final = (
    Scale("api_operations", 1.0, Bounds(0.0, 30.0), "operations of a service reached for the first time"),
    Scale("api_settled", 1.0, Bounds(0.0, 20.0), "known faults of a service looked at again"),
    Scale("api_requests", -1.0, Bounds(-20.0, 0.0), "hundreds of requests sent to a service"),
    Scale("api_minutes", -2.0, Bounds(-20.0, 0.0), "minutes spent on a service"),
)

DATA: Final = (
    Scale("data_accepted", 20.0, Bounds(0.0, 20.0), "share of valid requests that were accepted (0 to 1)"),
    Scale("data_behaviours", 40.0, Bounds(0.0, 40.0), "new behaviours of a service for each request (0 to 1)"),
)

PEOPLE: Final = (
    Scale("false_alarms", -5.0, Bounds(-50.0, 0.0), "findings that a person called a false alarm"),
    Scale("run_rating", 5.0, Bounds(-10.0, 10.0), "stars above three, by a person"),
)

SCALES: Final = (
    *EXECUTION,
    *TRUST,
    *FLAKY_TRUTH,
    *FLAKY_EVIDENCE,
    *GENERATION,
    *COVERAGE,
    *RISK,
    *COMMAND,
    *CONTRACTS,
    *DATA,
    *PEOPLE,
)


def execution(
    *,
    parallelization_efficiency: float | None = None,
    resource_utilization: float | None = None,
    time_savings: float | None = None,
    failed_scheduling: int | None = None,
) -> tuple[Part, ...]:
    """Running a suite: how well the cores were used, what was saved, what could not be placed."""
    amounts = (parallelization_efficiency, resource_utilization, time_savings, failed_scheduling)
    return _parts(EXECUTION, *amounts)


def trust(*, missed_failures: int | None = None, unconfirmed_failures: int | None = None) -> tuple[Part, ...]:
    """Whether a plan can be trusted: failures it did not run, and failures it caused itself.

    Missing a failure costs most: a faster suite that hides failures is worth less than none.
    """
    return _parts(TRUST, missed_failures, unconfirmed_failures)


def flaky_truth(
    *, true_positives: int | None = None, false_positives: int | None = None, false_negatives: int | None = None
) -> tuple[Part, ...]:
    """The hunt judged against known flaky tests; all unknown without that knowledge."""
    score, missed, wrong = FLAKY_TRUTH
    if true_positives is None or false_positives is None or false_negatives is None:
        return tuple(scale.part(None, "not measured: it is not known which tests are flaky") for scale in FLAKY_TRUTH)
    relevant = 2 * true_positives + false_positives + false_negatives
    f1 = 2 * true_positives / relevant if relevant else None
    nothing = "no test is flaky and none was called so, which leaves the score undefined"
    return score.part(f1, nothing), missed.part(false_negatives), wrong.part(false_positives)


def flaky_evidence(*, confirmed_new: int | None = None, evidence_gained: float | None = None) -> tuple[Part, ...]:
    """The hunt judged by what it brought to light: confirmed cases, and less doubt about the rest."""
    return _parts(FLAKY_EVIDENCE, confirmed_new, evidence_gained)


def generation(
    *,
    edge_cases_covered: int | None = None,
    tests_generated: int | None = None,
    optimal_test_count: int | None = None,
) -> tuple[Part, ...]:
    """Writing tests: edge cases covered, and neither too many tests nor too few."""
    distance = change(optimal_test_count, tests_generated)
    return _parts(GENERATION, edge_cases_covered, None if distance is None else abs(distance))


def coverage(*, gaps_that_matter: int | None = None) -> tuple[Part, ...]:
    """Looking for gaps: only those count that matter (changed, complex or often failing code)."""
    return _parts(COVERAGE, gaps_that_matter)


def risk(*, early_share: float | None = None) -> tuple[Part, ...]:
    """Foreseeing failures: unknown when nothing failed, because there was nothing to catch."""
    (scale,) = RISK
    return (scale.part(early_share, "not measured: no test failed, or it is not known when they did"),)


def command(
    *, new_findings: int | None = None, used_seconds: float | None = None, budget_seconds: float | None = None
) -> tuple[Part, ...]:
    """Leading a run: what the fleet found per minute, and keeping within the budget."""
    found, overrun = COMMAND
    per_minute = _per_minute(new_findings, used_seconds)
    over = ratio(used_seconds, budget_seconds)
    return found.part(per_minute), overrun.part(None if over is None else max(over - 1.0, 0.0))


def contracts(
    *,
    operations_new: int | None = None,
    known_settled: int | None = None,
    requests: int | None = None,
    seconds: float | None = None,
) -> tuple[Part, ...]:
    """Testing a service: what was reached and settled, and what it cost. New faults are the profile's `bugs_found`."""
    hundreds, minutes = ratio(requests, 100), ratio(seconds, 60.0)
    return _parts(CONTRACTS, operations_new, known_settled, hundreds, minutes)


def data(
    *, valid: int | None = None, accepted: int | None = None, behaviours: int | None = None, requests: int | None = None
) -> tuple[Part, ...]:
    """Choosing values: unknown while nothing was sent, because a share needs a whole."""
    accepted_share = ratio(accepted, valid) if valid else None
    return _parts(DATA, accepted_share, ratio(behaviours, requests) if requests else None)


def people(*, false_alarms: int | None = None, stars: int | None = None) -> tuple[Part, ...]:
    """What people said afterwards. Three stars of five are neither praise nor blame."""
    return _parts(PEOPLE, false_alarms, None if stars is None else stars - 3)


def _per_minute(count: int | None, seconds: float | None) -> float | None:
    """Unknown when no time passed: a rate needs a duration."""
    return None if count is None or not seconds else count * 60.0 / seconds


def _parts(scales: tuple[Scale, ...], *amounts: float | None) -> tuple[Part, ...]:
    return tuple(scale.part(amount) for scale, amount in zip(scales, amounts, strict=True))
