"""Places without a model: words, pairs of words and pieces of words, each hashed to a dimension and a sign.

Texts that share words or their pieces are near each other. Nothing is learned, so the same text has the same place
on every machine and in every version with the same `name`.
"""

import re
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from whet.core.memories import Embedding

DIMENSIONS = 384
# Of a longer text the beginning counts.
LONGEST_READ = 8000
PIECE_BYTES = (3, 4, 5)
# What each family adds to the place, whatever its number of members.
WORDS, PAIRS, PIECES = 1.0, 0.6, 0.8

Hashes = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

# Names are made of words: camelCase, HTTPServer, snake_case, a/path. Other scripts count by their runs of letters.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_MIX = np.uint64(0x9E3779B97F4A7C15)
_STIR = np.uint64(0xBF58476D1CE4E5B9)


class HashedEmbedder:
    @property
    def name(self) -> str:
        return "hashed-1"

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        return [_place(text[:LONGEST_READ]).astype("<f4").tobytes() for text in texts]


def _place(text: str) -> Floats:
    words = [word.lower() for word in _WORD.findall(text)]
    told = " ".join(words) or text or " "
    hashes = np.array([zlib.crc32(_bytes(word)) for word in words or [told]], np.uint64)
    place = WORDS * _family(hashes, 1)
    place += PAIRS * _family(hashes[:-1] * _MIX + hashes[1:], 2)
    place += PIECES * _family(_pieces(told), 3)
    length = np.linalg.norm(place)
    return place / length if length > 0 else _family(hashes[:1], 1)


def _pieces(told: str) -> Hashes:
    signs = np.frombuffer(_bytes(f" {told} "), np.uint8).astype(np.uint64)
    families = [_rolling(signs, length) for length in PIECE_BYTES if len(signs) >= length]
    return np.concatenate(families) if families else signs


def _rolling(signs: Hashes, length: int) -> Hashes:
    hashes = np.full(len(signs) - length + 1, length, np.uint64)
    for begin in range(length):
        hashes = hashes * _MIX + signs[begin : begin + len(hashes)]
    return hashes


def _family(hashes: Hashes, salt: int) -> Floats:
    """Of unit length, unless it is empty. What is there often counts more, by its logarithm."""
    different, counts = np.unique(hashes, return_counts=True)
    stirred = (different + np.uint64(salt)) * _STIR
    stirred = (stirred ^ (stirred >> np.uint64(31))) * _MIX
    stirred ^= stirred >> np.uint64(29)
    weights = np.where(stirred & np.uint64(1), 1.0, -1.0) * (1.0 + np.log(counts))
    dimension = (stirred >> np.uint64(1)) % np.uint64(DIMENSIONS)
    family = np.zeros(DIMENSIONS) + np.bincount(dimension.astype(np.intp), weights, DIMENSIONS)
    length = np.linalg.norm(family)
    return family / length if length > 0 else family


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
