"""Many agents' networks improve as one computation: their parameters are stacked, and each product is one for all.

    together = Together(learners)   # DQNs of one config that have improved equally often
    if worth_batching(config.batch):
        together.improve()          # instead of one improvement of each

A learner's own parameters become views of the stack, so that acting and saving go on as before.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from whet.core.errors import RefusedInput
from whet.policies.deep.batched_network import batched_values
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_targets import double_q_targets, learning_rate

# Up to which batch one computation for 24 agents takes less time than 24, by benchmarks/batched_training.py.
LARGEST_WORTHWHILE_BATCH = 256
_MOMENTS = ("exp_avg", "exp_avg_sq")


def worth_batching(batch: int, learners: int = 24) -> bool:
    """Small products are mostly overhead, which the learners then share; large ones keep the processor busy alone."""
    return learners > 1 and batch <= LARGEST_WORTHWHILE_BATCH


class Together:
    """Learners that improve at the same time, with the result of each improving by itself (up to rounding)."""

    def __init__(self, learners: Sequence[DQN]) -> None:
        _refuse_unequal(learners)
        self.learners, self.config = list(learners), learners[0].config
        self.online = _stack([learner.online for learner in learners])
        self.target = _stack([learner.target for learner in learners])
        self._parameters = [each.requires_grad_() for each in self.online.values()]
        config = self.config
        self.optimizer = torch.optim.Adam(
            self._parameters, lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
        )
        self._steps = self._share_moments()

    def improve(self) -> list[dict[str, float]]:
        """One update of every network, each from its own replay; what was measured, one by one."""
        _refuse_unequal(self.learners)
        for learner in self.learners:
            learner.replay.anneal(min(1.0, learner.steps / self.config.anneal_steps))
        samples = [learner.replay.sample(self.config.batch) for learner in self.learners]
        batch = {
            name: torch.stack([torch.from_numpy(sample.columns[name]) for sample in samples])
            for name in samples[0].columns
        }
        weights = torch.stack([torch.from_numpy(sample.weights) for sample in samples])
        losses, errors = self.update(batch, weights)
        sizes = errors.abs().mean(dim=2).numpy()
        for learner, sample, size in zip(self.learners, samples, sizes, strict=True):
            learner.replay.update(sample.places, size)
        scale = self.config.reward_scale
        return [
            {"loss": float(loss), "td_error": float(size.mean()) / scale}
            for loss, size in zip(losses, sizes, strict=True)
        ]

    def update(self, batch: dict[str, Tensor], weights: Tensor) -> tuple[Tensor, Tensor]:
        """From K × B items with their weights; the losses, K, and the errors of the heads, K × B × heads."""
        errors = self._errors(batch)
        losses = (weights.unsqueeze(2) * batch["counts"] * errors.square()).mean(dim=(1, 2))
        # What one learner loses does not depend on another's parameters: the gradient of the sum is each one's own.
        self.optimizer.zero_grad()
        losses.sum().backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        clip_each(self._parameters, self.config.gradient_clip)
        self._step()
        return losses.detach(), errors.detach()

    def _errors(self, batch: dict[str, Tensor]) -> Tensor:
        with torch.no_grad():
            online_next, target_next = (
                self._values(parameters, batch["next_observation"]).flatten(0, 1)
                for parameters in (self.online, self.target)
            )
            rewards, discounts, masks = (batch[name].flatten(0, 1) for name in ("reward", "discount", "next_mask"))
            targets = double_q_targets(rewards, discounts, online_next, target_next, masks)
        values = self._values(self.online, batch["observation"])
        taken = batch["action"][:, :, None, None].expand(-1, -1, values.shape[2], 1)
        return values.gather(-1, taken).squeeze(-1) - targets.view(values.shape[:3])

    def _values(self, parameters: dict[str, Tensor], rows: Tensor) -> Tensor:
        return batched_values(parameters, self.config.layout, self.config.network, rows)

    def _step(self) -> None:
        config, updates = self.config, self.learners[0].updates
        cycles = (config.restart_updates, config.restart_factor, config.lowest_rate)
        self.optimizer.param_groups[0]["lr"] = learning_rate(updates, config.learning_rate, *cycles)
        self.optimizer.step()
        torch._foreach_lerp_(list(self.target.values()), self._parameters, config.target_rate)
        torch._foreach_add_(self._steps, 1.0)
        for learner in self.learners:
            learner.updates += 1

    def _share_moments(self) -> list[Tensor]:
        """What each learner's Adam remembers becomes part of the stack too; its counts of steps are given back."""
        counts: list[Tensor] = []
        parameters = [dict(learner.online.named_parameters()) for learner in self.learners]
        for name, stacked in self.online.items():
            mine = [own[name] for own in parameters]
            shared = self._moments(mine)
            state = {"step": torch.tensor(float(self.learners[0].updates)), **shared}
            self.optimizer.state[stacked] = state
            for place, (learner, parameter) in enumerate(zip(self.learners, mine, strict=True)):
                views = {moment: shared[moment][place] for moment in _MOMENTS}
                learner.optimizer.state[parameter] = {"step": state["step"].clone(), **views}
                counts.append(learner.optimizer.state[parameter]["step"])
        return counts

    def _moments(self, parameters: Sequence[nn.Parameter]) -> dict[str, Tensor]:
        known = [learner.optimizer.state.get(p, {}) for learner, p in zip(self.learners, parameters, strict=True)]
        return {
            moment: torch.stack([k.get(moment, torch.zeros_like(p)) for k, p in zip(known, parameters, strict=True)])
            for moment in _MOMENTS
        }


def clip_each(parameters: Sequence[Tensor], largest: float) -> Tensor:
    """As `clip_grad_norm_` for each learner by itself; the norms before."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    norms: Tensor = torch.stack([torch.linalg.vector_norm(g.flatten(1), dim=1) for g in gradients]).norm(dim=0)
    factors = (largest / (norms + 1e-6)).clamp(max=1.0)
    if (factors < 1.0).any():
        for gradient in gradients:
            gradient.mul_(factors.view(-1, *[1] * (gradient.ndim - 1)))
    return norms


def _stack(networks: Sequence[nn.Module]) -> dict[str, Tensor]:
    """Parameters by name, learners first. Those of the networks become views of them."""
    parameters = [dict(network.named_parameters()) for network in networks]
    stacked = {name: torch.stack([p[name].detach() for p in parameters]) for name in parameters[0]}
    for place, own in enumerate(parameters):
        for name, parameter in own.items():
            parameter.data = stacked[name][place]
    return stacked


def _refuse_unequal(learners: Sequence[DQN]) -> None:
    if len({learner.config.model_dump_json() for learner in learners}) != 1:
        raise RefusedInput("These learners cannot improve together.", "Give at least one, all with the same config.")
    if len({learner.updates for learner in learners}) != 1:
        raise RefusedInput(
            "These learners have not improved equally often, and share one schedule.",
            "Let each improve by itself, or put them together from the beginning.",
        )
