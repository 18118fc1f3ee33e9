"""Many agents' networks improve as one computation: their parameters are stacked, and each product is one for all.

    together = Together(learners)   # DQNs that learn alike and have improved equally often
    if worth_batching(config.batch):
        together.improve()          # instead of one improvement of each

Their layouts and actions may differ. A learner's own parameters become views of the stack, so that acting and saving
go on as before.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from whet.core.errors import RefusedInput
from whet.policies.deep.batched_network import batched_values
from whet.policies.deep.batched_shapes import Shapes, own_part, stacked
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_targets import double_q_targets, learning_rate

# Up to which batch one computation for 24 agents takes less time than 24, by benchmarks/batched_training.py.
LARGEST_WORTHWHILE_BATCH = 256
_MOMENTS = ("exp_avg", "exp_avg_sq")


def worth_batching(batch: int, learners: int = 24) -> bool:
    """Small products are mostly overhead, which the learners then share; large ones keep the processor busy alone."""
    return learners > 1 and batch <= LARGEST_WORTHWHILE_BATCH


class Update(NamedTuple):
    """What one update of all measured. K: learners, B: items."""

    losses: Tensor  # K
    chosen: Tensor  # K × B × heads: what the actions taken are thought to be worth
    errors: Tensor  # K × B × heads
    norms: Tensor  # K, of the gradients before clipping
    rate: float


class Together:
    """Learners that improve at the same time, with the result of each improving by itself (up to rounding)."""

    def __init__(self, learners: Sequence[DQN]) -> None:
        refuse_unequal(learners)
        self.learners, self.config = list(learners), learners[0].config
        self.shapes = Shapes.of([learner.config for learner in learners])
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
        _refuse_uneven(self.learners)
        for learner in self.learners:
            learner.replay.anneal(min(1.0, learner.steps / self.config.anneal_steps))
        samples = [learner.replay.sample(self.config.batch) for learner in self.learners]
        batch = {
            name: stacked([torch.from_numpy(sample.columns[name]) for sample in samples]) for name in samples[0].columns
        }
        weights = torch.stack([torch.from_numpy(sample.weights) for sample in samples])
        update = self.update(batch, weights)
        sizes = update.errors.abs().mean(dim=2).numpy()
        for learner, sample, size in zip(self.learners, samples, sizes, strict=True):
            learner.replay.update(sample.places, size)
        return [self._told(place, update, float(size.mean())) for place, size in enumerate(sizes)]

    def _told(self, place: int, update: "Update", error: float) -> dict[str, float]:
        """As `DQN.improve` tells."""
        learner = self.learners[place]
        scale = learner.config.reward_scale
        return {
            "loss": float(update.losses[place]),
            "q_value": float(update.chosen[place].mean()) / scale,
            "td_error": error / scale,
            "gradient_norm": float(update.norms[place]),
            "learning_rate": update.rate,
            "beta": learner.replay.beta,
        }

    def update(self, batch: dict[str, Tensor], weights: Tensor) -> "Update":
        """From K × B items with their weights."""
        chosen, errors = self._errors(batch)
        losses = (weights.unsqueeze(2) * batch["counts"] * errors.square()).mean(dim=(1, 2))
        # What one learner loses does not depend on another's parameters: the gradient of the sum is each one's own.
        self.optimizer.zero_grad()
        losses.sum().backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        norms = clip_each(self._parameters, self.config.gradient_clip)
        return Update(losses.detach(), chosen.detach(), errors.detach(), norms, self._step())

    def _errors(self, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            online_next, target_next = (
                self._values(parameters, batch["next_observation"]).flatten(0, 1)
                for parameters in (self.online, self.target)
            )
            rewards, discounts, masks = (batch[name].flatten(0, 1) for name in ("reward", "discount", "next_mask"))
            targets = double_q_targets(rewards, discounts, online_next, target_next, masks)
        values = self._values(self.online, batch["observation"])
        taken = batch["action"][:, :, None, None].expand(-1, -1, values.shape[2], 1)
        chosen = values.gather(-1, taken).squeeze(-1)
        return chosen, chosen - targets.view(values.shape[:3])

    def _values(self, parameters: dict[str, Tensor], rows: Tensor) -> Tensor:
        return batched_values(parameters, self.shapes, self.config.network, rows)

    def _step(self) -> float:
        config, updates = self.config, self.learners[0].updates
        cycles = (config.restart_updates, config.restart_factor, config.lowest_rate)
        rate = learning_rate(updates, config.learning_rate, *cycles)
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.step()
        torch._foreach_lerp_(list(self.target.values()), self._parameters, config.target_rate)
        torch._foreach_add_(self._steps, 1.0)
        for learner in self.learners:
            learner.updates += 1
        return rate

    def _share_moments(self) -> list[Tensor]:
        """What each learner's Adam remembers becomes part of the stack too; its counts of steps are given back."""
        counts: list[Tensor] = []
        parameters = [dict(learner.online.named_parameters()) for learner in self.learners]
        for name, stack in self.online.items():
            mine = [own[name] for own in parameters]
            shared = self._moments(mine)
            state = {"step": torch.tensor(float(self.learners[0].updates)), **shared}
            self.optimizer.state[stack] = state
            for place, (learner, parameter) in enumerate(zip(self.learners, mine, strict=True)):
                if not parameter.is_contiguous():  # the fused Adam would write into the room between its numbers
                    learner.optimizer.param_groups[0]["fused"] = False
                views = {moment: own_part(shared[moment], place, parameter.shape) for moment in _MOMENTS}
                learner.optimizer.state[parameter] = {"step": state["step"].clone(), **views}
                counts.append(learner.optimizer.state[parameter]["step"])
        return counts

    def _moments(self, parameters: Sequence[nn.Parameter]) -> dict[str, Tensor]:
        known = [learner.optimizer.state.get(p, {}) for learner, p in zip(self.learners, parameters, strict=True)]
        return {
            moment: stacked([k.get(moment, torch.zeros_like(p)) for k, p in zip(known, parameters, strict=True)])
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
    stacks = {name: stacked([p[name].detach() for p in parameters]) for name in parameters[0]}
    for place, own in enumerate(parameters):
        for name, parameter in own.items():
            parameter.data = own_part(stacks[name], place, parameter.shape)
    return stacks


def refuse_unequal(learners: Sequence[DQN]) -> None:
    """What may differ is the layout without memories, the actions, and the size of the rewards."""
    configs = [learner.config for learner in learners]
    alike = {config.model_dump_json(exclude={"layout", "actions", "reward_scale"}) for config in configs}
    layouts = {config.layout.model_dump_json(exclude={"digest"}) for config in configs}
    attending = {config.layout.attended > 1 for config in configs}
    recalling = len(layouts) > 1 and any(config.layout.memories for config in configs)
    if len(alike) != 1 or len(attending) != 1 or recalling:
        raise RefusedInput(
            "These learners cannot improve together.",
            "Give at least one, all with the same config but for layouts without memories, actions and reward_scale.",
        )
    _refuse_uneven(learners)


def _refuse_uneven(learners: Sequence[DQN]) -> None:
    if len({learner.updates for learner in learners}) != 1:
        raise RefusedInput(
            "These learners have not improved equally often, and share one schedule.",
            "Let each improve by itself, or put them together from the beginning.",
        )
