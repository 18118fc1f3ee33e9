"""Beliefs between runs: as rows of JSON, and back, with less weight than what the next run sees itself."""

from collections.abc import Hashable
from typing import Any

from whet.skills.api.learning.beliefs import Beliefs

FADING = 0.6  # of what was seen, the next run counts this much: services change
MOST_ROWS = 20_000
_LEAST = 0.2  # fainter memories are let go


def rows(beliefs: Beliefs[Any]) -> list[list[Any]]:
    """[[key…], successes, failures], the strongest first and a bounded number of them."""
    strongest = sorted(beliefs.seen.items(), key=lambda one: -sum(one[1]))[:MOST_ROWS]
    return [[list(key), round(won, 3), round(lost, 3)] for key, (won, lost) in strongest if won + lost >= _LEAST]


def restore(beliefs: Beliefs[Any], kept: Any) -> None:
    for key, won, lost in kept:
        made: Hashable = tuple(key)
        beliefs.seen[made] = (FADING * float(won), FADING * float(lost))
