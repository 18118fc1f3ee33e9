"""Learners of different layouts and actions in one stack: what is smaller is filled up with zeros that never move.

A filled-up weight meets only inputs of zero, or outputs that are taken out again, so that its gradient is zero; it
begins at zero and stays there. Nothing that a learner tells depends on the room the others need.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812 - so everybody names it
from torch import Tensor

from whet.policies.deep.dqn_config import Config
from whet.policies.deep.layout import Layout


class Shapes(NamedTuple):
    """What `batched_values` must know beside the weights. N: learners, T: tokens, W: their width, A: actions."""

    layout: Layout  # the learners' own where they share it; else wide enough for each
    places: Tensor | None  # N × T·W, where in its row a learner has each number of a token; None: as the layout says
    tokens: Tensor | None  # N × T, which of them a learner has; None: all
    actions: Tensor | None  # N × A, which of them a learner has; None: all

    @classmethod
    def of(cls, configs: Sequence[Config]) -> "Shapes":
        layouts, counts = [config.layout for config in configs], [len(config.actions) for config in configs]
        actions = None if len(set(counts)) == 1 else _first(counts)
        if len({layout.model_dump_json(exclude={"digest"}) for layout in layouts}) == 1:
            return cls(layouts[0], None, None, actions)
        tokens, width = max(each.tokens for each in layouts), max(each.width for each in layouts)
        places = torch.stack([_places(each, tokens, width, max(e.size for e in layouts)) for each in layouts])
        return cls(Layout(tokens=tokens, width=width), places, _first([each.tokens for each in layouts]), actions)

    def groups(self, rows: Tensor) -> Tensor:
        """N × B × T × W, of rows that `stacked_rows` filled up."""
        if self.places is not None:
            there = self.places.unsqueeze(1).expand(-1, rows.shape[1], -1)
            rows = F.pad(rows, (0, 1)).gather(2, there)  # the last place has the zero
        return rows[..., : self.layout.state_size].reshape(*rows.shape[:2], self.layout.tokens, self.layout.width)

    def state(self, rows: Tensor) -> Tensor:
        return rows if self.places is not None else rows[..., : self.layout.state_size]


def _first(counts: Sequence[int]) -> Tensor:
    return torch.arange(max(counts)) < torch.tensor(counts).unsqueeze(1)


def _places(layout: Layout, tokens: int, width: int, zero: int) -> Tensor:
    places = torch.full((tokens, width), zero)
    places[: layout.tokens, : layout.width] = torch.arange(layout.size).view(layout.tokens, layout.width)
    return places.flatten()


def stacked(tensors: Sequence[Tensor]) -> Tensor:
    """As `torch.stack`, each filled up with zeros to what the largest needs."""
    shape = [max(sizes) for sizes in zip(*(each.shape for each in tensors), strict=True)]
    made = torch.zeros(len(tensors), *shape, dtype=tensors[0].dtype)
    for place, tensor in enumerate(tensors):
        own_part(made, place, tensor.shape).copy_(tensor)
    return made


def own_part(stack: Tensor, place: int, shape: Sequence[int]) -> Tensor:
    """What belongs to one learner, a view."""
    return stack[place][tuple(slice(size) for size in shape)]
