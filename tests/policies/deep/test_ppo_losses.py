"""PPO's arithmetic against numbers worked by hand."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from whet.policies.deep.ppo_losses import (
    clipped_losses,
    divergences,
    entropies,
    log_probabilities,
    normalised,
    value_losses,
)


def _logs(*values: float) -> Tensor:
    return torch.tensor(values).log()


def test_probabilities_are_shared_among_the_allowed() -> None:
    told = log_probabilities(_logs(1.0, 2.0, 5.0)[None], torch.tensor([[True, True, False]]))
    assert told.exp()[0].tolist() == pytest.approx([1 / 3, 2 / 3, 0.0])
    assert told.exp()[0, 2].item() == 0.0
    assert entropies(told).item() == pytest.approx(math.log(3.0) / 3 + math.log(1.5) * 2 / 3)


@pytest.mark.parametrize("logit", [-3e38, 0.0, 3e38])
def test_a_single_allowed_action_is_certain_whatever_its_logit(logit: float) -> None:
    logits = torch.tensor([[logit, -logit]], requires_grad=True)
    told = log_probabilities(logits, torch.tensor([[True, False]]))
    entropy = entropies(told)
    assert (told[0, 0].item(), entropy.item()) == (0.0, 0.0)
    entropy.sum().backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    assert logits.grad is not None
    assert logits.grad.tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "moves"),
    [
        (1.1, 2.0, -2.2, True),
        (1.5, 2.0, -2.4, False),  # good and already likelier: no reason to go further
        (0.5, 2.0, -1.0, True),  # good and less likely than it was: back
        (0.5, -2.0, 1.6, False),
        (1.5, -2.0, 3.0, True),
    ],
)
def test_the_clip_takes_away_the_reason_to_go_too_far(ratio: float, advantage: float, loss: float, moves: bool) -> None:
    log_ratios = _logs(ratio).requires_grad_()
    losses = clipped_losses(log_ratios, torch.tensor([advantage]), 0.2)
    losses.sum().backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    assert losses.item() == pytest.approx(loss)
    assert log_ratios.grad is not None
    assert bool(log_ratios.grad.any()) == moves


def test_value_losses() -> None:
    values, returns, old = torch.tensor([3.0, 3.0]), torch.tensor([1.0, 4.0]), torch.tensor([2.5, 1.0])
    assert value_losses(values, returns, old, None).tolist() == [2.0, 0.5]
    # With the clip 1 the second may only be 2: ½ (2 − 4)² is the larger
    assert value_losses(values, returns, old, 1.0).tolist() == [2.0, 2.0]


@given(st.floats(-5.0, 5.0))
def test_divergence_is_never_negative_and_zero_without_change(log_ratio: float) -> None:
    assert divergences(torch.tensor([log_ratio], dtype=torch.float64)).item() >= 0.0
    assert divergences(torch.zeros(1)).item() == 0.0
    assert divergences(_logs(2.0)).item() == pytest.approx(1.0 - math.log(2.0))


def test_advantages_are_normalised_within_a_minibatch() -> None:
    assert normalised(torch.tensor([1.0, 2.0, 3.0])).tolist() == pytest.approx([-1.0, 0.0, 1.0])
    assert normalised(torch.tensor([7.0])).tolist() == [7.0]
    assert normalised(torch.tensor([7.0, 7.0])).tolist() == [0.0, 0.0]
