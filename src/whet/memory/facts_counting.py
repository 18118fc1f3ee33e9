"""What goes together more often than by chance: counted, with what speaks against it.

A condition and an effect are names that occasions have. What is claimed has enough support, a lower bound (Wilson)
above how often the effect comes without the condition, and a chance (Fisher's exact test, corrected for how many
pairs were looked at) below 5 % that any claim at all is made where nothing is so.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

FEWEST = 5
# Occasions further back than this say little about what is so now.
LATEST = 100
_CHANCE = 0.05
_CHANGED = 0.01
_SHORTEST_SINCE = 4
_Z = 1.96


class Occasion(NamedTuple):
    at: datetime
    id: str
    conditions: frozenset[str]
    effects: frozenset[str]


class Tally(NamedTuple):
    """How often the effect came with the condition, and without it."""

    support: int
    against: int
    otherwise: int  # the effect, without the condition
    otherwise_not: int

    @property
    def lower(self) -> float:
        return wilson(self.support, self.support + self.against)[0]

    @property
    def base(self) -> float | None:
        others = self.otherwise + self.otherwise_not
        return self.otherwise / others if others else None

    def holds(self) -> bool:
        return self.support >= FEWEST and self.base is not None and self.lower > self.base

    def chance(self) -> float:
        """That so much support comes about where condition and effect have nothing to do with each other."""
        drawn, marked = self.support + self.against, self.support + self.otherwise
        return at_least(self.support, drawn, marked, sum(self))


class Association(NamedTuple):
    condition: str
    effect: str
    tally: Tally
    beyond_chance: bool


def associations(occasions: Iterable[Occasion]) -> list[Association]:
    """Every pair with enough support, in the order of its names. The order of the occasions is that of their times."""
    ordered = sorted(set(occasions), key=lambda each: (each.at, each.id))
    conditions = Counter(name for each in ordered for name in each.conditions)
    effects = Counter(name for each in ordered for name in each.effects)
    # Which pairs are looked at depends on how often each name is there alone, so the test stays exact.
    looked_at = sum(n >= FEWEST for n in conditions.values()) * sum(n >= FEWEST for n in effects.values())
    together = Counter(pair for each in ordered for pair in _pairs(each))
    often = sorted(pair for pair, count in together.items() if count >= FEWEST)
    with_condition: dict[str, list[Occasion]] = {condition: [] for condition, _ in often}
    for each in ordered:
        for name in each.conditions & with_condition.keys():
            with_condition[name].append(each)
    return [_association(pair, with_condition[pair[0]], effects[pair[1]], len(ordered), looked_at) for pair in often]


def _pairs(occasion: Occasion) -> Iterator[tuple[str, str]]:
    return ((condition, effect) for condition in occasion.conditions for effect in occasion.effects)


def _association(
    pair: tuple[str, str], occasions: Sequence[Occasion], effects: int, there: int, looked_at: int
) -> Association:
    condition, effect = pair
    held = [effect in each.effects for each in occasions]
    otherwise = effects - sum(held)
    others = there - len(held)
    kept = since_last_change(held[-LATEST:])
    tally = Tally(sum(kept), len(kept) - sum(kept), otherwise, others - otherwise)
    return Association(condition, effect, tally, tally.holds() and tally.chance() <= _CHANCE / max(1, looked_at))


def since_last_change(held: Sequence[bool]) -> Sequence[bool]:
    """From where on it holds clearly less often than before; everything where there is no such place."""
    splits = range(_SHORTEST_SINCE, len(held) - _SHORTEST_SINCE + 1)
    drops = [(_chance_of_drop(held, split), split) for split in splits if held[split - 1] and not held[split]]
    chance, best = min(drops, default=(1.0, 0))
    return held[best:] if chance <= _CHANGED / max(1, len(splits)) else held


def _chance_of_drop(held: Sequence[bool], split: int) -> float:
    return at_least(sum(held[:split]), split, sum(held), len(held))


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a rate (Wilson 1927); everything where nothing was tried."""
    if not trials:
        return 0.0, 1.0
    rate, z2 = successes / trials, _Z * _Z
    centre = (rate + z2 / (2 * trials)) / (1 + z2 / trials)
    half = _Z / (1 + z2 / trials) * math.sqrt(rate * (1 - rate) / trials + z2 / (4 * trials * trials))
    return max(0.0, centre - half), min(1.0, centre + half)


def at_least(found: int, drawn: int, marked: int, there: int) -> float:
    """The chance to draw at least `found` marked ones with `drawn` of `there`, `marked` of which are (Fisher 1922)."""
    most = min(drawn, marked)
    logs = [_ways(marked, k) + _ways(there - marked, drawn - k) - _ways(there, drawn) for k in range(found, most + 1)]
    return min(1.0, math.fsum(math.exp(log) for log in logs))


@lru_cache(maxsize=65536)
def _ways(things: int, chosen: int) -> float:
    if not 0 <= chosen <= things:
        return -math.inf
    return math.lgamma(things + 1) - math.lgamma(chosen + 1) - math.lgamma(things - chosen + 1)
