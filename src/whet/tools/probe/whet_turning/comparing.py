"""What a run that passed went through, whether it does so twice, and where a run that fails first does otherwise.

Each is handed one event after the other, and says whether it wants to see the next.
"""

from __future__ import annotations

from .following import NOT_KNOWN, TAB

MOST_EVENTS = 20_000
ANYTHING = "?"  # the value of this is another each time


class Keeping:
    """The events of a run that passes."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def meet(self, event: str) -> bool:
        if len(self.events) >= MOST_EVENTS:
            self.events.append(NOT_KNOWN)
            return False
        self.events.append(event)
        return True

    def end(self) -> None:
        pass


class Steadying:
    """The same once more: what then differs says nothing."""

    def __init__(self, events: list[str]) -> None:
        self.events = events
        self._met = 0

    def meet(self, event: str) -> bool:
        index, self._met = self._met, self._met + 1
        if index < len(self.events) and self.events[index] == event:
            return True
        if index < len(self.events) and _place(self.events[index]) == _place(event):
            self.events[index] = _steady(self.events[index], event)
            return True
        self.events[index:] = [NOT_KNOWN]
        return False

    def end(self) -> None:
        if self._met < len(self.events):
            self.events[self._met :] = [NOT_KNOWN]


class Comparing:
    """`turn` is the first difference: another way, or at the same place another value of something. {} when there is
    none, None when nobody looked so far."""

    def __init__(self, events: list[str]) -> None:
        self.turn: dict[str, str] | None = {}
        self._events, self._met = events, 0

    def meet(self, event: str) -> bool:
        was = self._events[self._met] if self._met < len(self._events) else ""
        self._met += 1
        if was == event or (_place(was) == _place(event) and not _other(was, event)):
            return True
        self.turn = None if NOT_KNOWN in (was, event) else difference(was, event)
        return False

    def end(self) -> None:
        """A run that ends early went another way where nobody looked: in the test itself, or in installed code."""
        if self.turn == {} and self._met < len(self._events):
            was = self._events[self._met]
            self.turn = None if was == NOT_KNOWN else {**difference(was, ""), "kind": "ended"}


def difference(was: str, now: str) -> dict[str, str]:
    if _place(was) != _place(now):
        return {"kind": "way", "name": "", "was": _way(was), "now": _way(now)}
    name = next(iter(_other(was, now)))
    before, after = (_values(event).get(name, "") for event in (was, now))
    return {"kind": "value", "name": name or _place(was)[1], "was": before, "now": after}


def _steady(one: str, other: str) -> str:
    values = {**_values(one), **_values(other), **dict.fromkeys(_other(one, other), ANYTHING)}
    return TAB.join([*_place(one), *(f"{name}={value}" for name, value in values.items())])


def _other(was: str, now: str) -> list[str]:
    """The names of what is another, without what is another each time."""
    before, after = _values(was), _values(now)
    return [n for n in {**before, **after} if before.get(n) != after.get(n) and before.get(n) != ANYTHING]


def _place(event: str) -> list[str]:
    """Where, and what happened there."""
    return event.split(TAB)[:2]


def _values(event: str) -> dict[str, str]:
    """What is returned or raised has no name."""
    return dict(part.partition("=")[::2] for part in event.split(TAB)[2:])


def _way(event: str) -> str:
    place = _place(event)
    return event if place[1:] == ["raise"] else TAB.join(place)
