"""An index of places beside the database's file: made from rows alone, and made again whenever it does not fit them.

It is written whole or not at all. Behind faiss's own bytes stands how far it goes (`watermark`, the highest number of
a place in it) and what the last of its places look like, so that one from another history of the database is known.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_END = b"whet-memory-index"
_LENGTH_BYTES = 8
_SHORTEST_LISTS, _MOST_LISTS = 16, 1024
_ROWS_PER_LIST_TRAINED = 48
_FEWEST_PROBES = 16
_LOOKED_AT = 40_000  # places, some 75 ns each: where there are fewer, more lists are looked at in the same time


class About(NamedTuple):
    """What is known of an index without opening it."""

    watermark: int
    trained_on: int  # how many places there were when its lists were laid out
    last: dict[int, str]  # digests of its last places, by number


class Index(NamedTuple):
    faiss: Any  # no stubs: faiss is optional
    about: About

    def numbers(self) -> NDArray[np.int64]:
        import faiss

        lists = self.faiss.invlists
        held = [faiss.rev_swig_ptr(lists.get_ids(n), lists.list_size(n)) for n in range(lists.nlist)]
        return np.concatenate([np.array(each, dtype=np.int64) for each in held])

    def add(self, numbers: NDArray[np.int64], places: NDArray[np.float32]) -> None:
        with _threads(os.cpu_count() or 1):
            self.faiss.add_with_ids(places, numbers)

    def remove(self, numbers: NDArray[np.int64]) -> None:
        import faiss

        if len(numbers):
            with _threads(os.cpu_count() or 1):
                self.faiss.remove_ids(faiss.IDSelectorBatch(numbers))

    def search(self, question: NDArray[np.float32], count: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Numbers of places, most alike first, and about how alike. Several threads for one question only wait."""
        import faiss

        probes: Any = faiss.SearchParametersIVF(nprobe=probes_for(self.faiss.ntotal))  # type: ignore[call-arg]
        with _threads(1):
            likeness, numbers = self.faiss.search(question[None, :], count, params=probes)
        there = numbers[0] >= 0
        return numbers[0][there], likeness[0][there]


def is_installed() -> bool:
    return find_spec("faiss") is not None


def laid_out(sample: NDArray[np.float32], rows: int) -> Any:
    """An empty index whose lists suit so many rows like these: eight bits a number, searched a few lists at a time."""
    import faiss

    dimensions = sample.shape[1]
    lists = lists_for(rows)
    kind, likeness = faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
    made = faiss.IndexIVFScalarQuantizer(faiss.IndexFlatIP(dimensions), dimensions, lists, kind, likeness)
    made.cp.min_points_per_centroid = 1  # it warns on the terminal otherwise
    with _threads(os.cpu_count() or 1):
        made.train(sample)
    return made


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """faiss shares its threads with other libraries of this process, whose results may depend on how many there are."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(count)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def lists_for(rows: int) -> int:
    return max(_SHORTEST_LISTS, min(_MOST_LISTS, int(rows**0.5)))


def probes_for(rows: int) -> int:
    """In how many of its lists an index of so many places is searched; more than there are means all."""
    return max(_FEWEST_PROBES, lists_for(rows) * _LOOKED_AT // max(1, rows))


def sample_size(rows: int) -> int:
    return min(rows, lists_for(rows) * _ROWS_PER_LIST_TRAINED)


def digest(embedding: bytes) -> str:
    return hashlib.sha256(embedding).hexdigest()


class IndexFile:
    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def unfinished(self) -> Path:
        return self.path.with_name(self.path.name + ".new")

    def stamp(self) -> tuple[int, int, int] | None:
        """Changes whenever the file does; None when there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def about(self) -> About | None:
        """None if there is no file, or none that was written to its end."""
        try:
            with self.path.open("rb") as file:
                ending = _LENGTH_BYTES + len(_END)
                file.seek(-ending, os.SEEK_END)
                tail = file.read()
                length = int.from_bytes(tail[:_LENGTH_BYTES], "little")
                file.seek(-(ending + length), os.SEEK_END)
                told = json.loads(file.read(length)) if tail.endswith(_END) else None
        except (OSError, ValueError, OverflowError):
            return None
        if told is None:
            return None
        return About(
            told["watermark"], told["trained_on"], {int(number): each for number, each in told["last"].items()}
        )

    def load(self, *, to_change: bool = False) -> Index | None:
        """Read where it lies, page by page as it is asked for; as a copy in memory when it is `to_change`."""
        import faiss

        about = self.about()
        if about is None:
            return None
        try:
            return Index(faiss.read_index(str(self.path), 0 if to_change else faiss.IO_FLAG_MMAP), about)
        except RuntimeError:
            return None

    def save(self, index: Index) -> None:
        import faiss

        faiss.write_index(index.faiss, str(self.unfinished))
        told = json.dumps(index.about._asdict()).encode()
        with self.unfinished.open("ab") as file:
            file.write(told + len(told).to_bytes(_LENGTH_BYTES, "little") + _END)
            file.flush()
            os.fsync(file.fileno())
        self.unfinished.replace(self.path)

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        self.unfinished.unlink(missing_ok=True)


@contextmanager
def one_at_a_time(path: Path, *, wait: bool) -> Iterator[bool]:
    """Whether this is the one process that may write indexes now. The lock goes with the process that held it."""
    import fcntl

    with path.open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True
