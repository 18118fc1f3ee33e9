"""Hands out tests to workers one unit at a time, so that the best come first and fixtures are not set up anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from xdist.scheduler import LoadScheduling  # type: ignore[import-untyped]

from whet.pytest_plugin.line import DeskError

if TYPE_CHECKING:
    from whet.pytest_plugin.recording import Recording

# pytest-xdist's own measures for a first batch: slices per worker, and the fewest tests in one.
_SLICES = 4
_FEWEST = 2


class UnitScheduling(LoadScheduling):  # type: ignore[misc]
    """As `--dist load --maxschedchunk 1`, but what shares a fixture goes to one worker, as far as that leaves work
    for the others."""

    def __init__(self, config: pytest.Config, log: Any, recording: Recording) -> None:
        super().__init__(config, log)
        self.maxschedchunk = 1
        self._recording = recording
        self._slices: dict[int, int] | None = None

    def _send_tests(self, node: Any, num: int) -> None:
        slices = self._sliced()
        while num > 0 and self.pending:
            first = slices.get(self.pending[0])
            together = 1
            while first is not None and together < len(self.pending) and slices.get(self.pending[together]) == first:
                together += 1
            super()._send_tests(node, together)
            num -= together

    def _sliced(self) -> dict[int, int]:
        """By a test's index, the number of the slice it belongs to."""
        if self._slices is None:
            groups = self._groups()
            longest = max(_FEWEST, sum(map(len, groups)) // (_SLICES * max(1, self.numnodes)))
            cut = [group[at : at + longest] for group in groups for at in range(0, len(group), longest)]
            number = {test: place for place, part in enumerate(cut) for test in part}
            tests = self.collection or ()
            self._slices = {index: number[test] for index, test in enumerate(tests) if test in number}
        return self._slices

    def _groups(self) -> Sequence[Sequence[str]]:
        """What the workers found when they collected; without it every test is on its own."""
        try:
            return self._recording.line.ask("fetch", "groups") or ()
        except DeskError as error:
            self._recording.story.troubles.append(f"tests that share fixtures may be spread over workers ({error})")
            return ()
