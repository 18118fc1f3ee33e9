"""Which places are drawn: in proportion to their mass, with or without putting back what was drawn."""

import numpy as np

from whet.policies.deep.replay.tree import Floats, Places, SumTree


def with_replacement(tree: SumTree, random: np.random.Generator, number: int) -> Places:
    targets = random.random(number)
    targets *= tree.total
    return tree.find(targets)


def without_replacement(tree: SumTree, random: np.random.Generator, number: int) -> Places:
    """One after the other, each from what the others left.

    Drawing with replacement and passing over what was there before gives just that distribution. What has been drawn is
    taken out of the tree before the next round, so that a few heavy items do not make the rounds endless.
    """
    drawn, masses = np.empty(0, dtype=np.int64), np.empty(0)
    try:
        while True:
            fresh = _in_order_without_repeats(with_replacement(tree, random, number - len(drawn)))
            drawn, masses = np.concatenate((drawn, fresh)), np.concatenate((masses, tree.masses(fresh)))
            if len(drawn) == number:
                return drawn
            tree.put(fresh, 0.0)
    finally:
        tree.put(drawn, masses)


def importance_weights(masses: Floats, beta: float) -> Floats:
    """(N·P(i))^−β over the largest of the batch. N and the total of the masses cancel out."""
    return np.asarray((masses.min() / masses) ** beta)


def _in_order_without_repeats(places: Places) -> Places:
    _, first = np.unique(places, return_index=True)
    return places[np.sort(first)]
