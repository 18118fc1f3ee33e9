"""How much two failures look as if they had one cause, and why.

Every part is between 0 and 1; the likeness is their weighted sum. What few of the failures at hand have in common says
more than what many have. Weights were chosen for precision among the first five on some projects only; see
`benchmarks/triage.py`, which measures them on others.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from whet.core.memories import Embedding
from whet.memory.embedding.hashed import HashedEmbedder
from whet.memory.failures_cues import cue
from whet.memory.failures_culprits import culprits
from whet.memory.failures_reading import Failure
from whet.memory.failures_turning import traits

WEIGHTS = {
    "turned": 1.5,
    "words": 1.0,
    "newly": 0.6,
    "left_out": 0.3,
    "diverged": 0.6,
    "one_sided": -0.5,
    "place": 0.6,
    "culprits": 0.4,
}
_REASONS = {
    "turned": "both first go another way than when they pass at {turned}",
    "newly": "both execute {newly}, which they do not when they pass",
    "left_out": "both leave out {left_out}, which they execute when they pass",
    "diverged": "both take another way than when they pass",
    "place": "both come through {place}",
    "words": "what they say is alike",
    "culprits": "their tests execute the same suspects",
}
_TELLING = 0.25
# Below this nothing is said to resemble: of fifteen failures that have nothing to do with each other, most pairs are
# below 0.3; those of one cause are above 0.6.
LEAST_ALIKE = 0.3
LITTLE = "they have little in common"

Covered = Mapping[str, Collection[str]]  # test → the functions it executes when it passes, "file:Class.name"
Floats = npt.NDArray[np.float64]


class Alike(NamedTuple):
    candidate: int  # which of them
    likeness: float  # 0 to 1: what both have, of what the failure has
    why: str


def alike(failure: Failure, candidates: Sequence[Failure], covered: Covered | None = None) -> list[Alike]:
    """All candidates, the likeliest to have the same cause first; equals in the order given."""
    if not candidates:
        return []
    parts = likeness_parts([failure, *candidates], covered or {})
    sums = sum((WEIGHTS[name] * part for name, part in parts.items()), np.zeros(len(candidates)))
    likeness = np.clip(sums / _with_itself(failure, covered or {}), 0.0, 1.0)
    order = np.argsort(-sums, kind="stable").tolist()
    return [Alike(n, float(likeness[n]), _why(failure, candidates[n], parts, n)) for n in order]


def _with_itself(failure: Failure, covered: Covered) -> float:
    """What a failure is compared by differs: a text alone has no turn to share."""
    parts = likeness_parts([failure, failure], covered)
    return sum(WEIGHTS[name] * float(part[0]) for name, part in parts.items())


def likeness_parts(failures: Sequence[Failure], covered: Covered) -> dict[str, Floats]:
    """What the first failure has in common with each of the others."""
    lines = [failure.diverged or frozenset() for failure in failures]
    measured = _measured(failures)
    return {
        "turned": _shares([traits(failure.turned) for failure in failures]),
        "words": _cosines([cue(failure) or failure.test for failure in failures]),
        "newly": _shares([_marked(one, "+") for one in lines]),
        "left_out": _shares([_marked(one, "-") for one in lines]),
        "diverged": _shares(lines),
        "one_sided": measured * [bool(one) != bool(lines[0]) for one in lines[1:]],
        "place": _shares([_deepest(failure) for failure in failures]),
        # Suspicion stands in for what was measured.
        "culprits": (1 - measured) * _angles([culprits(one, covered.get(one.test, ())) for one in failures]),
    }


def _measured(failures: Sequence[Failure]) -> Floats:
    """Whether lines were measured of both."""
    return np.array([failures[0].diverged is not None and f.diverged is not None for f in failures[1:]], float)


def _marked(lines: Set[str], mark: str) -> Set[str]:
    return {line for line in lines if line.startswith(mark)}


def _deepest(failure: Failure) -> Set[str]:
    inside = failure.inside()
    return {f"{inside[-1].file}:{inside[-1].line} {inside[-1].code}"} if inside else set()


def _cosines(texts: list[str]) -> Floats:
    places = np.stack([np.frombuffer(_placed(text), "<f4") for text in texts]).astype(float)
    cosines: Floats = places[1:] @ places[0]
    return cosines


@lru_cache(maxsize=4096)
def _placed(text: str) -> Embedding:
    return HashedEmbedder().embed([text])[0]


def _shares(sets: Sequence[Set[str]]) -> Floats:
    """How much of what either has both have, the rare counting more."""
    counts = Counter(member for one in sets for member in one)
    weights = {member: math.log((len(sets) + 1) / (count + 0.5)) for member, count in counts.items()}
    sums = [sum(weights[member] for member in one) for one in sets]
    shared = [sum(weights[member] for member in sets[0] & one) for one in sets[1:]]
    pairs = zip(shared, sums[1:], strict=True)
    return np.array([both / (sums[0] + own - both) if both > 0 else 0.0 for both, own in pairs])


def _angles(vectors: Sequence[Mapping[str, float]]) -> Floats:
    lengths = [math.sqrt(sum(value * value for value in one.values())) for one in vectors]
    first = vectors[0]
    dots = [sum(first[name] * one[name] for name in first.keys() & one.keys()) for one in vectors[1:]]
    return np.array([dot / (lengths[0] * own) if dot > 0 else 0.0 for dot, own in zip(dots, lengths[1:], strict=True)])


def _why(failure: Failure, candidate: Failure, parts: Mapping[str, Floats], n: int) -> str:
    """The two parts that count most, in words."""
    gains = sorted(((WEIGHTS[name] * parts[name][n], name) for name in _REASONS), reverse=True)
    both = (failure.diverged or frozenset()) & (candidate.diverged or frozenset())
    facts = {
        "turned": failure.turned.at if failure.turned is not None else "",
        "newly": min(_marked(both, "+"), default="")[1:],
        "left_out": min(_marked(both, "-"), default="")[1:],
        "place": "".join(_deepest(failure))[:100],
    }
    told = [_REASONS[name].format(**facts) for _, name in gains[:2] if parts[name][n] >= _TELLING]
    return "; ".join(told) or LITTLE
