"""Which tests have to stay together, so that no fixture is set up more often than in the suite's own order.

Every life of a long-lived fixture makes its users a unit. Units nest; where two overlap, the one of the wider
scope takes the other in. The tests of a unit stay together, in any order that keeps the units inside it
together; where an order could end the fixture's life too early, the unit is frozen in the suite's own order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest

from whet.pytest_plugin.episodes import Episode, Lives, lives
from whet.pytest_plugin.uses import Use


class Unit:
    """A test (no parts) or a set of parts that stay together."""

    __slots__ = ("frozen", "parts", "places", "within")

    def __init__(self, places: list[int], parts: list[Unit], frozen: bool = False) -> None:
        self.places = places
        self.parts = parts
        self.frozen = frozen
        self.within: Unit | None = None
        for part in parts:
            part.within = self


def units(
    items: Sequence[pytest.Item], uses: Sequence[Sequence[Use]], together: Iterable[Sequence[int]] = ()
) -> list[Unit]:
    """The units of the suite, as a forest. `together`: sets that keep their own order for other reasons."""
    told = lives(items, uses, range(len(items)))
    forest = _Forest(len(items), told)
    for episode in sorted(_binding(told), key=lambda e: (-len(e.node.listchain()), len(e.users))):
        forest.add(episode)
    for places in together:
        forest.freeze(places)
    return forest.roots()


def setups(items: Sequence[pytest.Item], uses: Sequence[Sequence[Use]], order: Sequence[int]) -> int:
    """How many times something long-lived is set up when the tests run in this order."""
    return len(lives(items, uses, order).episodes)


def _binding(told: Lives) -> list[Episode]:
    """Episodes that another order could cut in two. What lives as long as the session and lived but once does not."""
    times: dict[int, int] = {}
    for episode in told.episodes:
        times[episode.resource] = times.get(episode.resource, 0) + 1

    def endless(episode: Episode) -> bool:
        return isinstance(episode.node, pytest.Session) and times[episode.resource] == 1

    return [e for e in told.episodes if len(e.users) > 1 and not endless(e)]


class _Forest:
    def __init__(self, size: int, told: Lives) -> None:
        self._told = told
        self._leaves = [Unit([place], []) for place in range(size)]

    def roots(self) -> list[Unit]:
        found = {id(root): root for root in map(_root, self._leaves)}
        return list(found.values())

    def add(self, episode: Episode) -> None:
        above, parts = self._meeting(episode.users)
        if above is not None and above.frozen:
            return
        inside = set(episode.users)
        harmed = self._harmed(episode, [place for part in parts for place in part.places if place not in inside])
        if above is not None and len(parts) == len(above.parts):
            above.frozen = harmed  # they stay together already
        else:
            self._join(above, parts, frozen=harmed)

    def freeze(self, places: Sequence[int]) -> None:
        above, parts = self._meeting(places)
        if len(parts) > 1:
            self._join(above, parts, frozen=True)
        elif parts:
            parts[0].frozen = True

    def _meeting(self, places: Sequence[int]) -> tuple[Unit | None, list[Unit]]:
        """The smallest unit that holds them all (None: the suite), and those of its parts that hold any."""
        paths = [_path(self._leaves[place]) for place in places]
        depth = 0
        while all(len(path) > depth + 1 for path in paths) and len({id(path[depth]) for path in paths}) == 1:
            depth += 1
        above = paths[0][depth - 1] if depth else None
        parts = {id(path[depth]): path[depth] for path in paths}
        return above, list(parts.values())

    def _join(self, above: Unit | None, parts: list[Unit], frozen: bool) -> None:
        joined = Unit(sorted(place for part in parts for place in part.places), parts, frozen)
        if above is not None:
            taken = set(map(id, parts))
            above.parts = [part for part in above.parts if id(part) not in taken] + [joined]
            joined.within = above

    def _harmed(self, episode: Episode, strangers: Sequence[int]) -> bool:
        """Whether one of the strangers would end this life: it is elsewhere, or uses another life of what it needs."""
        lived = self._told.during[episode.users[0]]
        needed = self._told.needed_by(episode.resource)
        for place in strangers:
            other = self._told.during[place]
            if any(r in other and other[r] != lived.get(r, other[r]) for r in needed):
                return True
        return False


def _root(unit: Unit) -> Unit:
    while unit.within is not None:
        unit = unit.within
    return unit


def _path(unit: Unit) -> list[Unit]:
    path = [unit]
    while (within := path[-1].within) is not None:
        path.append(within)
    return path[::-1]


def arranged(parts: Sequence[Unit], worth: Callable[[Unit], tuple[float, ...]]) -> list[int]:
    """The places of all tests, the parts in the order of their worth (smallest first), inside each the same again."""
    order: list[int] = []
    for part in sorted(parts, key=worth):
        if part.frozen or not part.parts:
            order.extend(part.places)
        else:
            order.extend(arranged(part.parts, worth))
    return order
