"""What the worlds of other projects say about a new one: the prior that its agent begins with.

prior = learned_prior("test-executor", {world.name: spots(world, profile, weights) for world in of_other_projects})
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from whet.core.errors import WhetError
from whet.improvement.intervals import Matrix
from whet.improvement.spots import Spot
from whet.policies.warm_start import Expected, Prior

# With how many states "it pays like the others, give or take a unit" counts: few states must not look like a law.
_DOUBTING_STATES = 1.0


def learned_prior(agent: str, worlds: Mapping[str, Sequence[Spot]]) -> Prior:
    """The mean of each action over all states, drawn towards 0, and the deviation of states from it."""
    states = [state for there in worlds.values() for state in map(_advantages, there) if any(state.values())]
    if not states:
        raise WhetError(
            f"In every world of {agent} that is known all actions pay the same: there is nothing to begin with.",
            f"Record another: whet record --agent {agent}",
        )
    units = [float(np.sqrt(np.mean(np.square(list(state.values()))))) for state in states]
    found: dict[str, list[float]] = defaultdict(list)
    for state, unit in zip(states, units, strict=True):
        for name, advantage in state.items():
            found[name].append(advantage / unit)
    actions = {name: _expected(np.array(seen)) for name, seen in sorted(found.items())}
    return Prior(agent=agent, unit=float(np.median(units)), actions=actions, sources=tuple(worlds))


def _expected(seen: Matrix) -> Expected:
    weight = len(seen) + _DOUBTING_STATES
    mean = float(seen.sum()) / weight
    squares = float(np.square(seen - mean).sum()) + _DOUBTING_STATES
    return Expected(mean=mean, doubt=float(np.sqrt(squares / weight)), states=len(seen))


def _advantages(spot: Spot) -> dict[str, float]:
    """What each action is credited with beyond the mean of all that were recorded there."""
    means = {name: float(np.mean(found)) for name, found in spot.credits.items()}
    centre = float(np.mean(list(means.values())))
    return {name: _not_rounding(mean - centre) for name, mean in means.items()}


def _not_rounding(number: float) -> float:
    return number if abs(number) > 1e-9 else 0.0
