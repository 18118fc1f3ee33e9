"""What PPO does with a full rollout: several epochs of clipped updates."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from whet.core.errors import WhetError
from whet.policies.deep.distributed import Processes
from whet.policies.deep.ppo_config import Config
from whet.policies.deep.ppo_losses import (
    clipped_losses,
    divergences,
    entropies,
    log_probabilities,
    normalised,
    value_losses,
)
from whet.policies.deep.ppo_network import ActorCritic


class Batch(NamedTuple):
    """A row for each step of each environment."""

    observations_t: Tensor
    masks_t: Tensor
    actions_t: Tensor
    old_log_probabilities_t: Tensor
    old_values_t: Tensor
    advantages_t: Tensor
    returns_t: Tensor

    def at(self, rows: Tensor | slice) -> "Batch":
        return Batch(*(column[rows] for column in self))


MEASURES = ("policy_loss", "value_loss", "entropy", "kl", "clipped", "gradient_norm")


class Updater:
    """Network and optimiser, and how one is moved by the other. `updates` counts what it did."""

    def __init__(self, network: ActorCritic, config: Config, processes: Processes) -> None:
        self.network, self.updates = network, 0
        self._config, self._processes = config, processes
        self._trained = processes.trained(network)
        self._parameters = list(network.parameters())
        rate = config.learning_rate.first
        self.optimizer = torch.optim.Adam(self._parameters, lr=rate, eps=1e-5, fused=True)  # Huang et al.: detail 3

    def improve(self, batch: Batch, steps: int, random: np.random.Generator) -> dict[str, float]:
        """The means of what was measured on the way."""
        for group in self.optimizer.param_groups:
            group["lr"] = self._config.learning_rate.at(steps)
        clip = self._config.clip.at(steps)
        told = torch.stack([self._update(minibatch, clip) for minibatch in self._minibatches(batch, random)])
        means = self._processes.summed(told.mean(dim=0)) / self._processes.size
        return dict(zip(MEASURES, means.tolist(), strict=True))

    def _minibatches(self, batch: Batch, random: np.random.Generator) -> Iterator[Batch]:
        """Shuffled anew in each epoch, and equal but for one row: a small rest would be all noise."""
        rows = len(batch.actions_t)
        for _ in range(self._config.epochs):
            order = torch.from_numpy(random.permutation(rows)).to(batch.actions_t.device)
            for part in torch.tensor_split(order, max(1, round(rows / self._config.minibatch))):
                yield batch.at(part)

    def _update(self, whole: Batch, clip: float) -> Tensor:
        advantages_t = normalised(whole.advantages_t) if self._config.normalise_advantages else whole.advantages_t
        own = whole._replace(advantages_t=advantages_t).at(self._processes.share)
        # Sums over this process's share; the mean over processes of these is the mean over all rows.
        scale = self._processes.size / len(whole.actions_t)
        terms = self._terms(own, clip).sum(dim=1) * scale
        weights = terms.new_tensor((1.0, self._config.value_weight, -self._config.entropy_weight))
        self.optimizer.zero_grad()
        (terms[:3] @ weights).backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        norm = self._clipped_norm()
        self.optimizer.step()
        self.updates += 1
        return torch.cat((terms.detach(), norm.reshape(1)))

    def _terms(self, own: Batch, clip: float) -> Tensor:
        """MEASURES by row, the last one apart."""
        logits, values_t = self._trained(own.observations_t)
        told = log_probabilities(logits, own.masks_t)
        chosen = told.gather(1, own.actions_t.unsqueeze(1)).squeeze(1)
        log_ratios_t = chosen - own.old_log_probabilities_t
        with torch.no_grad():
            clipped = ((log_ratios_t.exp() - 1.0).abs() > clip).to(values_t.dtype)
            kl = divergences(log_ratios_t)
        policy = clipped_losses(log_ratios_t, own.advantages_t, clip)
        value = value_losses(values_t, own.returns_t, own.old_values_t, self._config.value_clip)
        return torch.stack((policy, value, entropies(told), kl, clipped))

    def _clipped_norm(self) -> Tensor:
        norm = torch.nn.utils.clip_grad_norm_(self._parameters, self._config.gradient_clip)
        if not torch.isfinite(norm):
            raise WhetError("PPO has diverged: a gradient is not finite.", "Lower the learning rate, or open a save.")
        return norm
