"""Proximal policy optimisation (Schulman et al., 2017): improves a little, from what its present policy just met."""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor

from whet.core.errors import WhetError
from whet.policies.deep import artefacts, layout, ppo_saving
from whet.policies.deep.artefacts import Array
from whet.policies.deep.distributed import ALONE, Processes, choose_device
from whet.policies.deep.gae import Doubles, explained_variance, generalized_advantages
from whet.policies.deep.learning import Acts, Flags, Floats, Steps
from whet.policies.deep.ppo_config import Config
from whet.policies.deep.ppo_losses import log_probabilities
from whet.policies.deep.ppo_network import network_of
from whet.policies.deep.ppo_updates import Batch, Updater
from whet.policies.deep.reward_scale import RewardScale
from whet.policies.deep.rollout import Rollout


class PPO:
    """A `DeepLearner`. Equal seeds and calls give equal results, also when saved and opened in between (CPU).

    `learner.act` explores; `learner.values(...).argmax(axis=1)` is what it would do without.
    """

    def __init__(self, config: Config, seed: int = 0, processes: Processes = ALONE) -> None:
        self.config, self.seed, self.processes = config, seed, processes
        self.device = choose_device(config.device)
        self.updater = Updater(network_of(config, seed).to(self.device), config, processes)
        self.rollout = Rollout(config.layout, len(config.actions))
        self.rewards = RewardScale()
        self.steps, self.episodes, self.rollouts = 0, 0, 0  # of all processes
        self.random = self.random_for_rollout()

    @property
    def updates(self) -> int:
        return self.updater.updates

    def act(self, observations: Floats, masks: Flags) -> Acts:
        chances = np.exp(self.values(observations, masks).astype(np.float64))
        heights = chances.cumsum(axis=1)
        heights /= heights[:, -1:]  # ends at exactly 1, and what is drawn is below: something is always chosen
        actions = (heights > self.random.random((len(heights), 1))).argmax(axis=1)
        return Acts(actions, np.minimum(chances[np.arange(len(actions)), actions], 1.0).astype(np.float32))

    def learn(self, steps: Steps) -> Mapping[str, float]:
        """Improves when `rollout_steps` of each environment have come together; otherwise there is nothing to tell."""
        self.rollout.add(steps)
        self.steps += len(steps.actions) * self.processes.size
        self.episodes += int((steps.terminated | steps.truncated).sum())
        if len(self.rollout) < self.config.rollout_steps:
            return {}
        return self._improve()

    def values(self, observations: Floats, masks: Flags) -> Floats:
        """Logarithms of the probabilities with which `act` chooses; −inf where an action is not allowed."""
        layout.check(self.config.layout, len(self.config.actions), observations, masks)
        with torch.no_grad():
            logits = self.updater.network.actor(self._tensor(observations))
            told = log_probabilities(logits, self._tensor(masks)).cpu().numpy()
        if not np.isfinite(told).all():
            raise WhetError("The network's preferences are not finite: it has diverged.", "Lower the learning rate.")
        return np.asarray(np.where(masks, told, -np.inf), dtype=np.float32)

    def worth(self, observations: Floats) -> Floats:
        """What the critic expects from here on, discounted, in rewards as they were given."""
        any_mask = np.ones((len(observations), len(self.config.actions)), dtype=np.bool_)
        layout.check(self.config.layout, len(self.config.actions), observations, any_mask)
        scale = self.rewards.deviation if self.config.normalise_rewards else 1.0
        return np.asarray(self._criticised(observations) * scale, dtype=np.float32)

    def save(self, folder: Path) -> None:
        """Where several processes train together, one of them saves, between rollouts: the others have other steps."""
        if self.processes.size > 1 and len(self.rollout):
            raise WhetError("A rollout is under way in several processes.", "Save when learn has just told measures.")
        progress = ppo_saving.Progress(
            seed=self.seed,
            steps=self.steps,
            episodes=self.episodes,
            rollouts=self.rollouts,
            updates=self.updates,
            rewards=self.rewards,
            random=dict(self.random.bit_generator.state),
        )
        ppo_saving.save(folder, self.config, progress, self.updater, self.rollout)

    @classmethod
    def open(cls, folder: Path, processes: Processes = ALONE) -> Self:
        artefact, config, progress = ppo_saving.read(folder)
        learner = cls(config, progress.seed, processes)
        ppo_saving.restore(artefact, progress, learner.updater, learner.rollout)
        if processes.size > 1 and len(learner.rollout):
            artefacts.refuse(folder, "it was saved within a rollout of one process, and several are to go on")
        learner.steps, learner.episodes, learner.rollouts = progress.steps, progress.episodes, progress.rollouts
        learner.rewards, learner.random = progress.rewards, learner.random_for_rollout()
        if processes.rank == 0:
            learner.random.bit_generator.state = progress.random
        return learner

    def random_for_rollout(self) -> np.random.Generator:
        """Anew for each rollout, so that processes that open one save between rollouts go on as they would have."""
        return np.random.default_rng((self.seed, self.rollouts, 1 + self.processes.rank))  # 0 is for shuffling

    def _improve(self) -> dict[str, float]:
        own = self.rollout.stacked()
        steps = Steps(*(self.processes.together(column, self.device) for column in own))
        self.episodes += int((steps.terminated | steps.truncated).sum() - (own.terminated | own.truncated).sum())
        batch = self._batch(steps)
        told = {"explained_variance": explained_variance(*_doubles(batch.old_values_t, batch.returns_t))}
        told |= self.updater.improve(batch, self.steps, np.random.default_rng((self.seed, self.rollouts, 0)))
        self.rollouts += 1
        self.random = self.random_for_rollout()
        self.rollout.clear()
        return told | {
            "learning_rate": self.config.learning_rate.at(self.steps),
            "clip": self.config.clip.at(self.steps),
        }

    def _batch(self, steps: Steps) -> Batch:
        ended = steps.terminated | steps.truncated
        rewards = steps.rewards.astype(np.float64)
        if self.config.normalise_rewards:
            self.rewards = self.rewards.seen(rewards, ended, self.config.discount)
            rewards = self.rewards.scaled(rewards)
        values_t, values_tp1 = self._criticised(np.stack((steps.observations, steps.next_observations)))
        advantages_t, returns_t = generalized_advantages(
            rewards, values_t, values_tp1, steps.terminated, steps.truncated,
            self.config.discount, self.config.gae_lambda,
        )  # fmt: skip
        columns = (steps.observations, steps.masks, steps.actions, np.log(steps.probabilities))
        floats = (each.astype(np.float32) for each in (values_t, advantages_t, returns_t))
        return Batch(*(self._tensor(each).flatten(0, 1) for each in (*columns, *floats)))

    def _criticised(self, observations: Floats) -> Doubles:
        """In the rewards that are learned from, one value a row, whatever the shape of the rows."""
        with torch.no_grad():
            return np.asarray(
                self.updater.network.critic(self._tensor(observations)).squeeze(-1).double().cpu().numpy()
            )

    def _tensor(self, array: Array) -> Tensor:
        return torch.from_numpy(array).to(self.device)


def _doubles(*columns: Tensor) -> tuple[Doubles, ...]:
    return tuple(column.double().cpu().numpy() for column in columns)
