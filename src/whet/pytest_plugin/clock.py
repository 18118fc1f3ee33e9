"""The budget's clock."""

from __future__ import annotations

import time

# Inside a tuple, because libraries that fake the time replace module attributes.
_CLOCK = (time.monotonic,)


class Deadline:
    """Runs from the first question on, which comes with the first test."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._until: float | None = None

    def over(self) -> bool:
        if self._seconds is None:
            return False
        if self._until is None:
            self._until = _CLOCK[0]() + self._seconds
        return _CLOCK[0]() >= self._until
