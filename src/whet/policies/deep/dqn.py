"""Deep Q-learning: dueling and double, from a prioritized replay, with an ensemble of heads to know its doubts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor

from whet.core.errors import WhetError
from whet.policies.deep import dqn_artefact, dqn_saving, layout
from whet.policies.deep.distributed import choose_device
from whet.policies.deep.dqn_config import Config
from whet.policies.deep.dqn_targets import double_q_targets, epsilon, learning_rate, weighted_loss
from whet.policies.deep.learning import Acts, Flags, Floats, Steps
from whet.policies.deep.networks import network_of
from whet.policies.deep.replay import Column, Replay, Schema


class DQN:
    """A `DeepLearner`. Equal seeds and calls give equal results, also when saved and opened in between (CPU).

    `learner.act` explores; `learner.values(...).argmax(axis=1)` is what it would do without.
    """

    def __init__(self, config: Config, seed: int = 0) -> None:
        self.config, self.device = config, choose_device(config.device)
        self.online, self.target = (network_of(config, seed).to(self.device) for _ in range(2))
        self.target.requires_grad_(False)
        self._parameters: list[Tensor] = list(self.online.parameters())
        self._targets: list[Tensor] = list(self.target.parameters())
        self.optimizer = torch.optim.Adam(
            self._parameters, lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
        )
        self.replay = Replay(schema_of(config), config.capacity, seed, alpha=config.alpha, beta=config.beta)
        self.random = np.random.default_rng(seed)
        self.steps, self.updates = 0, 0

    @property
    def epsilon(self) -> float:
        config = self.config
        return epsilon(self.steps, config.epsilon, config.epsilon_floor, config.epsilon_decay)

    def act(self, observations: Floats, masks: Flags) -> Acts:
        """The best with 1 − ε, any of the allowed with ε."""
        greedy = self.values(observations, masks).argmax(axis=1)
        explores, drawn = self.random.random((2, len(greedy)))
        allowed = masks.sum(axis=1)
        any_allowed = (masks.cumsum(axis=1) > (drawn * allowed).astype(np.int64)[:, None]).argmax(axis=1)
        actions = np.where(explores < self.epsilon, any_allowed, greedy)
        chances = self.epsilon / allowed + (1.0 - self.epsilon) * (actions == greedy)
        return Acts(actions, chances.astype(np.float32))

    def learn(self, steps: Steps) -> Mapping[str, float]:
        """Remembers, and improves whenever another `steps_per_round` steps have passed."""
        return self.told([self.improve() for _ in range(self.take_in(steps))])

    def take_in(self, steps: Steps) -> int:
        """Remembers only; how many improvements are due now. Who trains several learners does those of all at once."""
        self.remember(steps)
        before, self.steps = self.steps, self.steps + len(steps.actions)
        if self.steps < self.config.warm_up_steps:
            return 0
        every = self.config.steps_per_round
        return (self.steps // every - before // every) * self.config.updates_per_round

    def remember(self, steps: Steps) -> None:
        """What others lived through, say: it is learned from, and does not count as a step."""
        config, rows = self.config, len(steps.actions)
        layout.check(config.layout, len(config.actions), steps.observations, steps.masks)
        layout.check_actions(steps.actions, steps.masks)
        next_masks = steps.next_masks | steps.terminated[:, None]  # nothing is chosen after the end
        layout.check(config.layout, len(config.actions), steps.next_observations, next_masks)
        counts = (
            self.random.poisson(1.0, (rows, config.network.heads)) if config.network.heads > 1 else np.ones((rows, 1))
        )
        self.replay.add(
            {
                "observation": steps.observations,
                "action": steps.actions,
                "reward": steps.rewards * np.float32(config.reward_scale),
                "discount": np.where(steps.terminated, 0.0, config.discount).astype(np.float32),
                "next_observation": steps.next_observations,
                "next_mask": next_masks,
                "counts": counts.astype(np.uint8),
            }
        )

    def told(self, improvements: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
        """What `learn` tells: the means of what these improvements measured."""
        names = improvements[0] if improvements else ()
        means = {name: float(np.mean([each[name] for each in improvements])) for name in names}
        return {"epsilon": self.epsilon, **means}

    def improve(self) -> dict[str, float]:
        """One update of the network from one sample of the replay."""
        config = self.config
        self.replay.anneal(min(1.0, self.steps / config.anneal_steps))
        sample = self.replay.sample(config.batch)
        batch = {name: torch.from_numpy(column).to(self.device) for name, column in sample.columns.items()}
        chosen, errors = self._errors(batch)
        loss = weighted_loss(errors, torch.from_numpy(sample.weights).to(self.device), batch["counts"])
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        norm = torch.nn.utils.clip_grad_norm_(self._parameters, config.gradient_clip)
        rate = self._step()
        sizes = errors.detach().abs().mean(dim=1).cpu().numpy()
        self.replay.update(sample.places, sizes)
        return {
            "loss": loss.item(),
            "q_value": float(chosen.detach().mean()) / config.reward_scale,
            "td_error": float(sizes.mean()) / config.reward_scale,
            "gradient_norm": float(norm),
            "learning_rate": rate,
            "beta": self.replay.beta,
        }

    def values(self, observations: Floats, masks: Flags) -> Floats:
        """In rewards as they were given, the mean of the heads; −inf where an action is not allowed."""
        return np.asarray(np.where(masks, self.values_by_head(observations, masks).mean(axis=1), -np.inf))

    def values_by_head(self, observations: Floats, masks: Flags) -> Floats:
        """Observations × heads × actions; where the heads agree, the learner is sure."""
        layout.check(self.config.layout, len(self.config.actions), observations, masks)
        with torch.no_grad():
            values = self.online(torch.from_numpy(observations).to(self.device)).cpu().numpy()
        if not np.isfinite(values).all():
            raise WhetError("The network's values are not finite: it has diverged.", "Lower the learning rate.")
        return np.asarray(values / self.config.reward_scale, dtype=np.float32)

    def save(self, folder: Path) -> None:
        dqn_saving.save(self, folder)

    @classmethod
    def open(cls, folder: Path) -> Self:
        artefact, config = dqn_artefact.read(folder)
        learner = cls(config)
        dqn_saving.restore(learner, artefact)
        return learner

    def _errors(self, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """What the actions taken are thought to be worth, and how far that is off: B × heads each."""
        with torch.no_grad():
            targets = double_q_targets(
                batch["reward"],
                batch["discount"],
                self.online(batch["next_observation"]),
                self.target(batch["next_observation"]),
                batch["next_mask"],
            )
        values = self.online(batch["observation"])
        taken = batch["action"][:, None, None].expand(-1, values.shape[1], 1)
        chosen = values.gather(-1, taken).squeeze(-1)
        return chosen, chosen - targets

    def _step(self) -> float:
        config = self.config
        cycles = (config.restart_updates, config.restart_factor, config.lowest_rate)
        rate = learning_rate(self.updates, config.learning_rate, *cycles)
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.step()
        torch._foreach_lerp_(self._targets, self._parameters, config.target_rate)
        self.updates += 1
        return rate


def schema_of(config: Config) -> Schema:
    row, actions = (config.layout.size,), (len(config.actions),)
    return Schema(
        (
            Column("observation", "float32", row),
            Column("action", "int64"),
            Column("reward", "float32"),
            Column("discount", "float32"),
            Column("next_observation", "float32", row),
            Column("next_mask", "bool", actions),
            Column("counts", "uint8", (config.network.heads,)),
        )
    )
