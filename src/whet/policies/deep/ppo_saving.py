"""PPO in a folder: its network, what Adam remembers, the rollout under way, and where its random numbers stand."""

from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError

from whet.core.errors import RefusedInput
from whet.core.records import Count, Record
from whet.policies.deep import artefacts
from whet.policies.deep.artefacts import Artefact
from whet.policies.deep.ppo_config import Config
from whet.policies.deep.ppo_updates import Updater
from whet.policies.deep.reward_scale import RewardScale
from whet.policies.deep.rollout import Rollout

KIND = "ppo"
_ROLLOUT, _MOMENTS = "rollout.", ("exp_avg", "exp_avg_sq")


class Progress(Record):
    """What is needed to go on, beside the tensors."""

    seed: Count
    steps: Count
    episodes: Count
    rollouts: Count
    updates: Count
    rewards: RewardScale
    random: dict[str, Any]


def save(folder: Path, config: Config, progress: Progress, updater: Updater, rollout: Rollout) -> None:
    tensors = {name: tensor.detach().cpu().numpy() for name, tensor in _tensors(updater).items()}
    tensors |= {_ROLLOUT + name: column for name, column in rollout.columns().items()}
    artefacts.finish(artefacts.begin(folder), KIND, config, progress.model_dump(mode="json"), tensors)


def read(folder: Path) -> tuple[Artefact, Config, Progress]:
    artefact = artefacts.read(folder, KIND)
    try:
        config = Config.model_validate(artefact.manifest.config)
        return artefact, config, Progress.model_validate(artefact.manifest.progress)
    except ValidationError as error:
        artefacts.refuse(folder / artefacts.NAME, f"it is none of PPO ({error.errors()[0]['msg']})")


def restore(artefact: Artefact, progress: Progress, updater: Updater, rollout: Rollout) -> None:
    updater.updates = progress.updates
    if progress.updates:
        _begin_moments(updater)
    into = _tensors(updater)
    kept = {name: tensor for name, tensor in artefact.tensors.items() if not name.startswith(_ROLLOUT)}
    artefact._replace(tensors=kept).require_shapes({name: tuple(tensor.shape) for name, tensor in into.items()})
    with torch.no_grad():
        for name, tensor in into.items():
            tensor.copy_(torch.from_numpy(kept[name]))
    columns = {name.removeprefix(_ROLLOUT): artefact.tensors[name] for name in artefact.tensors.keys() - kept.keys()}
    try:
        rollout.restore(columns)
    except (RefusedInput, KeyError, ValueError) as error:
        artefacts.refuse(artefact.path, f"its rollout is none ({error})")


def _tensors(updater: Updater) -> dict[str, torch.Tensor]:
    """Everything that updates change, by name; a tensor here is the learner's own, not a copy."""
    named: dict[str, torch.Tensor] = dict(updater.network.named_parameters())
    for name, parameter in updater.network.named_parameters():
        state = updater.optimizer.state.get(parameter, {})
        named |= {f"adam.{moment}.{name}": state[moment] for moment in _MOMENTS if state}
    return named


def _begin_moments(updater: Updater) -> None:
    """As Adam itself begins: it makes its moments at the first step, and here they must be there to be filled."""
    for parameter in updater.network.parameters():
        step = torch.tensor(float(updater.updates), device=parameter.device)
        moments = {name: torch.zeros_like(parameter) for name in _MOMENTS}
        updater.optimizer.state[parameter] = {"step": step, **moments}
