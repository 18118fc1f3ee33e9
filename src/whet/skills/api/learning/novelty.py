"""What is new in an answer, and what that is worth. The same crash is paid once.

Many services say the same sentence whatever fails. There, two failures of one operation are taken for two crashes where
different families of mutations brought them about (a number out of range, half a character), and for one where it
fails with a valid request, too. It pays less: it may be the same crash after all.
"""

import json
import zlib
from dataclasses import dataclass
from typing import TypeVar

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Exchange
from whet.skills.api.oracles.causes import tells, with_way, without_way

# In units of "a new way to fail". A new status of an operation is nearly as good: behind it lies new code.
_FAULT, _STATUS, _WAY, _SHAPE, _ERROR = 1.0, 0.7, 0.5, 0.05, 0.05
_MOST_SHAPES = 6  # per operation and status; answers that always differ in form are not news
_MOST_FAILURES = 20  # ways to fail, of one operation
_DEEPEST = 3
_FAILURES = 500  # and above
_SEVERAL = 2  # operations: what only one says may be about itself
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class News:
    fault: bool
    status: bool
    shape: bool
    error: bool
    answer: int | None = None  # by which answers are told apart: see `answer_of`
    by: str = ""  # the family of mutations that brought a failure about, where the failure does not say what it is
    way: bool = False  # it never did so here before

    @property
    def worth(self) -> float:
        if self.fault:
            return _FAULT
        if self.status:
            return _STATUS
        if self.way:
            return _WAY
        return _SHAPE * self.shape + _ERROR * self.error


class Novelty:
    """Remembers (operation, status), response shapes, error signatures and causes of faults."""

    def __init__(self) -> None:
        self._pairs: set[tuple[str, int | None]] = set()
        self._causes: set[tuple[str, str]] = set()
        self._failures: dict[str, set[int]] = {}  # by operation
        self._shapes: dict[tuple[str, int | None], set[int]] = {}
        self._errors: dict[tuple[str, int | None], set[str]] = {}
        self._said_by: dict[str, set[str]] = {}  # by signature of a failure: two operations that showed it, at most
        self._anyway: set[tuple[str, str]] = set()  # operations that fail so with valid requests

    def news(self, exchange: Exchange, signature: str | None, causes: tuple[str, ...], family: str = "") -> News:
        """`signature` is the error's, if the answer was one; `causes` those of the faults suspected in it; `family`
        that of the mutation that was sent."""
        key = (exchange.operation.id, exchange.response.status)
        fault = self._new_causes(exchange.operation.id, causes)
        status = key not in self._pairs and key[1] is not None
        self._pairs.add(key)
        by = self._brought_about(exchange, signature, family)
        way = bool(by) and self._new_causes(exchange.operation.id, tuple(with_way(one, by) for one in causes))
        answer = answer_of(exchange.response.status, with_way(signature, by) if signature and by else signature)
        if answer is not None and answer < 0:
            self._failed(exchange.operation.id, answer)
        shape = exchange.ok and _added(self._shapes.setdefault(key, set()), _shape(exchange.response.body))
        error = signature is not None and _added(self._errors.setdefault(key, set()), signature)
        return News(fault, status, shape, error, answer, by, way)

    def statuses(self) -> dict[str, list[int]]:
        """What each operation answered and how it failed, in this run and before: for the next run."""
        found: dict[str, list[int]] = {}
        answered = self._pairs | {(one, answer) for one, answers in self._failures.items() for answer in answers}
        for operation, status in sorted((one, status) for one, status in answered if status is not None):
            found.setdefault(operation, []).append(status)
        return found

    def known(self, operation: str, answer: int) -> None:
        """An earlier run saw it: no news."""
        if answer > 0:
            self._pairs.add((operation, answer))
        else:
            self._failed(operation, answer)

    def _failed(self, operation: str, answer: int) -> None:
        """The first few are remembered: a service may say something else every time."""
        ways = self._failures.setdefault(operation, set())
        if len(ways) < _MOST_FAILURES:
            ways.add(answer)

    def known_cause(self, operation: str, sign: str) -> None:
        """An earlier run saw it, and perhaps what brings it about."""
        self._causes |= {(operation, sign), (operation, without_way(sign))}

    def _brought_about(self, exchange: Exchange, signature: str | None, family: str) -> str:
        operation, status = exchange.operation.id, exchange.response.status
        if signature is None or status is None or status < _FAILURES or tells(signature):
            return ""
        if not family:
            self._anyway.add((operation, signature))
        showed = self._said_by.setdefault(signature, set())
        if len(showed) < _SEVERAL:
            showed.add(operation)
        return "" if len(showed) < _SEVERAL or (operation, signature) in self._anyway else family

    def _new_causes(self, operation: str, causes: tuple[str, ...]) -> bool:
        new = {(operation, cause) for cause in causes} - self._causes
        self._causes |= new
        return bool(new)


def answer_of(status: int | None, signature: str | None) -> int | None:
    """The status; but failures are told apart by what they say: a number below zero, which can be kept where words
    might give something away. One service fails in many ways, and so does what stands before it."""
    if status is None or status < _FAILURES or signature is None:
        return status
    return -1 - zlib.crc32(signature.encode("utf-8", "surrogatepass"))


def _added(seen: set[T], one: T) -> bool:
    if one in seen or len(seen) >= _MOST_SHAPES:
        return False
    seen.add(one)
    return True


def _shape(body: bytes) -> int:
    """Names and types of the answer, not its values."""
    try:
        return hash(_outline(json.loads(body), 0))
    except (ValueError, RecursionError):
        return hash(body[:1])


def _outline(value: Json, depth: int) -> object:
    if isinstance(value, dict):
        names = sorted(value)[:50]
        return ("object", *((name, _outline(value[name], depth + 1) if depth < _DEEPEST else "") for name in names))
    if isinstance(value, list):
        return ("list", _outline(value[0], depth + 1) if value and depth < _DEEPEST else "")
    return type(value).__name__
