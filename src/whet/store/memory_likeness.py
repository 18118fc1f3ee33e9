"""How alike two places are, to the bit the same for every store."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whet.core.errors import RefusedInput
from whet.core.memories import Embedding
from whet.store.memory_rows import Found

# Databases and indexes reckon in single precision or less. What they find a little less alike than the last that is
# wanted is looked at again, so that rounding decides nothing.
MARGIN = 1e-3
_UNIT_WITHIN = 1e-4
_BYTES = 4
_REMEDY = "Embed the texts with one model; nothing was changed."


def as_matrix(embeddings: Sequence[Embedding]) -> NDArray[np.float32]:
    return np.frombuffer(b"".join(embeddings), dtype="<f4").reshape(len(embeddings), -1)


def checked_dimensions(embeddings: Sequence[Embedding], model: str, known: int | None) -> int:
    """How many numbers each has; RefusedInput for anything that is no place of this model."""
    lengths = {len(each) for each in embeddings} | (set() if known is None else {known * _BYTES})
    if len(lengths) != 1:
        told = ", ".join(str(each / _BYTES) for each in sorted(lengths))
        raise RefusedInput(f"Embeddings of the model {model[:80]!r} have different lengths: {told} numbers.", _REMEDY)
    (length,) = lengths
    if length == 0 or length % _BYTES:
        raise RefusedInput(f"An embedding of {length} bytes is no list of float32 numbers.", _REMEDY)
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.sqrt(np.square(as_matrix(embeddings).astype(np.float64)).sum(axis=1))
    if not (np.abs(sizes - 1.0) <= _UNIT_WITHIN).all():
        raise RefusedInput("An embedding is not finite, or not of length 1.", _REMEDY)
    return length // _BYTES


def best(asked: Embedding, found: Sequence[Found], limit: int) -> list[tuple[int, float]]:
    """The numbers of the most alike, with their cosine; equals by id."""
    if not found:
        return []
    likeness = cosines(asked, as_matrix([each.embedding for each in found])).tolist()
    order = sorted(range(len(found)), key=lambda place: (-likeness[place], found[place].id))
    return [(found[place].seq, likeness[place]) for place in order[:limit]]


def cosines(asked: Embedding, places: NDArray[np.float32]) -> NDArray[np.float64]:
    """Row by row and in double precision: a matrix product would round by where in the matrix a row stands."""
    question = np.frombuffer(asked, dtype="<f4").astype(np.float64)
    rows = places.astype(np.float64)
    sizes = np.sqrt(np.square(rows).sum(axis=1)) * np.sqrt(np.square(question).sum())
    likeness: NDArray[np.float64] = (rows * question).sum(axis=1) / sizes
    return likeness.clip(-1.0, 1.0)


def one_by_one(places: NDArray[np.float32], question: NDArray[np.float32]) -> NDArray[np.float32]:
    """In one thread: on a busy machine the threads of a matrix product wait for each other longer than they work."""
    return np.einsum("ij,j->i", places, question)  # type: ignore[no-any-return]


def worth_a_look(likeness: NDArray[np.float32], limit: int) -> NDArray[np.intp]:
    """Where the `limit` most alike can be, given that each figure is a little off."""
    if len(likeness) <= limit:
        return np.arange(len(likeness))
    last = np.partition(likeness, len(likeness) - limit)[len(likeness) - limit]
    return np.flatnonzero(likeness >= last - MARGIN)
