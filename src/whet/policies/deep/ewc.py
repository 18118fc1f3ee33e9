"""Elastic weight consolidation: what mattered for earlier tasks may hardly move (Kirkpatrick et al., 2017).

    memory = Consolidation()
    memory.consolidate(network, rows, masks)   # after a task, with its observations
    with memory.guard(network):                # while the next one is learned, by any optimiser and from any loss
        learner.learn(steps)

The penalty is λ/2 · Σ F (θ − θ*)², F the diagonal of the Fisher information of what the network told about the old
data. For values, taken as means of normal distributions of variance 1, that is the mean square of their derivatives.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self

import torch
from pydantic import ValidationError
from torch import Tensor, nn

from whet.core.errors import RefusedInput
from whet.core.records import Record
from whet.policies.deep import artefacts

IMPORTANCE = 1000.0


_KIND = "consolidation"
_PARTS = ("parameters", "fisher")


class _Config(Record):
    importance: float
    anchors: int


class Anchor(NamedTuple):
    """One task that is not to be forgotten, by the names of the parameters."""

    parameters: dict[str, Tensor]
    fisher: dict[str, Tensor]


class Consolidation:
    """Every task adds an anchor of its own."""

    def __init__(self, importance: float = IMPORTANCE) -> None:
        self.importance = importance
        self.anchors: list[Anchor] = []

    def consolidate(self, network: nn.Module, rows: Tensor, masks: Tensor) -> None:
        """Remembers the network as it is now, and which of its parameters the values of these rows depend on."""
        kept = {name: parameter.detach().clone() for name, parameter in network.named_parameters()}
        self.anchors.append(Anchor(kept, fisher(network, rows, masks)))

    def penalty(self, network: nn.Module) -> Tensor:
        """What is to be added to the loss."""
        total = torch.zeros(())
        for anchor in self.anchors:
            for name, parameter in network.named_parameters():
                total = total + (anchor.fisher[name] * (parameter - anchor.parameters[name]).square()).sum()
        return self.importance / 2.0 * total

    @contextmanager
    def guard(self, network: nn.Module) -> Iterator[None]:
        """Adds the gradient of the penalty, λ F (θ − θ*), to that of whatever loss is minimised meanwhile."""
        hooks = [
            p.register_hook(lambda g, n=n, p=p: g + self._pull(n, p.detach()))  # type: ignore[no-untyped-call]  # torch's
            for n, p in network.named_parameters()
        ]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    def save(self, folder: Path) -> None:
        place = artefacts.begin(folder)
        tensors = {
            f"{number}.{part}.{name}": tensor.cpu().numpy()
            for number, anchor in enumerate(self.anchors)
            for part, named in zip(_PARTS, anchor, strict=True)
            for name, tensor in named.items()
        }
        artefacts.finish(place, _KIND, _Config(importance=self.importance, anchors=len(self.anchors)), {}, tensors)

    @classmethod
    def open(cls, folder: Path) -> Self:
        artefact = artefacts.read(folder, _KIND)
        try:
            config = _Config.model_validate(artefact.manifest.config)
        except ValidationError as error:
            told = error.errors()[0]["msg"]
            artefacts.refuse(folder / artefacts.NAME, f"its config is none of a consolidation ({told})")
        memory = cls(config.importance)
        for number in range(config.anchors):
            starts = [f"{number}.{part}." for part in _PARTS]
            memory.anchors.append(Anchor(*(_named(artefact.tensors, start) for start in starts)))
        return memory

    def require_fit(self, network: nn.Module) -> None:
        """What was kept of another network cannot hold this one."""
        shapes = {name: parameter.shape for name, parameter in network.named_parameters()}
        for anchor in self.anchors:
            for part in anchor:
                if {name: tensor.shape for name, tensor in part.items()} != shapes:
                    raise RefusedInput("What was kept is of another network.", "Train anew, without keeping it.")

    def _pull(self, name: str, parameter: Tensor) -> Tensor:
        pull = torch.zeros_like(parameter)
        for anchor in self.anchors:
            pull += anchor.fisher[name] * (parameter - anchor.parameters[name])
        return self.importance * pull


def _named(tensors: Mapping[str, artefacts.Array], start: str) -> dict[str, Tensor]:
    return {n.removeprefix(start): torch.from_numpy(array) for n, array in tensors.items() if n.startswith(start)}


def fisher(network: nn.Module, rows: Tensor, masks: Tensor) -> dict[str, Tensor]:
    """E[(∂Q(s, a)/∂θ)²] over the rows and their allowed actions (and the heads of an ensemble)."""
    if not len(rows):
        raise RefusedInput("There is nothing to remember of a task without data.", "Give its observations.")
    parameters = {name: parameter.detach() for name, parameter in network.named_parameters()}
    squares = {name: torch.zeros_like(parameter) for name, parameter in parameters.items()}

    def values(own: dict[str, Tensor], row: Tensor) -> Tensor:
        told: Tensor = torch.func.functional_call(network, own, (row.unsqueeze(0),))
        return told.reshape(-1, masks.shape[1])

    for row, mask in zip(rows, masks, strict=True):
        slopes = torch.func.jacrev(values)(parameters, row)  # heads × actions × parameter
        for name, slope in slopes.items():
            squares[name] += slope[:, mask].square().mean(dim=(0, 1)) / len(rows)
    return squares
