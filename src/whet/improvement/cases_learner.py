"""PPO for choosing among candidates: one and the same network judges each of them, so that places do not matter."""

import numpy as np
import torch
from torch import Tensor, nn

from whet.improvement.cases_environment import CANDIDATES, TOLD, layout
from whet.policies.deep.distributed import ALONE, Processes
from whet.policies.deep.learning import Floats
from whet.policies.deep.ppo import PPO
from whet.policies.deep.ppo_config import Config, Linear
from whet.policies.deep.ppo_network import ActorCritic
from whet.policies.deep.ppo_updates import Updater


class CandidatePPO(PPO):
    """As PPO in all but the network."""

    def __init__(self, config: Config, seed: int = 0, processes: Processes = ALONE) -> None:
        super().__init__(config, seed, processes)
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(seed)
            network = CandidateNetwork(config)
        self.updater = Updater(network.to(self.device), config, processes)

    def scores(self, observation: Floats) -> Floats:
        """Of every candidate of one observation, however many there are: each is judged by itself."""
        with torch.no_grad():
            return np.asarray(self.updater.network.actor(self._tensor(observation)).cpu().numpy())


class CandidateNetwork(ActorCritic):
    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.actor = nn.Sequential(_Tokens(config), _Scores(config))
        self.critic = nn.Sequential(_Tokens(config), _Worth(config))


class _Tokens(nn.Module):
    """Each candidate, seen together with the sitting so far: B × candidates × hidden."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self._width = config.layout.width
        self.candidate = nn.Linear(config.layout.width, config.hidden[0])
        self.sitting = nn.Linear(config.layout.width, config.hidden[0], bias=False)

    def forward(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        tokens = rows.reshape(*rows.shape[:-1], -1, self._width)
        sitting = tokens[..., :1, :]
        return torch.tanh(self.candidate(tokens[..., 1:, :]) + self.sitting(sitting)), sitting.squeeze(-2)


class _Scores(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.hidden = nn.Linear(config.hidden[0], config.hidden[1])
        self.score = nn.Linear(config.hidden[1], 1)
        nn.init.orthogonal_(self.score.weight, 0.01)  # begins nearly even, as PPO's own actor does

    def forward(self, seen: tuple[Tensor, Tensor]) -> Tensor:
        score: Tensor = self.score(torch.tanh(self.hidden(seen[0])))
        return score.squeeze(-1)


class _Worth(nn.Module):
    """From how the sitting goes, and from how promising the candidates look, as two numbers: with all their features it
    would remember the cases it was trained on, and know nothing of others."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.promise = nn.Linear(config.hidden[0], 1)
        self.hidden = nn.Linear(2 + TOLD, config.hidden[1])
        self.worth = nn.Linear(config.hidden[1], 1)

    def forward(self, seen: tuple[Tensor, Tensor]) -> Tensor:
        promise = torch.sigmoid(self.promise(seen[0])).squeeze(-1)
        told = torch.cat((promise.mean(-1, True), promise.amax(-1, True), seen[1][..., -TOLD:]), dim=-1)
        worth: Tensor = self.worth(torch.tanh(self.hidden(told)))
        return worth


def new_learner(steps: int, seed: int, candidates: int = CANDIDATES) -> CandidatePPO:
    """`steps`: how long it will be trained; its learning rate falls to zero until then."""
    config = Config(
        layout=layout(candidates), actions=tuple(f"candidate {number}" for number in range(1, candidates + 1)),
        rollout_steps=64, epochs=8, minibatch=256, discount=0.97, entropy_weight=0.01,
        learning_rate=Linear(first=1e-3, last=1e-4, steps=steps), device="cpu",
    )  # fmt: skip
    return CandidatePPO(config, seed)
