"""What was measured, sorted into the two arms of a comparison. One run is one value: its steps depend on each other."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from math import lgamma, log
from typing import NamedTuple

from whet.core.candidates import Candidate
from whet.core.learning_log import UnitResult
from whet.improvement.rollout.assignment import assigned, policy_name

# So rarely is a share of results called impossible that is only unusual, however often one looks.
_CHANCE = 0.001
_PRIOR_UNITS = 10.0  # how many units the expected share is worth before any was seen


class Arms(NamedTuple):
    """`trouble`: why what is missing could make the comparison wrong, as a sentence."""

    candidate: Sequence[UnitResult]
    baseline: Sequence[UnitResult]
    trouble: str | None = None


def canary_arms(candidate: Candidate, results: Iterable[UnitResult], now: datetime) -> Arms:
    """Runs of this step. A run counts where the hash put it; what was decided otherwise is missing from its arm."""
    seen = [each for each in results if candidate.since <= each.at <= now]
    name = policy_name(candidate.number)
    own, foreign = _units(seen, name)
    own, foreign = own - foreign, foreign - own
    chosen = _per_unit(r for r in seen if r.unit in own and assigned(candidate, r.unit))
    others = _per_unit(r for r in seen if r.unit in foreign and not assigned(candidate, r.unit))
    return Arms(chosen, others, _missing(len(chosen), len(others), candidate))


def probation_arms(candidate: Candidate, results: Iterable[UnitResult], now: datetime) -> Arms:
    """Everything it decided in production, against what others decided before."""
    seen, name = list(results), policy_name(candidate.number)
    chosen = _per_unit(r for r in seen if r.policy == name and candidate.since <= r.at <= now)
    return Arms(chosen, _per_unit(r for r in seen if r.policy != name and r.at < candidate.since))


def _units(results: Sequence[UnitResult], name: str) -> tuple[set[str], set[str]]:
    """Those that the candidate decided something for, and those that others did."""
    return {r.unit for r in results if r.policy == name}, {r.unit for r in results if r.policy != name}


def _per_unit(results: Iterable[UnitResult]) -> list[UnitResult]:
    """One result per unit, oldest first, whatever number of policies shared it."""
    together: dict[str, list[UnitResult]] = defaultdict(list)
    for each in results:
        together[each.unit].append(each)
    return sorted((_joined(parts) for parts in together.values()), key=lambda each: (each.at, each.unit))


def _joined(parts: Sequence[UnitResult]) -> UnitResult:
    if len(parts) == 1:
        return parts[0]
    decisions = sum(part.decisions for part in parts)
    reward = sum(part.reward * part.decisions for part in parts) / decisions
    success = sum(part.success * part.decisions for part in parts) / decisions
    return UnitResult(parts[0].unit, parts[0].policy, decisions, reward, success, min(part.at for part in parts))


def _missing(chosen: int, others: int, candidate: Candidate) -> str | None:
    """A run that broke left no result: an arm smaller than its share has lost some, and perhaps the worst ones."""
    if unlikelihood(chosen, others, candidate.share) < log(1 / _CHANCE):
        return None
    side = "those it decides" if chosen < candidate.share * (chosen + others) else "those others decide"
    return (
        f"{chosen} of {chosen + others} runs are its own where {candidate.share:.0%} were assigned: results of {side} "
        "are missing (runs that broke, an artefact refused on some machine, settings that name a policy)"
    )


def unlikelihood(chosen: int, others: int, share: float) -> float:
    """The log of how much better any other share explains the counts.

    It exceeds log(1 / p) with a probability of at most p at *any* time if the share is as given: a beta mixture
    against a point, after Lindon and Malek (2020), "Anytime-valid inference for multinomial count data".
    """
    if not 0.0 < share < 1.0:
        return 0.0
    first, second = _PRIOR_UNITS * share, _PRIOR_UNITS * (1.0 - share)
    mixed = _log_beta(first + chosen, second + others) - _log_beta(first, second)
    return mixed - chosen * log(share) - others * log(1.0 - share)


def _log_beta(first: float, second: float) -> float:
    return lgamma(first) + lgamma(second) - lgamma(first + second)
