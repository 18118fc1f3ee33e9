"""The dueling Q-network for many learners at once, by the names of `QNetwork`'s parameters. N: learners, B: rows."""

import math
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - so everybody names it
from torch import Tensor

from whet.policies.deep.batched_shapes import Shapes
from whet.policies.deep.dqn_config import Network
from whet.policies.deep.dqn_targets import dueling

Stacked = Mapping[str, Tensor]


def batched_values(stacked: Stacked, shapes: Shapes, sizes: Network, rows: Tensor) -> Tensor:
    """Rows, N × B × the longest, become values, N × B × heads × actions; as `QNetwork.forward` for each learner."""
    summary = shapes.state(rows)
    for layer in (0, 3):
        summary = _linear(stacked, f"encoder.{layer}", summary)
        summary = torch.relu(_normed(stacked, f"encoder.{layer + 1}", summary))
    if shapes.layout.attended > 1:
        summary = summary + _attended(stacked, shapes, sizes, summary, rows)
    return _heads(stacked, shapes, sizes, summary)


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


def _heads(stacked: Stacked, shapes: Shapes, sizes: Network, summary: Tensor) -> Tensor:
    learners, rows = summary.shape[:2]
    both = torch.relu(_linear(stacked, "heads.streams", summary)).view(learners, rows, sizes.heads, 2, sizes.stream)
    worth, advantage = both.unbind(dim=3)
    values = torch.einsum("nbks,nksv->nbkv", worth, stacked["heads.worth"]).squeeze(-1)
    advantages = torch.einsum("nbks,nksa->nbka", advantage, stacked["heads.advantage"])
    values = values + stacked["heads.worth_offsets"].view(learners, 1, -1)
    advantages = advantages + stacked["heads.advantage_offsets"].unsqueeze(1)
    return dueling(values, advantages) if shapes.actions is None else _dueling_own(values, advantages, shapes.actions)


def _dueling_own(values: Tensor, advantages: Tensor, actions: Tensor) -> Tensor:
    """As `dueling`, where each learner has actions of its own: what is filled up counts for nothing in their mean."""
    own = actions.view(len(actions), 1, 1, -1).to(advantages.dtype)
    advantages = advantages * own
    return values.unsqueeze(-1) + advantages - advantages.sum(dim=-1, keepdim=True) / own.sum(dim=-1, keepdim=True)


def _attended(stacked: Stacked, shapes: Shapes, sizes: Network, summary: Tensor, rows: Tensor) -> Tensor:
    learners, count = rows.shape[:2]
    tokens = torch.relu(_normed(stacked, "attention.norm", _tokens(stacked, shapes, rows)))
    query = _linear(stacked, "attention.query", summary).view(learners, count, sizes.attention_heads, 1, -1)
    keys, values = (
        _linear(stacked, f"attention.{name}", tokens)
        .view(learners, count, tokens.shape[2], sizes.attention_heads, -1)
        .transpose(2, 3)
        for name in ("key", "value")
    )
    scores = (query @ keys.transpose(-1, -2)) / math.sqrt(keys.shape[-1])
    weights = scores.masked_fill(~_present(shapes, rows)[:, :, None, None], -math.inf).softmax(dim=-1)
    return _linear(stacked, "attention.output", (weights @ values).reshape(learners, count, -1))


def _tokens(stacked: Stacked, shapes: Shapes, rows: Tensor) -> Tensor:
    layout = shapes.layout
    embedded = torch.einsum("nbtw,ntwd->nbtd", shapes.groups(rows), stacked["attention.groups"])
    embedded = embedded + stacked["attention.group_offsets"].unsqueeze(1)
    if not layout.memories:
        return embedded
    recalled = rows[..., layout.state_size : layout.size - layout.memories]
    recalled = recalled.reshape(*rows.shape[:2], layout.memories, layout.memory_width)
    return torch.cat((embedded, _linear(stacked, "attention.memory", recalled)), dim=2)


def _present(shapes: Shapes, rows: Tensor) -> Tensor:
    layout = shapes.layout
    if shapes.tokens is not None:
        return shapes.tokens.unsqueeze(1).expand(-1, rows.shape[1], -1)
    groups = torch.ones(*rows.shape[:2], layout.tokens, dtype=torch.bool, device=rows.device)
    return torch.cat((groups, rows[..., layout.size - layout.memories :] > 0.5), dim=2)
