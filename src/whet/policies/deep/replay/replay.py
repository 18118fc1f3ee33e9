"""Prioritized experience replay (Schaul et al., 2016, the proportional variant)."""

from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from whet.policies.deep.replay import drawing, memory, saving, tree
from whet.policies.deep.replay.schema import MASS, Array, Batch, Schema, refuse
from whet.policies.deep.replay.standing import LARGEST_ERROR, Standing, generator
from whet.policies.deep.replay.tree import Places, SumTree

_LEAST_PRIORITY = 1e-6  # what surprises nobody is still drawn now and then


class Sample(NamedTuple):
    """`weights` correct for drawing some items more often than others: multiply each item's loss with its own."""

    places: Places
    columns: dict[str, Array]
    weights: NDArray[np.float32]


class Replay:
    """The last `capacity` items, drawn by (|TD error| + 1e-6)^α. New items get the largest priority seen so far.

    Equal seeds and calls give equal samples, with numba and without. Not for several threads at once.
    """

    def __init__(
        self,
        schema: Schema,
        capacity: int = 1_000_000,
        seed: int = 0,
        *,
        alpha: float = 0.6,
        beta: float = 0.4,
        compiled: bool | None = None,
    ) -> None:
        """`compiled` insists on numba (True) or on numpy alone (False); by default, numba where it is installed."""
        _check_settings(capacity, alpha, beta, seed)
        random = dict(np.random.PCG64(seed).state)
        standing = Standing(capacity=capacity, alpha=float(alpha), first_beta=float(beta), random=random)
        arrays = {each.name: memory.zeros((capacity, *each.shape), each.type) for each in schema.stored}
        self._hold(schema, standing, arrays, compiled)

    @classmethod
    def open(cls, folder: Path, *, compiled: bool | None = None) -> Self:
        """The replay that was saved there, ready to go on as if it had never stopped.

        Its columns are mapped: what is changed is changed in memory alone, and the save stays as it is until the next.
        """
        replay = cls.__new__(cls)
        replay._hold(*saving.read(folder), compiled)
        return replay

    def _hold(self, schema: Schema, standing: Standing, arrays: dict[str, Array], compiled: bool | None) -> None:
        masses = arrays.pop(MASS.name)
        self.schema, self._standing, self._columns = schema, standing, arrays
        self._random = generator(standing.random)
        self._tree = SumTree(standing.capacity, tree.loops(compiled))
        self._held, self._next, self._largest = standing.held, standing.next_place, standing.largest_mass
        if self._held:
            self._tree.put(np.arange(self._held), masses[: self._held])

    def __len__(self) -> int:
        return self._held

    @property
    def capacity(self) -> int:
        return self._standing.capacity

    @property
    def beta(self) -> float:
        return self._standing.beta

    def anneal(self, fraction: float) -> None:
        """How much of training is done, 0 to 1: β rises with it to 1, where the weights correct in full."""
        if not 0.0 <= fraction <= 1.0:
            refuse(f"{fraction} is no fraction of training", "Give a number from 0 to 1.")
        self._standing = self._standing.model_copy(update={"annealed": float(fraction)})

    def add(self, batch: Batch) -> Places:
        """Where each item went. Beyond the capacity, the oldest are overwritten."""
        rows = self.schema.rows(batch)
        if rows > self.capacity:
            refuse(f"{rows} items do not fit into a capacity of {self.capacity}", "Add fewer at once.")
        places = np.arange(self._next, self._next + rows)
        until_end = min(rows, self.capacity - self._next)
        self._write(batch, slice(self._next, self._next + until_end), slice(until_end))
        if until_end < rows:
            self._write(batch, slice(rows - until_end), slice(until_end, rows))
            places[until_end:] -= self.capacity
        self._tree.put(places, self._largest)
        self._next = (self._next + rows) % self.capacity
        self._held = min(self._held + rows, self.capacity)
        return places

    def sample(self, number: int, *, replacement: bool = True) -> Sample:
        """Copies of drawn items. Without replacement none is twice in a sample; the weights are then approximate."""
        self._check_number(number, replacement)
        draw = drawing.with_replacement if replacement else drawing.without_replacement
        places = draw(self._tree, self._random, number)
        weights = drawing.importance_weights(self._tree.masses(places), self.beta)
        columns = {name: column.take(places, axis=0) for name, column in self._columns.items()}
        return Sample(places, columns, weights.astype(np.float32))

    def update(self, places: Places, td_errors: NDArray[np.floating]) -> None:
        """The learner's errors at these places, of either sign. At a place named twice the last one counts."""
        self._check_places(places)
        sizes = np.abs(td_errors, dtype=np.float64) if _are_floats(td_errors) else np.empty(0)
        if sizes.shape != places.shape:
            refuse(f"these are no {len(places)} TD errors", "Give one array of floats, one for each place.")
        if not sizes.max() <= LARGEST_ERROR:
            refuse(f"TD errors must be finite, and these reach {sizes.max()}", "Find out why the learner diverges.")
        sizes += _LEAST_PRIORITY
        masses = np.power(sizes, self._standing.alpha, out=sizes)
        self._tree.put(places, masses)
        self._largest = max(self._largest, float(masses.max()))

    def save(self, folder: Path) -> None:
        """Whole or not at all: until it is finished, and if it never is, the earlier save in this folder stays good."""
        progress = {"held": self._held, "next_place": self._next, "largest_mass": self._largest}
        standing = self._standing.model_copy(update={**progress, "random": dict(self._random.bit_generator.state)})
        arrays = {**self._columns, MASS.name: self._tree.masses(slice(self.capacity))}
        saving.write(folder, self.schema, standing, arrays)

    def _write(self, batch: Batch, here: slice, rows: slice) -> None:
        for name, column in self._columns.items():
            column[here] = batch[name][rows]

    def _check_number(self, number: int, replacement: bool) -> None:
        if not self._held:
            refuse("it is empty, there is nothing to sample", "Add items first.")
        if number < 1:
            refuse(f"{number} items cannot be sampled", "Ask for 1 or more.")
        if not replacement and number > self._held:
            refuse(f"{number} different items were asked for, and it holds {self._held}", "Ask for fewer, or add more.")

    def _check_places(self, places: Places) -> None:
        if not isinstance(places, np.ndarray) or places.dtype != np.int64 or places.ndim != 1 or not len(places):
            refuse("the places are not those of a sample", "Give back `sample.places`, an array of int64.")
        if places.view(np.uint64).max() >= self._held:  # as unsigned numbers, negative ones are huge
            refuse(f"it holds the places 0 to {self._held - 1}", "Give places that `add` or `sample` returned.")


def _are_floats(values: object) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind == "f"


def _check_settings(capacity: int, alpha: float, beta: float, seed: int) -> None:
    if capacity < 1:
        refuse(f"there is no capacity of {capacity}", "Give 1 or more.")
    if not 0.0 <= alpha <= 1.0 or not 0.0 <= beta <= 1.0:
        refuse(f"α is {alpha} and β is {beta}", "Give both from 0 to 1.")
    if seed < 0:
        refuse(f"{seed} is no seed", "Give 0 or more.")
