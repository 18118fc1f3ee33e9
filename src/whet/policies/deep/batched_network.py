"""The dueling Q-network for many learners at once, by the names of `QNetwork`'s parameters. N: learners, B: rows."""

import math
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - so everybody names it
from torch import Tensor

from whet.policies.deep.dqn_config import Network
from whet.policies.deep.dqn_targets import dueling
from whet.policies.deep.layout import Layout

Stacked = Mapping[str, Tensor]


def batched_values(stacked: Stacked, layout: Layout, sizes: Network, rows: Tensor) -> Tensor:
    """Rows, N × B × layout.size, become values, N × B × heads × actions; as `QNetwork.forward` for each learner."""
    summary = rows[..., : layout.state_size]
    for layer in (0, 3):
        summary = _linear(stacked, f"encoder.{layer}", summary)
        summary = torch.relu(_normed(stacked, f"encoder.{layer + 1}", summary))
    if layout.attended > 1:
        summary = summary + _attended(stacked, layout, sizes, summary, rows)
    return _heads(stacked, sizes, summary)


class _Products(torch.autograd.Function):
    """offsets + rows · weightsᵀ for each learner. By itself autograd would make the gradient of the weights transposed,
    and copy all of it into place: a fifth of an update."""

    @staticmethod
    def forward(context: Any, rows: Tensor, weights: Tensor, offsets: Tensor | None) -> Tensor:
        context.save_for_backward(rows, weights)
        if offsets is None:
            return torch.bmm(rows, weights.transpose(1, 2))
        return torch.baddbmm(offsets.unsqueeze(1), rows, weights.transpose(1, 2))

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        (gradient,), (rows, weights) = gradients, context.saved_tensors
        needed = context.needs_input_grad
        return (
            torch.bmm(gradient, weights) if needed[0] else None,
            torch.bmm(gradient.transpose(1, 2), rows) if needed[1] else None,
            gradient.sum(dim=1) if needed[2] else None,
        )


def _linear(stacked: Stacked, name: str, rows: Tensor) -> Tensor:
    flat = rows.flatten(1, -2)
    made: Tensor = _Products.apply(flat, stacked[f"{name}.weight"], stacked.get(f"{name}.bias"))  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return made.view(*rows.shape[:-1], -1)


def _normed(stacked: Stacked, name: str, rows: Tensor) -> Tensor:
    shape = (len(rows), *[1] * (rows.ndim - 2), rows.shape[-1])
    normed = F.layer_norm(rows, rows.shape[-1:])
    return torch.addcmul(stacked[f"{name}.bias"].view(shape), normed, stacked[f"{name}.weight"].view(shape))


def _heads(stacked: Stacked, sizes: Network, summary: Tensor) -> Tensor:
    learners, rows = summary.shape[:2]
    both = torch.relu(_linear(stacked, "heads.streams", summary)).view(learners, rows, sizes.heads, 2, sizes.stream)
    worth, advantage = both.unbind(dim=3)
    values = torch.einsum("nbks,nksv->nbkv", worth, stacked["heads.worth"]).squeeze(-1)
    advantages = torch.einsum("nbks,nksa->nbka", advantage, stacked["heads.advantage"])
    values = values + stacked["heads.worth_offsets"].view(learners, 1, -1)
    return dueling(values, advantages + stacked["heads.advantage_offsets"].unsqueeze(1))


def _attended(stacked: Stacked, layout: Layout, sizes: Network, summary: Tensor, rows: Tensor) -> Tensor:
    learners, count = rows.shape[:2]
    tokens = torch.relu(_normed(stacked, "attention.norm", _tokens(stacked, layout, rows)))
    query = _linear(stacked, "attention.query", summary).view(learners, count, sizes.attention_heads, 1, -1)
    keys, values = (
        _linear(stacked, f"attention.{name}", tokens)
        .view(learners, count, tokens.shape[2], sizes.attention_heads, -1)
        .transpose(2, 3)
        for name in ("key", "value")
    )
    scores = (query @ keys.transpose(-1, -2)) / math.sqrt(keys.shape[-1])
    weights = scores.masked_fill(~_present(layout, rows)[:, :, None, None], -math.inf).softmax(dim=-1)
    return _linear(stacked, "attention.output", (weights @ values).reshape(learners, count, -1))


def _tokens(stacked: Stacked, layout: Layout, rows: Tensor) -> Tensor:
    groups = rows[..., : layout.state_size].view(*rows.shape[:2], layout.tokens, layout.width)
    embedded = torch.einsum("nbtw,ntwd->nbtd", groups, stacked["attention.groups"])
    embedded = embedded + stacked["attention.group_offsets"].unsqueeze(1)
    if not layout.memories:
        return embedded
    recalled = rows[..., layout.state_size : layout.size - layout.memories]
    recalled = recalled.reshape(*rows.shape[:2], layout.memories, layout.memory_width)
    return torch.cat((embedded, _linear(stacked, "attention.memory", recalled)), dim=2)


def _present(layout: Layout, rows: Tensor) -> Tensor:
    groups = torch.ones(*rows.shape[:2], layout.tokens, dtype=torch.bool, device=rows.device)
    return torch.cat((groups, rows[..., layout.size - layout.memories :] > 0.5), dim=2)
