"""Actor and critic: two networks that share nothing, so that neither's gradient disturbs the other."""

import math
from itertools import pairwise

import torch
from torch import Tensor, nn

from whet.policies.deep.ppo_config import Config


class ActorCritic(nn.Module):
    """Rows of observations become logits, B × actions, and values, B."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        # A policy that begins nearly even explores; its first choices are not those of a random network.
        self.actor = _layers(config, len(config.actions), gain=0.01)
        self.critic = _layers(config, 1, gain=1.0)

    def forward(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        return self.actor(rows), self.critic(rows).squeeze(-1)


def _layers(config: Config, outputs: int, gain: float) -> nn.Sequential:
    """Orthogonal weights and no offsets at the beginning (Huang et al., 2022, detail 2)."""
    widths = (config.layout.size, *config.hidden)
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [_linear(before, after, math.sqrt(2.0)), nn.Tanh()]
    return nn.Sequential(*layers, _linear(widths[-1], outputs, gain))


def _linear(before: int, after: int, gain: float) -> nn.Linear:
    layer = nn.Linear(before, after)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def network_of(config: Config, seed: int) -> ActorCritic:
    """Its first weights depend on the seed alone, and drawing them disturbs nobody else's random numbers."""
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        return ActorCritic(config)
