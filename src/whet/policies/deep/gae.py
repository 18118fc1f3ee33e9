"""Generalized advantage estimation (Schulman et al., 2016). Arrays are T × N: steps of environments.

Time is in the names: `_t` is at the step itself, `_tp1` after it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class Estimates(NamedTuple):
    advantages_t: Doubles
    returns_t: Doubles  # what the critic should have said: advantage and value


def generalized_advantages(
    rewards_t: Doubles,
    values_t: Doubles,
    values_tp1: Doubles,
    terminated_t: Flags,
    truncated_t: Flags,
    discount: float,
    gae_lambda: float,
) -> Estimates:
    """A_t = δ_t + γλ A_{t+1} with δ_t = r_t + γ V_{t+1} − V_t (equations 11, 12 and 16).

    `values_tp1` are of the observations that followed, the last one of an episode included. After a terminated step
    nothing follows and V_{t+1} is 0; after a truncated one something would, and V_{t+1} stands for it. The sum over
    later errors stops at both (Pardo et al., 2018).
    """
    errors_t = rewards_t + discount * values_tp1 * ~terminated_t - values_t
    carried_t = discount * gae_lambda * ~(terminated_t | truncated_t)
    advantages_t = np.empty_like(errors_t)
    advantage_tp1 = np.zeros(errors_t.shape[1])
    for t in reversed(range(len(errors_t))):
        advantage_tp1 = advantages_t[t] = errors_t[t] + carried_t[t] * advantage_tp1
    return Estimates(advantages_t, advantages_t + values_t)


def explained_variance(predicted: Doubles, actual: Doubles) -> float:
    """1 − Var(actual − predicted) / Var(actual): 1 is perfect, 0 no better than the mean; NaN where nothing varies."""
    spread = float(np.var(actual))
    return 1.0 - float(np.var(actual - predicted)) / spread if spread > 0.0 else float("nan")
