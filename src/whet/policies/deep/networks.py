"""The dueling Q-network. No layer mixes the rows of a batch, and none behaves differently while training."""

import math

import torch
from torch import Tensor, nn

from whet.policies.deep.dqn_config import Config, Network
from whet.policies.deep.dqn_targets import dueling
from whet.policies.deep.layout import Layout


class QNetwork(nn.Module):
    """Rows of observations, B × layout.size, become values, B × heads × actions."""

    def __init__(self, layout: Layout, actions: int, sizes: Network) -> None:
        super().__init__()
        first, summary = sizes.encoder
        self.layout = layout
        self.encoder = nn.Sequential(
            nn.Linear(layout.state_size, first), nn.LayerNorm(first), nn.ReLU(),
            nn.Linear(first, summary), nn.LayerNorm(summary), nn.ReLU(),
        )  # fmt: skip
        # With a single token the weights of attention are 1 whatever is learned: there is nothing to build.
        self.attention = TokenAttention(layout, sizes) if layout.attended > 1 else None
        self.heads = DuelingHeads(summary, actions, sizes)

    def forward(self, rows: Tensor) -> Tensor:
        summary = self.encoder(rows[:, : self.layout.state_size])
        if self.attention is not None:
            summary = summary + self.attention(summary, rows)
        values: Tensor = self.heads(summary)
        return values


class TokenAttention(nn.Module):
    """The summary of the state asks; its groups of features and the recalled memories answer (Vaswani et al., 2017).

    Each group has its own embedding, since its numbers mean something of their own; memories share one.
    """

    def __init__(self, layout: Layout, sizes: Network) -> None:
        super().__init__()
        width, self.layout, self.parts = sizes.attention, layout, sizes.attention_heads
        self.groups = nn.Parameter(_uniform((layout.tokens, layout.width, width), layout.width))
        self.group_offsets = nn.Parameter(_uniform((layout.tokens, width), layout.width))
        self.memory = nn.Linear(layout.memory_width, width) if layout.memories else None
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(sizes.encoder[1], width)
        self.key = nn.Linear(width, width, bias=False)  # a bias would add the same to every score, and change nothing
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, sizes.encoder[1])

    def forward(self, summary: Tensor, rows: Tensor) -> Tensor:
        tokens = torch.relu(self.norm(self._tokens(rows)))
        query = self.query(summary).view(len(rows), self.parts, 1, -1)
        keys, values = (
            each(tokens).view(len(rows), tokens.shape[1], self.parts, -1).transpose(1, 2)
            for each in (self.key, self.value)
        )
        scores = (query @ keys.transpose(-1, -2)) / math.sqrt(keys.shape[-1])
        weights = scores.masked_fill(~self._present(rows)[:, None, None], -math.inf).softmax(dim=-1)
        told: Tensor = self.output((weights @ values).reshape(len(rows), -1))
        return told

    def _tokens(self, rows: Tensor) -> Tensor:
        layout = self.layout
        groups = rows[:, : layout.state_size].view(-1, layout.tokens, layout.width)
        embedded = torch.einsum("btw,twd->btd", groups, self.groups) + self.group_offsets
        if self.memory is None:
            return embedded
        recalled = rows[:, layout.state_size : layout.size - layout.memories]
        return torch.cat((embedded, self.memory(recalled.reshape(len(rows), layout.memories, -1))), dim=1)

    def _present(self, rows: Tensor) -> Tensor:
        groups = torch.ones(len(rows), self.layout.tokens, dtype=torch.bool, device=rows.device)
        return torch.cat((groups, rows[:, self.layout.size - self.layout.memories :] > 0.5), dim=1)


class DuelingHeads(nn.Module):
    """An ensemble of dueling heads, all computed at once."""

    def __init__(self, summary: int, actions: int, sizes: Network) -> None:
        super().__init__()
        self.shape = (sizes.heads, 2, sizes.stream)
        self.streams = nn.Linear(summary, math.prod(self.shape))
        self.worth = nn.Parameter(_uniform((sizes.heads, sizes.stream, 1), sizes.stream))
        self.worth_offsets = nn.Parameter(_uniform((sizes.heads, 1), sizes.stream))
        self.advantage = nn.Parameter(_uniform((sizes.heads, sizes.stream, actions), sizes.stream))
        self.advantage_offsets = nn.Parameter(_uniform((sizes.heads, actions), sizes.stream))

    def forward(self, summary: Tensor) -> Tensor:
        worth, advantage = torch.relu(self.streams(summary)).view(-1, *self.shape).unbind(dim=2)
        values = torch.einsum("bks,ksv->bkv", worth, self.worth) + self.worth_offsets
        advantages = torch.einsum("bks,ksa->bka", advantage, self.advantage) + self.advantage_offsets
        return dueling(values.squeeze(-1), advantages)


def network_of(config: Config, seed: int) -> QNetwork:
    """Its first weights depend on the seed alone, and drawing them disturbs nobody else's random numbers."""
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        network = QNetwork(config.layout, len(config.actions), config.network)
    return network.eval()


def _uniform(shape: tuple[int, ...], fan_in: int) -> Tensor:
    """As `nn.Linear` begins."""
    return torch.empty(shape).uniform_(-1.0, 1.0) / math.sqrt(fan_in)
