"""The few measured facts of an outcome that a person looks for first."""

from whet.agents.commander import CommanderOutcome
from whet.agents.contracts import ContractOutcome
from whet.agents.coverage import CoverageOutcome
from whet.agents.data import DataOutcome
from whet.agents.executor import ExecutorOutcome
from whet.agents.flaky import FlakyOutcome
from whet.agents.risk import RiskOutcome
from whet.core.records import Outcome


def highlights(outcome: Outcome) -> dict[str, str]:
    facts = _facts(outcome)
    told = {name: value for name, value in facts.items() if value is not None}
    if outcome.cut_short:
        told["cut short"] = "by the end of the budget; nothing was learned from it"
    if outcome.unearned is not None:
        told["reward not earned"] = f"{outcome.unearned} Nothing was learned from it."
    return told if outcome.failed is None else {**told, "problem": outcome.failed}


def _facts(outcome: Outcome) -> dict[str, str | None]:
    match outcome:
        case ExecutorOutcome():
            return {
                "tests run": f"{outcome.tests_run} of {outcome.tests_collected}",
                "failures": str(outcome.confirmed_failures + outcome.unchecked_failures),
                "caused by the plan": _count(outcome.unconfirmed_failures),
                "missed": _count(outcome.missed_failures),
                "first failure after": _seconds(outcome.first_failure_seconds),
            }
        case CoverageOutcome():
            at_least = "at least " if outcome.lower_bound else ""
            return {
                "lines": _percent(outcome.line_coverage, at_least),
                "branches": _percent(outcome.branch_coverage, at_least),
                "gaps": _count(outcome.gaps_total),
            }
        case FlakyOutcome():
            return {
                "executions": str(outcome.executions),
                "flaky": str(outcome.known_flaky),
                "newly confirmed": str(outcome.confirmed_new),
                "doubt": f"{outcome.doubt_before_bits:.1f} → {outcome.doubt_after_bits:.1f} bits",
            }
        case RiskOutcome():
            return {
                "tests run": f"{outcome.tests_run} of {outcome.tests_ranked}",
                "failures caught": str(outcome.failures_in_slice),
                "share of known failures": _percent(_hundred(outcome.early_share)),
            }
        case ContractOutcome():
            return {
                "requests": _count(outcome.requests),
                "operations reached": _of(outcome.operations_reached, outcome.operations),
                "faults": _count(None if outcome.faults is None else sum(outcome.faults.values())),
                "new": _count(None if outcome.faults_new is None else sum(outcome.faults_new.values())),
                "fixed": _count(outcome.fixed),
            }
        case DataOutcome():
            return {
                "requests": _count(outcome.requests),
                "accepted": _of(outcome.accepted, outcome.valid),
                "new behaviours": _count(outcome.behaviours),
            }
        case CommanderOutcome():
            return {"sent": outcome.agent, "new findings": _count(outcome.new_findings)}
    return {}


def _hundred(share: float | None) -> float | None:
    return None if share is None else 100.0 * share


def _percent(value: float | None, prefix: str = "") -> str | None:
    return None if value is None else f"{prefix}{value:.1f} %"


def _seconds(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f} s"


def _count(value: int | None) -> str | None:
    return None if value is None else str(value)


def _of(part: int | None, whole: int | None) -> str | None:
    return None if part is None or whole is None else f"{part} of {whole}"
