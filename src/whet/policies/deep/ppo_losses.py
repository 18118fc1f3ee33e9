"""The arithmetic of proximal policy optimisation (Schulman et al., 2017), without networks: one number a row.

`_t` is at the step itself; *old* is as it was when the step was taken.
"""

import torch
from torch import Tensor


def log_probabilities(logits: Tensor, masks: Tensor) -> Tensor:
    """Log-softmax over the allowed actions (Huang and Ontañón, 2022).

    What is not allowed gets the smallest finite number: its probability is exactly 0, and 0 times it is no NaN.
    """
    smallest = torch.finfo(logits.dtype).min
    told = torch.log_softmax(logits.masked_fill(~masks, smallest), dim=-1)
    return told.clamp(min=smallest)


def entropies(log_probabilities_t: Tensor) -> Tensor:
    return -(log_probabilities_t.exp() * log_probabilities_t).sum(dim=-1)


def clipped_losses(log_ratios_t: Tensor, advantages_t: Tensor, clip: float) -> Tensor:
    """−min(r A, clip(r, 1 − ε, 1 + ε) A), where r is the new probability over the old one (equation 7)."""
    ratios_t = log_ratios_t.exp()
    return -torch.minimum(ratios_t * advantages_t, ratios_t.clamp(1.0 - clip, 1.0 + clip) * advantages_t)


def value_losses(values_t: Tensor, returns_t: Tensor, old_values_t: Tensor, clip: float | None) -> Tensor:
    """Half the squared error; with a clip, the larger of it and that of a value that moved no further than the clip.

    The clip comes from the code of Schulman et al. and is mostly no help (Andrychowicz et al., 2021, section 3.2).
    """
    losses = (values_t - returns_t).square()
    if clip is not None:
        near_t = old_values_t + (values_t - old_values_t).clamp(-clip, clip)
        losses = torch.maximum(losses, (near_t - returns_t).square())
    return 0.5 * losses


def divergences(log_ratios_t: Tensor) -> Tensor:
    """KL(old ‖ new) from samples of old: (r − 1) − log r, without bias and never negative (Schulman, 2020)."""
    return torch.expm1(log_ratios_t) - log_ratios_t


def normalised(advantages_t: Tensor) -> Tensor:
    """Mean 0 and deviation 1 within these rows; a single row has nothing to be compared with, and stays."""
    if len(advantages_t) < 2:
        return advantages_t
    return (advantages_t - advantages_t.mean()) / (advantages_t.std() + 1e-8)
