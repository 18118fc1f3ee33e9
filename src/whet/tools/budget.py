"""How long a run may take, and what is left of it."""

import time
from collections.abc import Callable


class Budget:
    """Counts from its creation, by a clock that never goes back."""

    def __init__(self, total_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.total_seconds = total_seconds
        self._clock = clock
        self._started = clock()

    def used(self) -> float:
        return self._clock() - self._started

    def left(self) -> float:
        return max(0.0, self.total_seconds - self.used())
