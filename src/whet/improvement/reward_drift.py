"""Rewards against what the same actions earned before in the same states."""

import math
from collections import OrderedDict
from typing import Final, NamedTuple

from whet.core.records import Experience
from whet.improvement.adwin import Adwin, Cut
from whet.improvement.drift_record import Drift

_MOST_CELLS: Final = 10_000
# So many runs say how far rewards usually spread, before any is compared.
_WARM_UP: Final = 20
# In spreads. A rare disaster counts as a bad run, not as ten; further than that numbers do not go.
_FURTHEST: Final = 3.0
# Chosen by simulation (benchmarks/drift.py): a half of what Bernstein would ask of numbers this far apart, because runs
# are near to normal; still room enough for neighbours that resemble each other.
_REACH: Final = 2.0
# Between neighbours; what is more alike than this says nothing for longer than anybody looks.
_MOST_ALIKE: Final = 0.95
_SPREAD_OF_MEAN_DEVIATION: Final = math.sqrt(math.pi / 2)


class _Cell(NamedTuple):
    visits: int
    mean: float


class _Spread:
    """The standard deviation of the runs until now, from their mean absolute deviation, which rare ones sway less."""

    def __init__(self) -> None:
        self._count, self._total, self._deviations = 0, 0.0, 0.0

    def scaled(self, value: float) -> float | None:
        self._count, self._total = self._count + 1, self._total + value
        self._deviations += abs(value - self._total / self._count)
        if self._count <= _WARM_UP or self._deviations == 0.0:
            return None
        return max(-_FURTHEST, min(_FURTHEST, value / self.points()))

    def points(self) -> float:
        return _SPREAD_OF_MEAN_DEVIATION * self._deviations / self._count


class _Neighbours:
    """For how many runs a value lasts, (1 + ρ) / (1 − ρ) where each is like the one before it by ρ.

    From differences of neighbours, (x₂ − x₀)² against (x₁ − x₀)², which are in the mean as 1 + ρ to 1: a single step in
    the stream, which is what is looked for, hardly changes either.
    """

    def __init__(self) -> None:
        self._before: tuple[float, ...] = ()
        self._next, self._next_but_one = 0.0, 0.0

    def last(self, value: float) -> float:
        if len(self._before) == 2:
            self._next += (value - self._before[1]) ** 2
            self._next_but_one += (value - self._before[0]) ** 2
        self._before = (*self._before, value)[-2:]
        if self._next <= 0.0:
            return 1.0
        like = min(_MOST_ALIKE, max(0.0, self._next_but_one / self._next - 1.0))
        return (1.0 + like) / (1.0 - like)


class RewardDrift:
    """ADWIN on recursive residuals (R. Brown, J. Durbin, J. Evans, 1975): each reward against the mean of the earlier
    ones of the same action in the same state, so that a policy that merely learns to choose better is no drift."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._cells: OrderedDict[tuple[str, str], _Cell] = OrderedDict()
        self._window, self._spread, self._neighbours = _window(), _Spread(), _Neighbours()
        self._run: list[float] = []
        self._last: Experience | None = None

    def observe(self, experience: Experience) -> Drift | None:
        """A run is judged when the next one begins."""
        before, self._last = self._last, experience
        found = self._close(before) if before is not None and before.run_id != experience.run_id else None
        residual = self._residual(experience)
        if residual is not None:
            self._run.append(residual)
        return found

    def _close(self, last: Experience) -> Drift | None:
        values, self._run = self._run, []
        scaled = self._spread.scaled(math.fsum(values) / len(values)) if values else None
        cut = None if scaled is None else self._window.update(scaled, self._neighbours.last(scaled))
        if cut is None:
            return None
        size = (cut.after - cut.before) * self._spread.points()
        self._cells.clear()
        self._window, self._spread, self._neighbours = _window(), _Spread(), _Neighbours()
        return Drift(
            agent=self._agent, kind="rewards", what="reward", size=size, run_id=last.run_id, at=last.at,
            sentence=_told(self._agent, size, cut),
        )  # fmt: skip

    def _residual(self, experience: Experience) -> float | None:
        """Scaled so that all have the same variance, however few rewards the mean is of; None for a first one."""
        place = (experience.state_key, experience.decision.action)
        cell = self._cells.pop(place, _Cell(0, 0.0))
        gap = experience.reward.credited - cell.mean
        self._cells[place] = _Cell(cell.visits + 1, cell.mean + gap / (cell.visits + 1))
        if len(self._cells) > _MOST_CELLS:
            self._cells.popitem(last=False)
        return gap * math.sqrt(cell.visits / (cell.visits + 1)) if cell.visits else None


def _window() -> Adwin:
    return Adwin(delta=0.002, every=8, reach=_REACH)


def _told(agent: str, size: float, cut: Cut) -> str:
    return (
        f"Rewards of {agent} {'rose' if size > 0 else 'fell'} by about {abs(size):.1f} points against what the same "
        f"actions earned in the same states ({cut.count_after:,} runs after {cut.count_before:,})."
    )
