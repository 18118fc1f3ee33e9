"""ε schedules of S2 §4.2: exponential, step, reward-based. All start at 0.2 and stop at 0.01."""

from collections import deque
from typing import Protocol

from whet.core.errors import WhetError


class Schedule(Protocol):
    @property
    def epsilon(self) -> float: ...

    def observe(self, reward: float) -> None:
        """One more decision was rewarded."""


class Exponential:
    """ε = max(floor, initial · decayⁿ) after n rewards."""

    def __init__(self, initial: float = 0.2, floor: float = 0.01, decay: float = 0.995) -> None:
        self._epsilon, self._floor, self._decay = initial, floor, decay

    @property
    def epsilon(self) -> float:
        return max(self._floor, self._epsilon)

    def observe(self, reward: float) -> None:
        self._epsilon *= self._decay


class Step:
    """Initial until 100 rewards, half of it until 500, a quarter until 1,000, then the floor."""

    def __init__(self, initial: float = 0.2, floor: float = 0.01) -> None:
        self._initial, self._floor, self._seen = initial, floor, 0

    @property
    def epsilon(self) -> float:
        for limit, share in ((100, 1.0), (500, 0.5), (1000, 0.25)):
            if self._seen < limit:
                return max(self._floor, self._initial * share)
        return self._floor

    def observe(self, reward: float) -> None:
        self._seen += 1


class RewardBased:
    """Decays faster the better the rewards are: above target ×0.99, above 70 % of it ×0.995, else ×0.998.

    Needs ten rewards before it moves. The window holds rewards, ε is kept apart
    (S2's sketch read the last reward as ε).
    """

    def __init__(self, initial: float = 0.2, floor: float = 0.01, target: float = 50.0, window: int = 100) -> None:
        self._epsilon, self._floor, self._target = initial, floor, target
        self._rewards: deque[float] = deque(maxlen=window)

    @property
    def epsilon(self) -> float:
        return max(self._floor, self._epsilon)

    def observe(self, reward: float) -> None:
        self._rewards.append(reward)
        if len(self._rewards) >= 10:
            self._epsilon = max(self._floor, self._epsilon * self._multiplier())

    def _multiplier(self) -> float:
        mean = sum(self._rewards) / len(self._rewards)
        if mean > self._target:
            return 0.99
        return 0.995 if mean > self._target - 0.3 * abs(self._target) else 0.998


def schedule(
    strategy: str,
    initial: float = 0.2,
    floor: float = 0.01,
    decay: float = 0.995,
    target: float = 50.0,
    window: int = 100,
) -> Schedule:
    match strategy:
        case "exponential":
            return Exponential(initial, floor, decay)
        case "step":
            return Step(initial, floor)
        case "reward_based":
            return RewardBased(initial, floor, target, window)
    raise WhetError(f"There is no ε strategy {strategy!r}.", "Choose exponential, step or reward_based.")
