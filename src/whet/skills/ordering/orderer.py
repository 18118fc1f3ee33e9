"""The orderer: what was learned from a lane's sheets, and the order it gives."""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np

from whet.core.sheets import FAILURES, LEFT_OUT, SKIPPED, UNKNOWN_NEARNESS, Sheet
from whet.skills.ordering import experts, metrics, saving
from whet.skills.ordering.columns import Column, Flags, Places
from whet.skills.ordering.experts import Goal
from whet.skills.ordering.learned import Learned
from whet.skills.ordering.promise import FEWEST_TESTS
from whet.skills.ordering.reasons import reasons

_COMPANION = 0.4  # a test that failed in at least this share of another's failures is run right after it
_NOT_RUN = frozenset(SKIPPED + LEFT_OUT)


class Ranked(NamedTuple):
    """One test in its place, with why it is there."""

    test: str
    reason: str
    likelihood: (
        float | None
    )  # of failing, to compare within one run: not a calibrated probability; None: nothing is known
    expected_seconds: float | None  # None: never timed


class Orderer(Learned):
    """Deterministic: the same sheets in the same order give the same state, and the same question the same answer.

    Which expert orders a run is drawn by the weights AdaHedge gave them, which is what its guarantee is about; the draw
    depends on the number of sheets alone.
    """

    def weights(self, goal: Goal = Goal.WHOLE_RUN) -> dict[str, float]:
        """How much each expert is trusted by now."""
        return self.hedges[goal].weights()

    def expert(self, goal: Goal, seen: experts.View) -> str:
        """The one that orders this run."""
        trusted = self.hedges[goal].weights(experts.awake(goal, seen))
        draw = random.Random(self.sheets)  # noqa: S311 - not for secrets
        return draw.choices(list(trusted), list(trusted.values()))[0]

    def rank(
        self, tests: Sequence[str], nearness: Mapping[str, float] | None = None, goal: Goal = Goal.WHOLE_RUN
    ) -> list[Ranked]:
        """Every one that was given, best first. `nearness` by test, 0 to 1: how near it is to what changed; None when
        no change is known; tests it does not name are of unknown nearness. With the goal of a budget the last ones are
        expected not to run."""
        if not tests:
            return []
        near = None if not nearness else np.array([nearness.get(test, math.nan) for test in tests])
        at = self.columns.places(tests)
        seen = self._view(tests, at, near)
        expert = self.expert(goal, seen)
        order = _order(experts.score(expert, seen))
        why = reasons(self.columns, seen, at, expert, order)
        known, timed = (self.columns.runs[at] > 0).tolist(), (self.columns.timed[at] > 0).tolist()
        likely, seconds = seen.probability.tolist(), self.columns.recent_seconds[at].tolist()
        return [
            Ranked(
                tests[i],
                why(i),
                likely[i] if known[i] or near is not None else None,
                seconds[i] if timed[i] else None,
            )
            for i in order.tolist()
        ]

    def seconds(self, tests: Sequence[str]) -> dict[str, float]:
        """What each is expected to take; without those that were never timed."""
        at = self.columns.places(tests)
        timed, seconds = (self.columns.timed[at] > 0).tolist(), self.columns.recent_seconds[at].tolist()
        return {test: spent for test, spent, known in zip(tests, seconds, timed, strict=True) if known}

    def after_failure(self, failed: Sequence[str], passed: Sequence[str], left: Sequence[str]) -> list[str]:
        """`left` in the order that serves best now that these failed and passed in this run so far: what is likely to
        fail anyway, then what fails together with the last failure, then the rest as it was."""
        company = self.company.of(left, failed[-1:])
        at = self.columns.places(left)
        likely = (self.columns.fast[at] >= experts.SURE) & (self.columns.runs[at] > 0)
        key = np.where(likely, 2.0, np.where(company >= _COMPANION, company, 0.0))
        return [left[place] for place in np.argsort(-key, kind="stable").tolist()]

    def learn(self, sheet: Sheet) -> None:
        """Skipped tests did not run: all that is learned is that they are not new. One that ran several times may
        stand that often."""
        ran = np.array([i for i, outcome in enumerate(sheet.outcomes) if outcome not in _NOT_RUN], dtype=np.intp)
        if len(ran):
            self._learn(sheet, ran)
        left_out = _with_outcome(sheet, LEFT_OUT)
        self.selections = 0 if sheet.complete else self.selections + bool(left_out)
        if left_out and len(sheet.tests) >= FEWEST_TESTS:
            self.promise.selected(failed=any(outcome in FAILURES for outcome in sheet.outcomes))
        self.columns.skip(self.columns.meet(_with_outcome(sheet, SKIPPED)))
        self.columns.pass_over(self.columns.meet(left_out))
        self.sheets += 1

    def risk(self, kept: Sequence[str], ranked: Sequence[Ranked]) -> float | None:
        """Upper bound on the probability that a run of only `kept` misses that the suite fails, given that it does;
        None where there are too few tests to speak of shares."""
        chosen = set(kept)
        first = next((i for i, one in enumerate(ranked) if one.test not in chosen), len(ranked))
        if first == len(ranked):
            return 0.0
        return self.promise.risk_of(first / len(ranked)) if len(ranked) >= FEWEST_TESTS else None

    def within_risk(self, ranked: Sequence[Ranked], risk: float) -> list[str] | None:
        """The fewest first tests whose risk is at most `risk`; None when only the whole suite keeps that promise."""
        share = self.promise.share_for(risk)
        if share is None or share >= 1.0 or len(ranked) < FEWEST_TESTS:
            return None
        return [one.test for one in ranked[: math.ceil(share * len(ranked))]]

    def dump(self) -> bytes:
        return saving.dump(self)

    @classmethod
    def load(cls, state: bytes) -> Self:
        """Refuses what is no state of this version with ValueError: then it is learned anew from the sheets."""
        orderer = cls()
        saving.restore(orderer, state)
        return orderer

    def _view(self, tests: Sequence[str], at: Places, near: Column | None) -> experts.View:
        company = self.company.of(tests, self.company.newest)
        return experts.view(self.columns, self.hazard, at, self.sheets, near, company)

    def _learn(self, sheet: Sheet, ran: Places) -> None:
        at = self.columns.meet([sheet.tests[i] for i in ran])
        failed = np.array([sheet.outcomes[i] in FAILURES for i in ran], dtype=bool)
        seconds = np.array([sheet.seconds[i] for i in ran], dtype=np.float64)
        order = np.lexsort((seconds, failed, at))  # in which order they ran must not matter
        ran, at, failed, seconds = ran[order], at[order], failed[order], seconds[order]
        tests = [sheet.tests[i] for i in ran]
        if failed.any():
            seen = self._view(tests, at, _nearness(sheet, ran))
            if sheet.complete:
                self._measure(seen, at, failed)
                self._judge(tuple(Goal), seen, failed, seconds)
            elif LEFT_OUT in sheet.outcomes:
                # Who would have found what was left out is not known. Who would have found most in half of what ran is,
                # and tells how much an expected second should count here.
                self._judge((Goal.BUDGET,), seen, failed, seconds)
            self.hazard.learn(self.columns, at, failed)
        elif sheet.complete and len(tests) >= FEWEST_TESTS:
            self.promise.passed()
        self._count_flakes(sheet.code_version, tests, at, failed)
        self.columns.run(at, failed, self.sheets)
        self.columns.time(at, failed, seconds)
        self.company.learn(sorted({test for test, bad in zip(tests, failed.tolist(), strict=True) if bad}))

    def _measure(self, seen: experts.View, at: Places, failed: Flags) -> None:
        """How deep in our order the first failure lay."""
        if len(at) >= FEWEST_TESTS:
            first = _order(experts.score(self.expert(Goal.BUDGET, seen), seen))
            again = bool((self.columns.streak[at[failed]] > 0).any())
            self.promise.failed(metrics.failure_rank_share(failed[first]), again)

    def _judge(self, goals: Iterable[Goal], seen: experts.View, failed: Flags, seconds: Column) -> None:
        """What each expert's order would have been worth, had it ordered this run."""
        if len(failed) == 1 or failed.all():
            return
        real = np.where(np.isnan(seconds), seen.seconds, seconds)
        for goal in goals:
            orders = {name: _order(experts.score(name, seen)) for name, on in experts.awake(goal, seen).items() if on}
            self.hedges[goal].learn({name: _LOSS[goal](real[order], failed[order]) for name, order in orders.items()})

    def _count_flakes(self, code_version: str | None, tests: Sequence[str], at: Places, failed: Flags) -> None:
        """A failure on code on which the test passed right before, or the other way round."""
        if code_version is None:
            return
        for test, place, bad in zip(tests, at.tolist(), failed.tolist(), strict=True):
            before = self.versions.get(test)
            if before is not None and before[0] == code_version and before[1] != bad:
                self.columns.flakes[place] += 1
            self.versions[test] = (code_version, bad)


def _with_outcome(sheet: Sheet, letter: str) -> list[str]:
    """Each test once."""
    return sorted({test for test, outcome in zip(sheet.tests, sheet.outcomes, strict=True) if outcome == letter})


def _order(scores: Column) -> Places:
    """Highest first; among equals as they were given."""
    return np.argsort(-scores, kind="stable")


def _lost_in_time(seconds_in_order: Column, failed_in_order: Flags) -> float:
    return 1.0 - metrics.apfdc(seconds_in_order, failed_in_order)


def _lost_in_half_the_time(seconds_in_order: Column, failed_in_order: Flags) -> float:
    """Which budgets will be asked for is not known; half is the middle."""
    return 1.0 - metrics.napfd(seconds_in_order, failed_in_order, 0.5)


_LOSS = {Goal.WHOLE_RUN: _lost_in_time, Goal.BUDGET: _lost_in_half_the_time}


def _nearness(sheet: Sheet, ran: Places) -> Column | None:
    if sheet.nearness is None:
        return None
    values = np.frombuffer(sheet.nearness, dtype=np.uint8)[ran].astype(np.float64)
    return np.where(values == UNKNOWN_NEARNESS, math.nan, values / 100)
