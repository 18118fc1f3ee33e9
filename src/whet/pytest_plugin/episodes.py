"""When long-lived fixtures live, in a given order of the tests: the way pytest sets up and tears down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from whet.pytest_plugin.uses import Use


class Episode(NamedTuple):
    """One life of one fixture: the places of the tests that use it between its set-up and its end."""

    resource: int
    node: pytest.Collector
    users: list[int]


class Lives(NamedTuple):
    episodes: list[Episode]
    during: list[dict[int, int]]  # per place: resource → number of its episode
    needs: dict[int, tuple[int, ...]]

    def needed_by(self, resource: int) -> set[int]:
        """The resource itself and what its life depends on."""
        found, waiting = set(), [resource]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting.extend(self.needs.get(one, ()))
        return found


def lives(items: Sequence[pytest.Item], uses: Sequence[Sequence[Use]], order: Sequence[int]) -> Lives:
    """Plays the order through. A fixture ends when its collector is left, when it is asked for with another
    parameter, or when one that it needs ends."""
    told = Lives([], [{} for _ in items], {})
    alive: dict[int, tuple[Use, int]] = {}
    chains: dict[int, frozenset[int]] = {}
    parent: object = None
    for place in order:
        left, parent = parent is not items[place].parent, items[place].parent
        if left and alive:
            if id(parent) not in chains:
                chains[id(parent)] = frozenset(map(id, items[place].listchain()[:-1]))
            chain = chains[id(parent)]
            for resource in [r for r, (use, _) in alive.items() if id(use.node) not in chain]:
                _end(resource, alive)
        for use in uses[place]:
            told.needs[use.resource] = use.needs
            before = alive.get(use.resource)
            if before is None or before[0].parameter != use.parameter or before[0].node is not use.node:
                _end(use.resource, alive)
                alive[use.resource] = use, len(told.episodes)
                told.episodes.append(Episode(use.resource, use.node, []))
            number = alive[use.resource][1]
            told.episodes[number].users.append(place)
            told.during[place][use.resource] = number
    return told


def _end(resource: int, alive: dict[int, tuple[Use, int]]) -> None:
    if alive.pop(resource, None) is not None:
        for dependent in [r for r, (use, _) in alive.items() if resource in use.needs]:
            _end(dependent, alive)
