"""Which tests run at all, when not all of them shall: a choice that says what it risks."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from whet.skills.ordering import Orderer, Ranked
from whet.skills.ordering.promise import FULL_RUN_EVERY

FEWEST_RUNS = 3  # before anything is left out


class Choice(NamedTuple):
    """`kept` None: everything runs, for the reason that `told` gives. `full`: whatever the budget is."""

    kept: frozenset[str] | None
    told: str
    full: bool = False


def choose(
    orderer: Orderer,
    ranked: Sequence[Ranked],
    always: Collection[str],
    budget_seconds: float | None,
    risk: float | None,
    workers: int = 1,
) -> Choice:
    """`always`: tests that run whatever they cost. `workers`: how many share the tests, within the same time."""
    if orderer.sheets < FEWEST_RUNS:
        return Choice(
            None, f"all tests are chosen: {orderer.sheets} of the {FEWEST_RUNS} runs needed to choose are known"
        )
    if orderer.selections >= FULL_RUN_EVERY - 1:
        why = f"every {FULL_RUN_EVERY}th run is a full one, to see what the choice would miss"
        return Choice(None, f"all tests run: {why}", full=True)
    if budget_seconds is not None:
        return _within_budget(orderer, ranked, always, budget_seconds, workers)
    return _within_risk(orderer, ranked, always, risk or 0.0)


def _within_budget(
    orderer: Orderer, ranked: Sequence[Ranked], always: Collection[str], budget_seconds: float, workers: int
) -> Choice:
    share = {one.test: (one.expected_seconds or 0.0) / workers for one in ranked}  # of the time that passes
    untimed = [one.test for one in ranked if one.expected_seconds is None]
    expected = sum(share.values())
    if expected <= budget_seconds:
        return Choice(None, f"all tests run: about {expected:.1f} s are expected, the budget is {budget_seconds:g} s")
    kept = {*always, *untimed}
    used = sum(share[test] for test in kept)
    for one in ranked:
        fits = used + share[one.test] <= budget_seconds and (one.expected_seconds or 0.0) <= budget_seconds
        if one.test not in kept and fits:
            kept.add(one.test)
            used += share[one.test]
    kept = kept or {ranked[0].test}  # none at all would end with pytest's error for no tests
    return _stated(orderer, ranked, kept, f"about {used:.1f} s of {expected:.1f} s")


def _within_risk(orderer: Orderer, ranked: Sequence[Ranked], always: Collection[str], risk: float) -> Choice:
    first = orderer.within_risk(ranked, risk)
    if first is None:
        return Choice(None, f"all tests run: nothing less keeps a risk of {risk:.1%} ({_seen(orderer)})")
    return _stated(orderer, ranked, {*first, *always}, f"promised risk {risk:.0%}")


def _stated(orderer: Orderer, ranked: Sequence[Ranked], kept: set[str], told: str) -> Choice:
    if len(kept) == len(ranked):
        return Choice(None, f"all tests run ({told})")
    bound = orderer.risk([one.test for one in ranked if one.test in kept], ranked)
    unknown = bound is None or bound >= 1.0  # a bound that says nothing
    stated = f"unknown ({_seen(orderer)})" if unknown else f"at most {bound:.1%}"
    counts = f"{len(kept)} of {len(ranked)} tests chosen, {len(ranked) - len(kept)} left out"
    return Choice(frozenset(kept), f"{counts} ({told}); risk of missing a failing run: {stated}")


def _seen(orderer: Orderer) -> str:
    promise = orderer.promise
    return f"{promise.failing_runs} failing runs seen, a new failure in {len(promise.incidents)} of them"
