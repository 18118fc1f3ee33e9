"""Whose merit is a reward of the team? Two answers that differ from giving everybody all of it.

A team's *worth* is a function of who takes part: what it earns, in each of several rows, when the others do their
default.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Credits = npt.NDArray[np.float64]
Present = npt.NDArray[np.bool_]  # one flag per agent: does it take part?
Worth = Callable[[Present], Credits]  # one number per row


def difference_credits(agents: int, worth: Worth) -> Credits:
    """What the team would have missed without each (Wolpert and Tumer, 2002): rows × agents."""
    everybody = np.ones(agents, dtype=bool)
    earned = worth(everybody)
    without = [worth(everybody & (np.arange(agents) != agent)) for agent in range(agents)]
    return np.stack([earned - missed for missed in without], axis=-1)


def shapley_credits(agents: int, worth: Worth, orders: int, random: np.random.Generator) -> Credits:
    """What each adds when it joins, averaged over `orders` in which they may join (Castro et al., 2009): rows × agents.

    Whatever the orders: together it is the worth of all less that of nobody.
    """
    return np.asarray(np.mean([_joined(random.permutation(agents), worth) for _ in range(orders)], axis=0))


def _joined(order: npt.NDArray[np.int64], worth: Worth) -> Credits:
    present = np.zeros(len(order), dtype=bool)
    before = worth(present)
    shares = np.zeros((*before.shape, len(order)))
    for agent in order:
        present[agent] = True
        after = worth(present.copy())
        shares[..., agent], before = after - before, after
    return shares
