"""A case as numbers: its words, requests and values, hashed into buckets. New cases need no new buckets."""

import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from whet.improvement.cases import Case
from whet.improvement.cases_steps import METHODS, Step
from whet.policies.deep.learning import Floats

BUCKETS = 128
WIDTH = BUCKETS + len(METHODS) + 3
_LONG_TEXT = 100
_WORD = re.compile(r"[^\W_]+")


def features(case: Case) -> Floats:
    """Unit length in its hashed part: long descriptions do not shout. Then methods, and how much it sends."""
    hashed = np.zeros(BUCKETS, dtype=np.float32)
    for mark in set(_marks(case)):
        bucket, sign = _bucket(mark)
        hashed[bucket] += sign
    sent = [sum(step.method == method for step in case.steps) for method in METHODS]
    told = [bool(case.headers), len(case.steps) / 4, any(step.status >= 400 for step in case.steps)]
    return np.concatenate((hashed / max(1.0, float(np.linalg.norm(hashed))), sent, told), dtype=np.float32)


def place(step: Step) -> str:
    """A path without its numbers and questions: where a fault would be."""
    return re.sub(r"(?<=/)(?:-?\d+|\{\w+\})(?=/|$)", "{id}", step.path.partition("?")[0])


def _marks(case: Case) -> Iterator[str]:
    yield from _words(case.name)
    yield from _words(case.preconditions)
    if not case.steps:
        words = _words(case.words)
        yield from (*words, *map(" ".join, pairwise(words)))
    for step in case.steps:
        yield from _request_marks(step)
    yield from (f"{_at(before)} > {_at(after)}" for before, after in pairwise(case.steps))


def _request_marks(step: Step) -> Iterator[str]:
    """Also which fields there are, together: otherwise nothing would say that one is missing."""
    at, values = _at(step), dict(_values(step))
    yield from (at, f"{at} {step.status}", f"{at} has {sorted(values)}")
    for name, value in values.items():
        yield from (f"{name} {_kind(value)}", f"{at} {name} {_kind(value)}")


def _at(step: Step) -> str:
    return f"{step.method} {place(step)}"


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _values(step: Step) -> Iterator[tuple[str, Any]]:
    for part in step.path.partition("?")[2].split("&"):
        if part:
            name, _, value = part.partition("=")
            yield name, int(value) if re.fullmatch(r"-?\d{1,18}", value) else value
    if isinstance(step.body, dict):
        yield from step.body.items()


def _kind(value: Any) -> str:
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return type(value).__name__
    if isinstance(value, str):
        return "empty" if not value else "long" if len(value) > _LONG_TEXT else "text" if value.isascii() else "beyond"
    if value <= 0:
        return "zero" if value == 0 else "negative"
    return f"10^{len(str(int(value)))}" + ("" if float(value).is_integer() else " fraction")


@lru_cache(maxsize=65_536)
def _bucket(mark: str) -> tuple[int, float]:
    """Not Python's own hash, which differs from process to process."""
    digest = hashlib.blake2b(mark.encode(), digest_size=8).digest()
    return int.from_bytes(digest[:4], "big") % BUCKETS, 1.0 if digest[4] & 1 else -1.0
