"""Numbers with how sure they are, from sums alone. Unknown stays unknown."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from whet.core.feedback import Rated
from whet.core.views import DayTotal

SURE = 1.96  # standard errors to either side: 95 %
RULE_OF_THREE = 3.0  # what never happened in n runs happens in at most about 3 of n, with 95 %
FEWEST = 5  # runs, days or ratings, below which an error is anybody's guess


class Estimate(NamedTuple):
    """`error` is half the width of a 95 % interval; None: too little to tell."""

    value: float | None
    error: float | None
    counted: int  # what it was made from

    @property
    def low(self) -> float | None:
        return None if self.value is None or self.error is None else self.value - self.error

    @property
    def high(self) -> float | None:
        return None if self.value is None or self.error is None else self.value + self.error


NOTHING = Estimate(None, None, 0)


@dataclass(frozen=True)
class Trend:
    """A period against the one before it."""

    now: Estimate
    before: Estimate

    @property
    def change(self) -> Estimate:
        if self.now.value is None or self.before.value is None:
            return NOTHING
        errors = (self.now.error, self.before.error)
        error = None if None in errors else math.hypot(*(each or 0.0 for each in errors))
        return Estimate(self.now.value - self.before.value, error, self.now.counted + self.before.counted)

    @property
    def verdict(self) -> str:
        """better, worse, no clear change, or unknown: more is better here."""
        change = self.change
        if change.low is None or change.high is None:
            return "unknown"
        return "up" if change.low > 0 else "down" if change.high < 0 else "no clear change"


class Period(NamedTuple):
    """Both days included."""

    first: date
    last: date

    def before(self) -> "Period":
        days = (self.last - self.first).days + 1
        return Period(self.first - timedelta(days=days), self.first - timedelta(days=1))

    def holds(self, day: date) -> bool:
        return self.first <= day <= self.last

    def days(self) -> list[date]:
        return [self.first + timedelta(days=each) for each in range((self.last - self.first).days + 1)]


def mean_reward(totals: Iterable[DayTotal]) -> Estimate:
    """Per decision; runs are what is independent, so the error is that of a ratio over runs."""
    found = list(totals)
    products = [(t.reward_reward, t.reward_judged, t.judged_judged) for t in found]
    return _ratio(sum(t.reward for t in found), sum(t.judged for t in found), products, sum(t.runs for t in found))


def success_rate(totals: Iterable[DayTotal]) -> Estimate:
    found = list(totals)
    products = [(t.success_success, t.success_judged, t.judged_judged) for t in found]
    rate = _ratio(sum(t.successes for t in found), sum(t.judged for t in found), products, sum(t.runs for t in found))
    if rate.error is None or rate.value not in (0.0, 1.0):
        return rate
    return rate._replace(error=min(1.0, RULE_OF_THREE / rate.counted))


def _ratio(total: float, judged: int, products: Sequence[tuple[float, float, float]], runs: int) -> Estimate:
    """Cochran, Sampling Techniques, 6.4: Σ(R − μn)² = ΣR² − 2μΣRn + μ²Σn²."""
    if not judged:
        return NOTHING
    mean = total / judged
    if runs < FEWEST:
        return Estimate(mean, None, runs)
    squares = math.fsum(rr - 2 * mean * rn + mean**2 * nn for rr, rn, nn in products)
    variance = max(squares, 0.0) * runs / (runs - 1) / judged**2
    return Estimate(mean, SURE * math.sqrt(variance), runs)


def stars(rated: Rated) -> Estimate:
    if not rated.ratings:
        return NOTHING
    mean = rated.total / rated.ratings
    if rated.ratings < FEWEST:
        return Estimate(mean, None, rated.ratings)
    variance = max(rated.squares / rated.ratings - mean**2, 0.0) / (rated.ratings - 1)
    return Estimate(mean, SURE * math.sqrt(variance), rated.ratings)


def count(number: int, runs: int) -> Estimate:
    """Of things that come by chance. Nothing is known where nobody looked."""
    return Estimate(float(number), SURE * math.sqrt(max(number, 1)), runs) if runs else NOTHING
