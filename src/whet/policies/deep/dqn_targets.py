"""The arithmetic of deep Q-learning, without networks. B: the batch, K: heads of the ensemble, A: actions."""

import math

from torch import Tensor


def masked(q_values: Tensor, masks: Tensor) -> Tensor:
    """Values in which what is not allowed can never be the largest; masks are B × A, the values B × A or B × K × A."""
    fitting = masks if q_values.ndim == masks.ndim else masks.unsqueeze(1)
    return q_values.masked_fill(~fitting, -math.inf)


def dueling(values: Tensor, advantages: Tensor) -> Tensor:
    """Q = V + A − mean A (Wang et al., 2016, equation 9): only so can the two be told apart."""
    return values.unsqueeze(-1) + advantages - advantages.mean(dim=-1, keepdim=True)


def double_q_targets(
    rewards: Tensor, discounts_next: Tensor, online_next: Tensor, target_next: Tensor, masks_next: Tensor
) -> Tensor:
    """r + γ' · Q_target(s', argmax_a Q_online(s', a)), each head by itself (van Hasselt et al., 2016).

    `discounts_next` is γ where something follows and 0 where the episode ended: B. The values are B × K × A.
    """
    best_next = masked(online_next, masks_next).argmax(dim=-1, keepdim=True)
    worth_next = target_next.gather(-1, best_next).squeeze(-1)
    return rewards.unsqueeze(1) + discounts_next.unsqueeze(1) * worth_next


def weighted_loss(td_errors: Tensor, weights: Tensor, counts: Tensor) -> Tensor:
    """Mean of weight · count · error² over the batch and the heads.

    The weights undo prioritized drawing (Schaul et al., 2016); the counts, B × K, are how often each head has the item
    in its bootstrap sample (Osband et al., 2016).
    """
    return (weights.unsqueeze(1) * counts * td_errors.square()).mean()


def learning_rate(update: int, highest: float, first_cycle: int, factor: int, lowest_share: float = 0.0) -> float:
    """Cosine annealing with warm restarts (Loshchilov and Hutter, 2017, equation 5), before the given update."""
    if not first_cycle:
        return highest
    cycle, since = first_cycle, update
    if factor == 1:
        since %= cycle
    while since >= cycle:
        since, cycle = since - cycle, cycle * factor
    lowest = highest * lowest_share
    return lowest + (highest - lowest) * (1.0 + math.cos(math.pi * since / cycle)) / 2.0


def epsilon(steps: int, first: float, floor: float, decay: float) -> float:
    """How often an action is drawn evenly from the allowed ones."""
    return max(floor, first * decay**steps)
