"""What each action earns in each state, guessed from other runs than the one it is used on."""

import numpy as np
import numpy.typing as npt

from whet.improvement.intervals import Matrix

Whole = npt.NDArray[np.int64]
# A guess for a state is worth so many decisions of the action elsewhere; that, so many of any action.
_PRIOR_DECISIONS = 10.0


def guesses(runs: Whole, states: Whole, actions: Whole, rewards: Matrix, columns: int) -> Matrix:
    """One row per decision, one column per action. Every second run is guessed from the others, and these from it, so
    that no guess has seen the reward it is compared with."""
    half = np.unique(runs, return_inverse=True)[1] % 2
    found = np.empty((len(rewards), columns))
    for each in (0, 1):
        known, asked = half != each, half == each
        means = _means(states[known], actions[known], rewards[known], int(states.max()) + 1, columns)
        found[asked] = means[states[asked]]
    return found


def _means(states: Whole, actions: Whole, rewards: Matrix, rooms: int, columns: int) -> Matrix:
    """Means, drawn towards the action's mean everywhere, which is drawn towards the mean of all."""
    cells = states * columns + actions
    counts = np.bincount(cells, minlength=rooms * columns).reshape(rooms, columns)
    totals = np.bincount(cells, weights=rewards, minlength=rooms * columns).reshape(rooms, columns)
    overall = float(rewards.mean()) if len(rewards) else 0.0
    usual = (totals.sum(axis=0) + _PRIOR_DECISIONS * overall) / (counts.sum(axis=0) + _PRIOR_DECISIONS)
    return np.asarray((totals + _PRIOR_DECISIONS * usual) / (counts + _PRIOR_DECISIONS))
