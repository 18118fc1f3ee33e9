"""The orderer: what was learned from a lane's sheets, and the order it gives."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

from whet.core.sheets import FAILURES, Sheet


class Ranked(NamedTuple):
    """One test in its place, with why it is there."""

    test: str
    reason: str
    fail_probability: float | None  # None: nothing is known
    expected_seconds: float | None  # None: never timed


class Orderer:
    """Deterministic: the same sheets in the same order give the same state, and the same question the same answer."""

    def __init__(self) -> None:
        self.sheets = 0  # how many were learned from
        self._decay: dict[str, float] = {}
        self._seconds: dict[str, float] = {}

    def rank(self, tests: Sequence[str], nearness: Mapping[str, float] | None = None) -> list[Ranked]:
        """Every test once, best first. `nearness` by test, 0 to 1: how near it is to what changed; None when no
        change is known; tests it does not name are of unknown nearness."""
        near = nearness or {}
        order = sorted(tests, key=lambda t: -(self._decay.get(t, 0.5) + near.get(t, 0.0)))
        return [Ranked(t, "placeholder", self._decay.get(t), self._seconds.get(t)) for t in order]

    def after_failure(self, failed: Sequence[str], passed: Sequence[str], left: Sequence[str]) -> list[str]:
        """`left` in the order that serves best now that these failed and passed in this run so far."""
        return list(left)

    def learn(self, sheet: Sheet) -> None:
        self.sheets += 1
        for test, outcome, seconds in zip(sheet.tests, sheet.outcomes, sheet.seconds, strict=True):
            if outcome == "s":
                continue
            self._decay[test] = 0.7 * self._decay.get(test, 0.5) + 0.3 * (outcome in FAILURES)
            if not math.isnan(seconds):
                self._seconds[test] = seconds

    def risk(self, kept: Sequence[str], ranked: Sequence[Ranked]) -> float | None:
        """Upper bound on the probability that a run of only `kept` misses that the suite fails, given that it does;
        None when too few failing runs were seen to promise anything."""
        return None

    def within_risk(self, ranked: Sequence[Ranked], risk: float) -> list[str] | None:
        """The fewest first tests whose risk is at most `risk`; None when only the whole suite keeps that promise."""
        return None

    def dump(self) -> bytes:
        return json.dumps([self.sheets, self._decay, self._seconds]).encode()

    @classmethod
    def load(cls, state: bytes) -> Self:
        """Refuses what is no state of this version with ValueError: then it is learned anew from the sheets."""
        self = cls()
        self.sheets, self._decay, self._seconds = json.loads(state)
        return self
