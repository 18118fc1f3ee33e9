"""Elastic weight consolidation against numbers worked by hand, and against forgetting."""

from pathlib import Path

import pytest
import torch
from benchmarks.forgetting import life
from torch import nn

from whet.core.errors import RefusedInput
from whet.policies.deep.ewc import Consolidation, fisher


def line(*weights: float) -> nn.Linear:
    """Values of one action: w₁ x₁ + w₂ x₂."""
    network = nn.Linear(2, 1, bias=False)
    network.weight.data = torch.tensor([weights])
    return network


ROWS, ALLOWED = torch.tensor([[1.0, 2.0], [3.0, 0.0]]), torch.ones(2, 1, dtype=torch.bool)


def test_fisher_by_hand() -> None:
    """The slopes are x₁ and x₂: means of squares (1 + 9) / 2 and (4 + 0) / 2, whatever the weights."""
    assert fisher(line(7.0, -3.0), ROWS, ALLOWED)["weight"].tolist() == [[5.0, 2.0]]


def test_what_is_not_allowed_does_not_count() -> None:
    network = nn.Linear(1, 2, bias=False)
    told = fisher(network, torch.tensor([[3.0]]), torch.tensor([[True, False]]))["weight"]
    assert told.tolist() == [[9.0], [0.0]]


def test_penalty_by_hand() -> None:
    """1000/2 · (5 · 0.1² + 2 · 0.2²) = 65"""
    memory, network = Consolidation(), line(1.0, 1.0)
    memory.consolidate(network, ROWS, ALLOWED)
    assert memory.penalty(network).item() == 0.0
    assert memory.penalty(line(1.1, 0.8)).item() == pytest.approx(65.0, rel=1e-5)
    memory.consolidate(line(1.1, 0.8), ROWS, ALLOWED)  # a second task, where this costs nothing
    assert memory.penalty(line(1.1, 0.8)).item() == pytest.approx(65.0, rel=1e-5)


def test_the_guard_adds_the_gradient_of_the_penalty_while_it_lasts() -> None:
    memory, network = Consolidation(), line(1.0, 1.0)
    memory.consolidate(network, ROWS, ALLOWED)
    network.weight.data = torch.tensor([[1.1, 0.8]])
    wanted = torch.autograd.grad(memory.penalty(network) + network.weight.sum(), network.weight)[0]
    with memory.guard(network):
        network.weight.sum().backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    assert network.weight.grad is not None
    torch.testing.assert_close(network.weight.grad, wanted)
    assert wanted.tolist() == [pytest.approx([1000 * 5 * 0.1 + 1, 1000 * 2 * -0.2 + 1], rel=1e-4)]
    network.weight.grad.zero_()
    network.weight.sum().backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    assert network.weight.grad.tolist() == [[1.0, 1.0]]


def test_saved_it_holds_on_to_the_same(tmp_path: Path) -> None:
    memory = Consolidation(importance=7.0)
    memory.consolidate(line(1.0, 1.0), ROWS, ALLOWED)
    memory.consolidate(line(2.0, -1.0), ROWS, ALLOWED)
    memory.save(tmp_path)
    opened = Consolidation.open(tmp_path)
    assert opened.penalty(line(1.1, 0.8)).item() == memory.penalty(line(1.1, 0.8)).item() > 0.0
    opened.require_fit(line(0.0, 0.0))
    with pytest.raises(RefusedInput, match="another network"):
        opened.require_fit(nn.Linear(3, 1))


def test_a_task_without_data_is_refused() -> None:
    with pytest.raises(RefusedInput, match="without data"):
        Consolidation().consolidate(line(1.0, 1.0), torch.zeros(0, 2), torch.zeros(0, 1, dtype=torch.bool))


def test_three_tasks_one_after_the_other() -> None:
    """The whole, with EWC and replay each by itself, is benchmarks/forgetting.py."""
    kept_with_both, last = life(0, ewc=True, replay=True, updates=100)
    kept_with_ewc, _ = life(0, ewc=True, replay=False, updates=100)
    kept_with_neither, _ = life(0, ewc=False, replay=False, updates=100)
    assert kept_with_both >= 0.9
    assert last >= 0.9
    assert kept_with_neither < min(kept_with_both, kept_with_ewc) - 0.2
