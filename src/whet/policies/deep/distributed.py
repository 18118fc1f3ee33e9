"""Where a network is trained: on which device, and by how many processes at once.

Each process has environments of its own; their steps are brought together, every process takes its share of each
minibatch, and gradients are averaged (torch's DistributedDataParallel). The result is that of one process with all the
environments, up to the rounding of sums. Started by `torchrun --nproc-per-node 2 train.py`, where train.py has

    with joined() as processes:
        learner = PPO(config, seed=7, processes=processes)
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from whet.core.errors import RefusedInput, WhetError
from whet.policies.deep.artefacts import Array

_TOLD_BY_TORCHRUN = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def choose_device(name: str) -> torch.device:
    """`auto` is the first GPU there is, or this process's own under torchrun, or else the CPU."""
    if name == "cpu" or (name == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise RefusedInput(f"The device {name!r} was asked for, and torch finds no GPU.", 'Use "auto" or "cpu".')
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))


class Processes:
    """Those that train one network together; alone unless told otherwise."""

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    @property
    def share(self) -> slice:
        """Which rows of a minibatch are this process's."""
        return slice(self.rank, None, self.size)

    def trained(self, network: nn.Module) -> nn.Module:
        """Averages gradients over all processes; begins with the first process's weights in all of them."""
        return DistributedDataParallel(network) if self.size > 1 else network

    def together(self, column: Array, device: torch.device) -> Array:
        """T × N × … of each, one after the other along N, the same in every process."""
        if self.size == 1:
            return column
        self._require_equal(column.shape, device)
        own = torch.from_numpy(np.ascontiguousarray(column.astype(np.uint8) if column.dtype == np.bool_ else column))
        parts = [torch.empty_like(own, device=device) for _ in range(self.size)]
        dist.all_gather(parts, own.to(device))
        return torch.cat(parts, dim=1).cpu().numpy().astype(column.dtype)

    def summed(self, values: Tensor) -> Tensor:
        if self.size > 1:
            dist.all_reduce(values)
        return values

    def _require_equal(self, shape: tuple[int, ...], device: torch.device) -> None:
        own = torch.tensor(shape, device=device)
        parts = [torch.empty_like(own) for _ in range(self.size)]
        dist.all_gather(parts, own)
        if any(not torch.equal(part, own) for part in parts):
            raise RefusedInput(
                f"The processes have steps of different shapes: {[tuple(part.tolist()) for part in parts]}.",
                "Give each process as many environments.",
            )


ALONE = Processes()


@contextmanager
def joined(device: str = "auto", patience_seconds: float = 300.0) -> Iterator[Processes]:
    """This process's place among those that torchrun started. One that is gone is waited for, then it is an error."""
    if missing := [name for name in _TOLD_BY_TORCHRUN if name not in os.environ]:
        raise WhetError(
            f"{', '.join(missing)} is not set: this was not started to train in several processes.",
            "Start it with torchrun --nproc-per-node 2.",
        )
    backend = "nccl" if choose_device(device).type == "cuda" else "gloo"
    dist.init_process_group(backend, timeout=timedelta(seconds=patience_seconds))
    try:
        yield Processes(dist.get_rank(), dist.get_world_size())
        dist.barrier()  # the first keeps what they all talk through: gone before the others, it would abort them
    finally:
        dist.destroy_process_group()
