"""A reward profile: named, weighted, bounded terms over the measures of an outcome."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from whet.core.errors import RefusedInput
from whet.core.records import Measures, Part
from whet.rewards.terms import Bounds, Scale, Term

# Ten times the largest shipped weight; with it every profile stays well inside what a reward may be.
LARGEST_WEIGHT: Final = 10.0


@dataclass(frozen=True)
class Profile:
    """What an outcome is worth, part by part.

    `weights` given to a method replace the profile's own ones by name; what is not named keeps its weight.
    """

    name: str
    terms: tuple[Term, ...]

    @property
    def weights(self) -> dict[str, float]:
        return {term.name: term.weight for term in self.terms}

    def parts(self, measures: Measures, weights: Mapping[str, float] | None = None) -> tuple[Part, ...]:
        given = finite_weights(weights)
        return tuple(term.part(measures, given.get(term.name, term.weight)) for term in self.terms)

    def true_range(self, weights: Mapping[str, float] | None = None, own: Iterable[Scale] = ()) -> tuple[float, float]:
        """The least and the most a raw reward can be, derived from bounds and weights; `own` adds an agent's terms."""
        given = finite_weights(weights)
        total = Bounds(0.0, 0.0)
        for term in self.terms:
            total = total.plus(term.bounds.weighted(given.get(term.name, term.weight)))
        for scale in own:
            total = total.plus(scale.bounds.weighted(given.get(scale.name, 1.0)))
        return total.low, total.high


def finite_weights(weights: Mapping[str, float] | None) -> dict[str, float]:
    """The weights as given, refused unless each is a number from 0 to 10.

    A negative weight would turn a penalty into a prize without saying so.
    """
    for name, weight in (weights or {}).items():
        if not (math.isfinite(weight) and 0.0 <= weight <= LARGEST_WEIGHT):
            raise RefusedInput(
                f"The reward weight {name} is {weight}.",
                f"Give a number from 0 to {LARGEST_WEIGHT:g}; 0 leaves the part out.",
            )
    return dict(weights or {})


def known_weights(weights: Mapping[str, float], allowed: Iterable[str]) -> dict[str, float]:
    """The weights, refused when one names a part that does not exist."""
    names = sorted(set(allowed))
    for name in weights:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"Did you mean {near[0]}? " if near else ""
            raise RefusedInput(f"There is no reward part named {name!r}.", f"{hint}The parts are: {', '.join(names)}.")
    return finite_weights(weights)
