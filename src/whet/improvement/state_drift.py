"""The states that an agent is in now against those that it used to be in, feature by feature."""

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from whet.core.errors import RefusedInput
from whet.core.records import Experience, State
from whet.improvement.drift_record import Drift
from whet.improvement.features import Feature, features
from whet.improvement.lasting import names_last, numbers_last
from whet.improvement.two_samples import Difference, holm, known_first, names_differ, numbers_differ

# In all of one agent's life, however long; the other half of 5 % is for the rewards.
FALSE_ALARMS: Final = 0.025
REFERENCE: Final = 100
RECENT: Final = 50
EVERY: Final = 25
# Of the runs before the recent ones; from them follows for how long a value usually lasts.
_REMEMBERED: Final = 400
# The first look may spend an eleventh of all false alarms: as long as little is known, little is risked.
_PATIENCE: Final = 10
# Significant is not yet important: a quarter more tests, a twentieth of a bounded range, a tenth of the names.
_MATTERS_NUMBER, _MATTERS_NAME = 0.05, 0.1


class _Value(NamedTuple):
    """Of one feature in one state: its number, None when it is unknown or a name, and what people see."""

    number: float | None
    shown: str


_Row = tuple[_Value, ...]


class StateDrift:
    """The newest runs against a reference, feature by feature, whenever some more have come.

    Look number k may spend 10 / ((k + 9) (k + 10)) of all false alarms there may be, so that looking on for ever spends
    no more than all; within a look Holm's correction is for the number of features.
    """

    def __init__(self, agent: str, state_type: type[State]) -> None:
        self._agent, self._state_type = agent, state_type
        self._features = _comparable(state_type)
        self._reference: list[_Row] = []
        self._recent: deque[_Row] = deque(maxlen=RECENT)
        self._past: deque[_Row] = deque(maxlen=_REMEMBERED)
        self._since_look, self._looks, self._run_id = 0, 0, ""

    def observe(self, experience: Experience) -> Drift | None:
        if experience.run_id == self._run_id or not self._features:
            return None
        self._run_id = experience.run_id
        row = _row(self._features, self._state_type.model_validate(experience.state))
        if len(self._reference) < REFERENCE:
            self._reference.append(row)
            self._past.append(row)
            return None
        self._remember(row)
        if len(self._recent) < RECENT or self._since_look < EVERY:
            return None
        return self._look(experience)

    def _remember(self, row: _Row) -> None:
        if len(self._recent) == RECENT:
            self._past.append(self._recent[0])
        self._recent.append(row)
        self._since_look += 1

    def _look(self, experience: Experience) -> Drift | None:
        self._since_look, self._looks = 0, self._looks + 1
        allowed = FALSE_ALARMS * _PATIENCE / ((self._looks + _PATIENCE - 1) * (self._looks + _PATIENCE))
        stretches = (zip(*rows, strict=True) for rows in (self._reference, self._recent, self._past))
        differences = [_difference(*each) for each in zip(self._features, *stretches, strict=True)]
        chances = holm([each.p for each in differences])
        found = [
            (feature, difference)
            for feature, difference, chance in zip(self._features, differences, chances, strict=True)
            if chance <= allowed and _matters(feature, difference)
        ]
        return self._told(found, experience) if found else None

    def _told(self, found: list[tuple[Feature, Difference]], experience: Experience) -> Drift:
        feature, difference = min(found, key=lambda each: (each[1].p, -each[1].size))
        others = "" if len(found) == 1 else f"; so do {', '.join(f.name for f, _ in found if f is not feature)}"
        place = self._features.index(feature)
        change = " to ".join(_typical([row[place] for row in rows]) for rows in (self._reference, self._recent))
        sentence = f"States of {self._agent} changed: {feature.name} goes from typically {change}{others}."
        self._reference, self._recent = list(self._recent), deque(maxlen=RECENT)
        self._past = deque(self._reference, maxlen=_REMEMBERED)
        return Drift(
            agent=self._agent, kind="states", what=feature.name, size=difference.size, run_id=experience.run_id,
            at=experience.at, sentence=sentence,
        )  # fmt: skip


def _comparable(state_type: type[State]) -> tuple[Feature, ...]:
    """None for a state of somebody else's making that has no coding."""
    try:
        return features(state_type)
    except RefusedInput:
        return ()


def _row(of: Sequence[Feature], state: State) -> _Row:
    return tuple(_Value(each.value(state), each.shown(state)) for each in of)


def _difference(
    feature: Feature, before: Sequence[_Value], after: Sequence[_Value], past: Sequence[_Value]
) -> Difference:
    if feature.number is None:
        lasts = names_last([each.shown for each in past])
        return names_differ([each.shown for each in before], [each.shown for each in after], lasts)
    lasts = numbers_last(known_first([each.number for each in past]))
    return numbers_differ([each.number for each in before], [each.number for each in after], lasts)


def _matters(feature: Feature, difference: Difference) -> bool:
    return difference.size >= (_MATTERS_NAME if feature.number is None else _MATTERS_NUMBER)


def _typical(values: Sequence[_Value]) -> str:
    """The one in the middle, or the commonest name."""
    numbers = sorted((each.number, each.shown) for each in values if each.number is not None)
    if 2 * len(numbers) > len(values):
        return numbers[len(numbers) // 2][1]
    shown = [each.shown for each in values]
    return max(sorted(set(shown)), key=shown.count)
