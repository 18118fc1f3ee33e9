"""The arithmetic of a test's history: counts of one run, and the summary over all runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from sqlalchemy import Row

from whet.core.ports import TestVerdict

DECAY = 0.7  # a failure loses this much of its weight with every later run of its test
_FAILED = ("failed", "error")


def decayed(weight: float, runs: int) -> float:
    return weight * float(DECAY**runs)


@dataclass
class Tally:
    """The executions of one test under one condition in one delivery of verdicts."""

    executions: int = 0
    failures: int = 0
    total_seconds: float = 0.0
    last_outcome: str = ""
    message: str | None = None
    network: bool | None = None
    slept_seconds: float | None = None
    newest: int = 0

    def take(self, verdict: TestVerdict, place: int) -> None:
        self.executions += 1
        self.failures += verdict.outcome in _FAILED
        self.total_seconds += verdict.duration_seconds
        self.last_outcome = verdict.outcome
        self.message = _masked(verdict.message) if verdict.message else self.message
        self.network = _either(self.network, verdict.network)
        self.slept_seconds = _longest(self.slept_seconds, verdict.slept_seconds)
        self.newest = place

    def columns(self) -> dict[str, Any]:
        names = ("executions", "failures", "total_seconds", "last_outcome", "message")
        return {name: getattr(self, name) for name in names}


def tallies(verdicts: Iterable[TestVerdict]) -> Mapping[str, Mapping[str, Tally]]:
    """By test, by condition."""
    counted: dict[str, dict[str, Tally]] = {}
    for place, verdict in enumerate(verdicts):
        counted.setdefault(verdict.test, {}).setdefault(verdict.condition, Tally()).take(verdict, place)
    return counted


@dataclass
class Summary:
    """One test over all runs. `turn` is which of its runs is being recorded; None before it met this run."""

    test: str
    executions: int = 0
    failures: int = 0
    total_seconds: float = 0.0
    last_outcome: str = ""
    runs: int = 0
    last_failed_turn: int | None = None
    decayed_failures: float = 0.0
    network: bool | None = None
    slept_seconds: float | None = None
    turn: int | None = field(default=None)
    failed_already: bool = field(default=False)

    CHANGING: ClassVar[tuple[str, ...]] = (
        *("executions", "failures", "total_seconds", "last_outcome", "runs"),
        *("last_failed_turn", "decayed_failures", "network", "slept_seconds"),
    )

    @classmethod
    def of(cls, row: Row[Any], met: tuple[int, bool] | None) -> Self:
        """From its row; `met` is this run's turn and whether the test failed in it already."""
        turn, failed = met or (None, False)
        known = {name: getattr(row, name) for name in ("test", *cls.CHANGING)}
        return cls(**known, turn=turn, failed_already=failed)

    def columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("test", *self.CHANGING)}

    def add(self, counted: Iterable[Tally]) -> None:
        if self.turn is None:
            self.runs += 1
            self.turn = self.runs
        for tally in sorted(counted, key=lambda each: each.newest):
            self._add(tally)
            if tally.failures and not self.failed_already:
                self._count_failed_run(self.turn)

    def _add(self, tally: Tally) -> None:
        self.executions += tally.executions
        self.failures += tally.failures
        self.total_seconds += tally.total_seconds
        self.last_outcome = tally.last_outcome
        self.network = _either(self.network, tally.network)
        self.slept_seconds = _longest(self.slept_seconds, tally.slept_seconds)

    def _count_failed_run(self, turn: int) -> None:
        """Once per run. An older run may still be adding verdicts after a newer one began."""
        self.failed_already = True
        newest = max(turn, self.last_failed_turn or turn)
        before = decayed(self.decayed_failures, newest - (self.last_failed_turn or newest))
        self.decayed_failures = before + decayed(1.0, newest - turn)
        self.last_failed_turn = newest


def _either(one: bool | None, other: bool | None) -> bool | None:
    return one if other is None else bool(one) or other


def _longest(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else max(one, other)


def _masked(message: str) -> str:
    """Imported when something failed: most runs of most suites need none of it."""
    from whet.memory.masking import masked

    return masked(message)
