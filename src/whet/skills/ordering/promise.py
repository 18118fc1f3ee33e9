"""How much of an order must run so that a failing suite is hardly ever taken for a green one.

For every whole run that failed, the share of the order that had to run until the first failure is kept. Conformal
prediction turns these shares into a promise: the share that covered all but k of m failing runs misses the next one
with a probability of at most (k + 1) / (m + 1), if the next is like the ones before. Since suites change, the promise
is adapted (Gibbs, Candès, "Adaptive conformal inference under distribution shift", 2021): every miss makes it more
cautious, every hit a little less, which holds the rate of misses in the long run whatever comes.
"""

import math
from collections.abc import Sequence

_WINDOW = 300
_STEP = 0.01
REFERENCE_RISK = 0.05
FEWEST_FAILING_RUNS = math.ceil(1 / REFERENCE_RISK) - 1
FEWEST_TESTS = 6  # of fewer, a share says nothing, and leaving some out saves little


class Promise:
    def __init__(self, shares: Sequence[float] = (), held_risk: float = REFERENCE_RISK) -> None:
        self.shares = list(shares)
        self.held_risk = held_risk  # what is asked of the shares so that REFERENCE_RISK comes true; below 0: all runs

    def learn(self, needed_share: float) -> None:
        """A whole run failed, and this share of the order had to run to see it."""
        if len(self.shares) >= FEWEST_FAILING_RUNS:
            enough = self.share_for(REFERENCE_RISK)
            missed = enough is not None and needed_share > enough  # where everything runs, nothing is missed
            self.held_risk += _STEP * (REFERENCE_RISK - missed)
        self.shares = [*self.shares, needed_share][-_WINDOW:]

    def share_for(self, risk: float) -> float | None:
        """The share to run for this risk of missing a failing suite; None: nothing less than all of it."""
        asked = min(risk, risk * self.held_risk / REFERENCE_RISK)
        may_miss = math.floor(asked * (len(self.shares) + 1)) - 1
        if may_miss < 0:
            return None
        return sorted(self.shares, reverse=True)[may_miss] if may_miss < len(self.shares) else 0.0

    def risk_of(self, share: float) -> float:
        """Upper bound on the probability of missing a failing suite when this share runs; 1 before any was seen."""
        missed = sum(needed > share for needed in self.shares)
        caution = REFERENCE_RISK / max(self.held_risk, 1e-9)
        return min(1.0, (missed + 1) / (len(self.shares) + 1) * max(1.0, caution))
