"""Which tests fail together."""

from collections.abc import Iterable, Sequence

import numpy as np

from whet.skills.ordering.columns import Column

_MOST_AT_ONCE = 40  # more than this fail for a reason that says nothing about pairs
_KEPT = 50  # companions of one test
_PRIOR = 2.0


class Company:
    def __init__(self) -> None:
        self.together: dict[str, dict[str, float]] = {}
        self.failures: dict[str, float] = {}
        self.newest: tuple[str, ...] = ()

    def learn(self, failed: Sequence[str]) -> None:
        if not failed:
            return
        self.newest = tuple(failed[:_MOST_AT_ONCE])
        if len(failed) > _MOST_AT_ONCE:
            return
        for test in failed:
            self.failures[test] = self.failures.get(test, 0.0) + 1
            companions = self.together.setdefault(test, {})
            for other in failed:
                if other != test:
                    companions[other] = companions.get(other, 0.0) + 1
            if len(companions) > 2 * _KEPT:
                strongest = sorted(companions.items(), key=lambda pair: (-pair[1], pair[0]))[:_KEPT]
                self.together[test] = dict(strongest)

    def of(self, tests: Sequence[str], failed: Iterable[str]) -> Column:
        """For each test the highest share of a failed test's failures in which it failed too; few seen weigh less."""
        best: dict[str, float] = {}
        for cause in failed:
            count = self.failures.get(cause, 0.0) + _PRIOR
            for other, times in self.together.get(cause, {}).items():
                best[other] = max(best.get(other, 0.0), times / count)
        return np.array([best.get(test, 0.0) for test in tests])
