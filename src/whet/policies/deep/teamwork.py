"""Agents that decide together: each sees a learned message of the others, and learns from its own part of the reward.

    team = Team(TeamConfig(agents=2, width=4, actions=4), seed=1)
    actions = team.act(observations)                  # B × agents, of observations B × agents × width
    team.learn(observations, actions, shares)         # B × agents: `difference_credits`, or all of it for each

A message is what an agent's network says of its own observation; the others' gradients teach it what is worth saying
(CommNet, Sukhbaatar et al., 2016). Without messages, and with all of the reward for each, they are independent
learners.
"""

from typing import Annotated

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from whet.core.records import Record
from whet.policies.deep.credit import Credits
from whet.policies.deep.dqn_config import Number, Positive, Size
from whet.policies.deep.learning import Floats, Whole


class TeamConfig(Record):
    agents: Size
    width: Size = Field(description="numbers in one agent's observation")
    actions: Size
    message: Annotated[int, Field(ge=0, le=4096)] = Field(
        8, description="numbers in a message; 0: nobody says anything"
    )
    hidden: Size = 32
    learning_rate: Positive = 0.01
    entropy: Annotated[float, Field(ge=0.0)] = Field(0.02, description="how much trying out is rewarded")
    baseline_rate: Positive = 0.05
    batch: Number = 32


class TeamNetwork(nn.Module):
    """Observations, B × agents × width, become preferences, B × agents × actions. Every agent has its own weights."""

    def __init__(self, config: TeamConfig) -> None:
        super().__init__()
        self.config, heard = config, config.message if config.agents > 1 else 0
        self.speak = _Each(config.agents, config.width, heard) if heard else None
        self.think = _Each(config.agents, config.width + heard, config.hidden)
        self.decide = _Each(config.agents, config.hidden, config.actions)

    def forward(self, observations: Tensor) -> Tensor:
        told = observations
        if self.speak is not None:
            said = torch.tanh(self.speak(observations))
            others = (said.sum(dim=1, keepdim=True) - said) / (self.config.agents - 1)
            told = torch.cat((observations, others), dim=-1)
        preferences: Tensor = self.decide(torch.relu(self.think(told)))
        return preferences


class _Each(nn.Module):
    """A linear layer for each agent, computed at once."""

    def __init__(self, agents: int, wide: int, out: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.empty(agents, wide, out).uniform_(-1.0, 1.0) / wide**0.5)
        self.offsets = nn.Parameter(torch.zeros(agents, out))

    def forward(self, rows: Tensor) -> Tensor:
        return torch.einsum("baw,awo->bao", rows, self.weights) + self.offsets


class Team:
    """Policy gradient (Williams, 1992), for each agent with its own credit. Deterministic by its seed."""

    def __init__(self, config: TeamConfig, seed: int) -> None:
        self.config, self.random = config, np.random.default_rng(seed)
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(seed)
            self.network = TeamNetwork(config)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=config.learning_rate)
        self.baseline = np.zeros(config.agents)

    def probabilities(self, observations: Floats) -> Floats:
        with torch.no_grad():
            told: Floats = self.network(torch.from_numpy(observations)).softmax(dim=-1).numpy()
        return told

    def act(self, observations: Floats) -> Whole:
        """Drawn, by every agent for itself."""
        reached = self.probabilities(observations).cumsum(axis=-1)
        drawn = self.random.random((*reached.shape[:2], 1)) * reached[..., -1:]
        return np.asarray((reached <= drawn).sum(axis=-1))

    def best(self, observations: Floats) -> Whole:
        return np.asarray(self.probabilities(observations).argmax(axis=-1))

    def learn(self, observations: Floats, actions: Whole, shares: Credits) -> float:
        """One step up the gradient of what each agent's choice brought beyond what it is used to; the mean entropy."""
        beyond = torch.from_numpy((shares - self.baseline).astype(np.float32))
        self.baseline += self.config.baseline_rate * (shares.mean(axis=0) - self.baseline)
        logs = self.network(torch.from_numpy(observations)).log_softmax(dim=-1)
        taken = logs.gather(-1, torch.from_numpy(actions).unsqueeze(-1)).squeeze(-1)
        entropy = -(logs.exp() * logs).sum(dim=-1)
        loss = -(taken * beyond + self.config.entropy * entropy).sum(dim=1).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return float(entropy.detach().mean())
