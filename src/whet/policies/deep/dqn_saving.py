"""A DQN in a folder: its networks, what Adam remembers, its replay, and where its random numbers stand."""

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from pydantic import ValidationError, field_validator
from torch import nn

from whet.core.records import Count, Record
from whet.policies.deep import artefacts
from whet.policies.deep.artefacts import Artefact
from whet.policies.deep.dqn_artefact import KIND
from whet.policies.deep.dqn_config import Config
from whet.policies.deep.replay import Replay
from whet.policies.deep.replay.standing import generator

REPLAY = "replay"
_MOMENTS = ("exp_avg", "exp_avg_sq")


class Progress(Record):
    """How far a DQN has come, and where its random numbers stand."""

    steps: Count
    updates: Count
    random: dict[str, Any]

    @field_validator("random")
    @classmethod
    def _is_a_state(cls, random: dict[str, Any]) -> dict[str, Any]:
        try:
            generator(random)
        except (KeyError, TypeError, OverflowError) as error:
            raise ValueError(f"no state of a random generator ({error})") from error
        return random


class Learner(Protocol):
    """What there is to save of a DQN."""

    steps: int
    updates: int
    replay: Replay
    random: np.random.Generator

    @property
    def config(self) -> Config: ...
    @property
    def online(self) -> nn.Module: ...
    @property
    def target(self) -> nn.Module: ...
    @property
    def optimizer(self) -> torch.optim.Optimizer: ...


def save(learner: Learner, folder: Path) -> None:
    place = artefacts.begin(folder)
    learner.replay.save(place / REPLAY)
    random = dict(learner.random.bit_generator.state)
    progress = Progress(steps=learner.steps, updates=learner.updates, random=random).model_dump()
    tensors = {name: tensor.detach().cpu().numpy() for name, tensor in _tensors(learner).items()}
    artefacts.finish(place, KIND, learner.config, progress, tensors)


def restore(learner: Learner, artefact: Artefact) -> None:
    progress = _progress(artefact)
    learner.steps, learner.updates, learner.random = progress.steps, progress.updates, generator(progress.random)
    if learner.updates:
        _begin_moments(learner)
    into = _tensors(learner)
    artefact.require_shapes({name: tuple(tensor.shape) for name, tensor in into.items()})
    with torch.no_grad():
        for name, tensor in into.items():
            tensor.copy_(torch.from_numpy(artefact.tensors[name]))
    replay = Replay.open(artefact.folder / REPLAY)
    if (replay.schema, replay.capacity) != (learner.replay.schema, learner.replay.capacity):
        artefacts.refuse(artefact.folder / REPLAY, "it is the replay of another learner")
    learner.replay = replay


def _progress(artefact: Artefact) -> Progress:
    try:
        return Progress.model_validate(artefact.manifest.progress)
    except ValidationError as error:
        artefacts.refuse(artefact.path, f"what it tells of its progress is damaged ({error.errors()[0]['msg']})")


def _tensors(learner: Learner) -> dict[str, torch.Tensor]:
    """Everything that learning changes, by name; a tensor here is the learner's own, not a copy."""
    named: dict[str, torch.Tensor] = {f"online.{name}": tensor for name, tensor in learner.online.named_parameters()}
    named |= {f"target.{name}": tensor for name, tensor in learner.target.named_parameters()}
    for name, parameter in learner.online.named_parameters():
        state = learner.optimizer.state.get(parameter, {})
        # Before the first update there is nothing to remember, also where a stack of learners has made room for it.
        named |= {f"adam.{moment}.{name}": state[moment] for moment in _MOMENTS if learner.updates}
    return named


def _begin_moments(learner: Learner) -> None:
    """As Adam itself begins: it makes its moments at the first step, and here they must be there to be filled."""
    for parameter in learner.online.parameters():
        step = torch.tensor(float(learner.updates), device=parameter.device)
        moments: dict[str, Any] = {name: torch.zeros_like(parameter) for name in _MOMENTS}
        learner.optimizer.state[parameter] = {"step": step, **moments}
