"""Replays to compare with, each used for batches as its documentation has it. Whet needs none of them.

To install them beside Whet, into an environment of their own: `pip install --constraint constraints.txt '.[deep]'
cpprb==11.0.0 tianshou==2.0.1 torchrl==0.14.1 torch==2.13.0` (other releases of torch bring gigabytes of CUDA).
"""

import importlib
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import numpy as np

ALPHA, BETA = 0.6, 0.4
Batch = dict[str, Any]


class Contender(Protocol):
    """`add` takes a batch of columns, `sample` tells the places, `update` gives them new absolute TD errors."""

    def add(self, batch: Batch) -> None: ...

    def sample(self, number: int) -> Any: ...

    def update(self, places: Any, errors: Any) -> None: ...


class Whet:
    def __init__(self, capacity: int, floats: int, compiled: bool | None = None) -> None:
        from whet.policies.deep.replay import Column, Replay, Schema

        states = [Column(name, "float32", (floats,)) for name in ("state", "next_state")]
        numbers = [Column("action", "int32"), Column("reward", "float32"), Column("done", "bool")]
        self.replay = Replay(Schema((*states, *numbers)), capacity, alpha=ALPHA, beta=BETA, compiled=compiled)

    def add(self, batch: Batch) -> None:
        self.replay.add(batch)

    def sample(self, number: int) -> Any:
        return self.replay.sample(number).places

    def update(self, places: Any, errors: Any) -> None:
        self.replay.update(places, errors)


class WhetWithoutNumba(Whet):
    def __init__(self, capacity: int, floats: int) -> None:
        super().__init__(capacity, floats, compiled=False)


class Cpprb:
    def __init__(self, capacity: int, floats: int) -> None:
        state = {"shape": floats, "dtype": np.float32}
        numbers = {"action": {"dtype": np.int32}, "reward": {"dtype": np.float32}, "done": {"dtype": bool}}
        columns = {"state": state, "next_state": state, **numbers}
        self.replay = importlib.import_module("cpprb").PrioritizedReplayBuffer(capacity, columns, alpha=ALPHA)

    def add(self, batch: Batch) -> None:
        self.replay.add(**batch)

    def sample(self, number: int) -> Any:
        return self.replay.sample(number, beta=BETA)["indexes"]

    def update(self, places: Any, errors: Any) -> None:
        self.replay.update_priorities(places, errors)


class Tianshou:
    """Its way to add a batch at once is a buffer for each of several environments; there are as many as items in it."""

    environments = 64

    def __init__(self, capacity: int, floats: int) -> None:
        data = importlib.import_module("tianshou.data")
        self.batch_of, self.each = data.Batch, np.arange(self.environments)
        self.replay = data.PrioritizedVectorReplayBuffer(capacity, self.environments, alpha=ALPHA, beta=BETA)

    def add(self, batch: Batch) -> None:
        for first in range(0, len(batch["done"]), self.environments):
            some = {name: column[first : first + self.environments] for name, column in batch.items()}
            told = {"obs": some["state"], "obs_next": some["next_state"], "act": some["action"], "rew": some["reward"]}
            ends = {"terminated": some["done"], "truncated": np.zeros(len(some["done"]), dtype=bool)}
            self.replay.add(self.batch_of(**told, **ends), buffer_ids=self.each[: len(some["done"])])

    def sample(self, number: int) -> Any:
        return self.replay.sample(number)[1]

    def update(self, places: Any, errors: Any) -> None:
        self.replay.update_weight(places, errors)


class Torchrl:
    """With one thread: about as quick as with its own where the machine is quiet, and far quicker where it is not."""

    threads: int | None = 1

    def __init__(self, capacity: int, floats: int) -> None:
        self.torch = importlib.import_module("torch")
        self.threads = self.threads or _own_threads(self.torch)
        self.columns_of = importlib.import_module("tensordict").TensorDict
        # No wheel of torchrl was built for this torch. Bound lazily, one symbol its replay never calls is never missed.
        sys.setdlopenflags(os.RTLD_LAZY)
        data = importlib.import_module("torchrl.data")
        storage = data.LazyTensorStorage(capacity)
        self.replay = data.PrioritizedReplayBuffer(alpha=ALPHA, beta=BETA, storage=storage)

    def add(self, batch: Batch) -> None:
        self.torch.set_num_threads(self.threads)  # in each: whoever had the turn before may have had another number
        columns = {name: self.torch.from_numpy(column) for name, column in batch.items()}
        self.replay.extend(self.columns_of(columns, batch_size=[len(batch["done"])]))

    def sample(self, number: int) -> Any:
        return self.replay.sample(number, return_info=True)[1]["index"]

    def update(self, places: Any, errors: Any) -> None:
        self.replay.update_priority(places, self.torch.from_numpy(errors))


class TorchrlOwnThreads(Torchrl):
    """With as many threads as torch takes by itself, one for each core."""

    threads = None


@cache
def _own_threads(torch: Any) -> int:
    """Asked before anybody sets it."""
    return int(torch.get_num_threads())


class NaiveNumpy:
    """The textbook's: a list of items, and `choice` over the probabilities of all of them."""

    def __init__(self, capacity: int, floats: int) -> None:
        self.capacity, self.items, self.next, self.largest = capacity, list[Any](), 0, 1.0
        self.priorities = np.zeros(capacity, dtype=np.float32)
        self.random = np.random.RandomState(0)

    def add(self, batch: Batch) -> None:
        for item in zip(*batch.values(), strict=True):
            if len(self.items) < self.capacity:
                self.items.append(item)
            else:
                self.items[self.next] = item
            self.priorities[self.next] = self.largest
            self.next = (self.next + 1) % self.capacity

    def sample(self, number: int) -> Any:
        chances = self.priorities[: len(self.items)] ** ALPHA
        chances /= chances.sum()
        places = self.random.choice(len(self.items), number, p=chances, replace=False)
        weights = (len(self.items) * chances[places]) ** -BETA
        columns = [np.array(column) for column in zip(*(self.items[place] for place in places), strict=True)]
        return places if len(columns) and (weights / weights.max()).any() else None

    def update(self, places: Any, errors: Any) -> None:
        for place, error in zip(places, errors, strict=True):
            self.priorities[place] = abs(error) + 1e-6
            self.largest = max(self.largest, float(self.priorities[place]))


CONTENDERS: dict[str, Callable[[int, int], Contender]] = {
    "whet": Whet,
    "whet_numpy": WhetWithoutNumba,
    "cpprb": Cpprb,
    "tianshou": Tianshou,
    "torchrl_own_threads": TorchrlOwnThreads,
    "torchrl": Torchrl,
    "naive_numpy": NaiveNumpy,
}
