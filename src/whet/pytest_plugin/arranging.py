"""The order in which the tests run: the ranking, as far as the units allow it."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence

import pytest

from whet.pytest_plugin.advice import Placed
from whet.pytest_plugin.scores import densities, known_seconds
from whet.pytest_plugin.units import Unit, arranged, setups, units
from whet.pytest_plugin.uses import Uses

# Tests whose order is part of what they say: pytest-order, pytest-ordering, pytest-dependency, and the step-by-step
# classes of pytest's documentation.
_ORDERED = ("order", "run", "dependency", "incremental")


class Arrangement:
    """The tests of one session with their units; knows an order for every ranking."""

    def __init__(self, items: Sequence[pytest.Item], names: Sequence[str]) -> None:
        self._items = items
        self._names = names
        self._uses = [uses.of(item) for uses in [Uses(items[0].session)] for item in items] if items else []
        ordered = [place for place, item in enumerate(items) if _order_matters(item)]
        self._first, self._last = _pinned(ordered, len(items))
        between = [place for place in ordered if place not in self._first and place not in self._last]
        frozen = [sorted(places) for places in (self._first, self._last, between) if places]
        self._roots = units(items, self._uses, frozen)

    def order(self, ranking: Sequence[Placed]) -> list[int]:
        """Places in the suite's own order, best first."""
        worth = Worth(ranking, self._names, self._first, self._last)
        order = arranged(self._roots, worth)
        own = range(len(self._items))
        # The units promise this; a plugin with fixtures of its own making may not keep to pytest's rules.
        return order if setups(self._items, self._uses, order) <= setups(self._items, self._uses, own) else list(own)

    def remaining(self, ranking: Sequence[Placed], left: Collection[int], current: int) -> list[int]:
        """The places that are `left`, after the test at `current`, whose unit is finished first."""
        worth = Worth(ranking, self._names, self._first, self._last)
        worth.open = {id(unit) for unit in self._around(current)}
        wanted = set(left)
        return [place for place in arranged(self._roots, worth) if place in wanted]

    def groups(self, order: Sequence[int]) -> list[list[int]]:
        """The order cut into what has to stay together."""
        root = {place: number for number, unit in enumerate(self._roots) for place in unit.places}
        cut: list[list[int]] = []
        for place in order:
            if cut and root[cut[-1][-1]] == root[place]:
                cut[-1].append(place)
            else:
                cut.append([place])
        return cut

    def _around(self, place: int) -> list[Unit]:
        found, parts = [], self._roots
        while unit := next((part for part in parts if place in part.places), None):
            found.append(unit)
            parts = unit.parts
        return found


class Worth:
    """Sorts units: by the chance per second that a failure shows in them, then by their best test."""

    def __init__(
        self, ranking: Sequence[Placed], names: Sequence[str], first: Collection[int] = (), last: Collection[int] = ()
    ) -> None:
        rank = {placed.test: number for number, placed in enumerate(ranking)}
        seconds = known_seconds([placed.expected_seconds for placed in ranking])
        density = densities([placed.likelihood for placed in ranking], seconds) or [0.0] * len(ranking)
        self._rank = [rank.get(name, len(rank)) for name in names]
        usual = known_seconds([None])[0]
        self._seconds = [seconds[r] if r < len(seconds) else usual for r in self._rank]
        self._density = [density[r] if r < len(density) else 0.0 for r in self._rank]
        self._first, self._last = set(first), set(last)
        self.open: set[int] = set()  # units that are being run

    def __call__(self, unit: Unit) -> tuple[float, ...]:
        places = unit.places
        pinned = 0 if places[0] in self._first else 2 if places[-1] in self._last else 1
        if len(places) == 1:
            value = self._density[places[0]]
        else:
            total = sum(self._seconds[p] for p in places)
            value = sum(self._density[p] * self._seconds[p] for p in places) / total
        # Rounded: where all are worth the same, the last digit of a sum shall not decide, but who is ranked first.
        return (id(unit) not in self.open, pinned, -float(f"{value:.9e}"), min(self._rank[p] for p in places))


def _order_matters(item: pytest.Item) -> bool:
    return any(mark.name in _ORDERED for mark in item.iter_markers())


def _pinned(ordered: Sequence[int], size: int) -> tuple[set[int], set[int]]:
    """Ordered tests that lead the suite or end it."""
    places = set(ordered)
    first, last = 0, size
    while first in places:
        first += 1
    while last - 1 in places and last > first:
        last -= 1
    return set(range(first)), set(range(last, size))


def slow_in_time(groups: Sequence[Sequence[int]], seconds: Mapping[int, float], workers: int) -> list[list[int]]:
    """The groups in their order, but none so late that it alone prolongs the run.

    With every worker busy the run takes at least its share, or its longest group. A group must start by that time
    less its own; one whose time has come goes next, while one worker is left for the best.
    """
    length = [sum(seconds[place] for place in group) for group in groups]
    finish = max(sum(length) / workers, max(length, default=0.0))
    deadlines = [(finish - length[number], number) for number in range(len(groups))]
    heapq.heapify(deadlines)
    done: dict[int, None] = {}
    now = 0.0
    for best in range(len(groups)):
        due = [best] if best not in done else []
        while deadlines and len(due) < workers and (deadlines[0][1] in done or deadlines[0][0] <= now):
            number = heapq.heappop(deadlines)[1]
            due += [number] if number not in done and number not in due else []
        now += sum(length[number] for number in due) / workers
        done.update(dict.fromkeys(due))
    return [list(groups[number]) for number in done]
