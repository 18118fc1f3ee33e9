"""Beta beliefs by key: what was seen of each choice, and a draw from it (Thompson sampling)."""

import random
from collections.abc import Hashable, Iterable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
Prior = tuple[float, float]
EVEN: Prior = (1.0, 1.0)


class Beliefs(Generic[K]):
    """Successes and failures per key, on top of a prior given at each question.

    A key may lean on a more general one (`lean`): what was seen there counts as prior, but never for more than
    `most` tries, so that a key's own evidence wins.
    """

    def __init__(self, rng: random.Random, prior: Prior = EVEN) -> None:
        self._rng = rng
        self._prior = prior
        self.seen: dict[K, tuple[float, float]] = {}

    def tell(self, key: K, success: float, weight: float = 1.0) -> None:
        """`success` in 0..1 may be partial."""
        won, lost = self.seen.get(key, (0.0, 0.0))
        self.seen[key] = (won + weight * success, lost + weight * (1.0 - success))

    def tries(self, key: K) -> float:
        return sum(self.seen.get(key, (0.0, 0.0)))

    def evidence(self, key: K, prior: Prior | None = None) -> Prior:
        before, (won, lost) = prior or self._prior, self.seen.get(key, (0.0, 0.0))
        return before[0] + won, before[1] + lost

    def mean(self, key: K, prior: Prior | None = None) -> float:
        a, b = self.evidence(key, prior)
        return a / (a + b)

    def draw(self, key: K, prior: Prior | None = None) -> float:
        return self._rng.betavariate(*self.evidence(key, prior))

    def lean(self, key: K, prior: Prior | None = None, most: float = 4.0) -> Prior:
        """What is known of a general key, as a prior for a special one."""
        a, b = self.evidence(key, prior)
        share = min(1.0, most / (a + b))
        return a * share, b * share

    def best(self, keys: Iterable[K], priors: Mapping[K, Prior]) -> K:
        return max(keys, key=lambda key: self.draw(key, priors.get(key)))
