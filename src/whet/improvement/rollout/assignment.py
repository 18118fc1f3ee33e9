"""Which units a candidate decides: by a salted hash, so that nobody has to remember, and nobody flips.

A unit (a run's id) has one spot in [0, 1) per candidate. It is decided by the candidate while its spot lies below the
share; a larger share therefore adds units and takes none away. Every candidate has a salt of its own, or the same
runs would be the first to try everything.
"""

import hashlib
from functools import lru_cache

from whet.core.candidates import Candidate

_PREFIX = "candidate-"
_BITS = 53  # as many as a float holds, so that the largest spot is still below 1


def policy_name(number: int) -> str:
    """Under which decisions name the candidate that made them."""
    return f"{_PREFIX}{number}"


def assigned(candidate: Candidate, unit: str) -> bool:
    """Whether the candidate, with the share it has, decides for this unit."""
    return spot(salt(candidate), unit) < candidate.share


def salt(candidate: Candidate) -> bytes:
    """Of the candidate, the same in every process; its digest keeps it apart in stores that count alike."""
    return _salt(candidate.number, candidate.agent, candidate.artefact)


@lru_cache(maxsize=256)
def _salt(number: int, agent: str, artefact: str) -> bytes:
    return hashlib.sha256(f"{number}:{agent}:{artefact}".encode("utf-8", "surrogatepass")).digest()


def spot(salted: bytes, unit: str) -> float:
    """Where the unit lies in [0, 1): uniform, and independent for different salts."""
    digest = hashlib.sha256(salted + unit.encode("utf-8", "surrogatepass")).digest()
    return (int.from_bytes(digest[:8], "big") >> (64 - _BITS)) / (1 << _BITS)
