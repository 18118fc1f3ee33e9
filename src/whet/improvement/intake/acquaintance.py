"""What the filter remembers of earlier experiences: which it has seen, and which states are known ground."""

import hashlib
import json
from collections import OrderedDict
from typing import Final

from whet.core.errors import RefusedInput
from whet.core.records import Experience, State
from whet.improvement.features import Feature, features

# Nothing is off distribution before an agent was in so many states.
KNOWN_GROUND: Final = 50
# In the coding's unit: beyond a hundred times the largest, or below a hundredth of the smallest, of what was seen.
FAR: Final = 1.0
# A far place that so many different runs report is new ground, not an accident.
CONFIRMED_BY: Final = 3
_MOST_FAR_PLACES = 1000


class Doubles:
    """Fingerprints of the newest experiences, and which key had each first."""

    def __init__(self, most: int = 100_000) -> None:
        self._first: OrderedDict[bytes, str] = OrderedDict()
        self._most = most

    def first(self, experience: Experience) -> str:
        """The key that had the same run, state, action and outcome first: its own, or another's."""
        mark = _fingerprint(experience)
        key = self._first.setdefault(mark, experience.key)
        if len(self._first) > self._most:
            self._first.popitem(last=False)
        return key


def _fingerprint(experience: Experience) -> bytes:
    told = [experience.run_id, experience.agent, experience.state, experience.decision.action, experience.outcome]
    text = json.dumps(told, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class Ground:
    """The range of every unbounded number in an agent's states.

    Names and bounded numbers cannot be far from anything, and what lies between or near what was seen is welcome:
    only what is a hundredfold away is held back, and only until other runs confirm that it is so.
    """

    def __init__(self, state_type: type[State]) -> None:
        self._features = _unbounded(state_type)
        self._ranges: dict[str, tuple[float, float]] = {}
        self._seen = 0
        self._far: OrderedDict[tuple[str, int], set[str]] = OrderedDict()

    def far(self, state: State, run_id: str) -> str | None:
        """Why this state is far from everything, as a sentence; known ground grows by it when it is not."""
        strange = [each for each in self._features if self._is_far(each, state)]
        held = [each for each in strange if not self._confirmed(each, state, run_id)]
        if held and self._seen >= KNOWN_GROUND:
            return self._told(held[0], state)
        self.tread(state)
        return None

    def tread(self, state: State) -> None:
        self._seen += 1
        for feature in self._features:
            value = feature.value(state)
            if value is not None:
                low, high = self._ranges.get(feature.name, (value, value))
                self._ranges[feature.name] = (min(low, value), max(high, value))

    def _is_far(self, feature: Feature, state: State) -> bool:
        value, known = feature.value(state), self._ranges.get(feature.name)
        return value is not None and known is not None and not known[0] - FAR <= value <= known[1] + FAR

    def _confirmed(self, feature: Feature, state: State, run_id: str) -> bool:
        place = (feature.name, round(feature.value(state) or 0.0))
        runs = self._far.setdefault(place, set())
        if len(runs) < CONFIRMED_BY:
            runs.add(run_id)
        if len(self._far) > _MOST_FAR_PLACES:
            self._far.popitem(last=False)
        return len(runs) >= CONFIRMED_BY

    def _told(self, feature: Feature, state: State) -> str:
        return (
            f"{feature.name} is {feature.shown(state)}, a hundredfold off everything in the {self._seen:,} states "
            f"before; it will be believed when {CONFIRMED_BY} runs say so."
        )


def _unbounded(state_type: type[State]) -> list[Feature]:
    """None for a state of somebody else's making that has no coding: every place in it is near."""
    try:
        return [each for each in features(state_type) if each.number is not None and not each.bounded]
    except RefusedInput:
        return []
