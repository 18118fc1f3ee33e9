"""The budget's clock."""

from __future__ import annotations

import time

# Inside a tuple, because libraries that fake the time replace module attributes.
_CLOCK = (time.monotonic,)


class Deadline:
    """Runs from the first test on."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._until: float | None = None

    def start(self) -> None:
        if self._seconds is not None and self._until is None:
            self._until = _CLOCK[0]() + self._seconds

    def over(self) -> bool:
        return self._until is not None and _CLOCK[0]() >= self._until
