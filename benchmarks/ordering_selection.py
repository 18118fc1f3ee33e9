"""Is selection honest? Every cycle runs only what keeps the promised risk, every tenth runs whole, and only what ran is
learned from. A failing cycle is missed when none of its failing executions ran."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.ordering_history import Cycle, History
from benchmarks.ordering_replay import Positions, Ran, seen_of, shuffled
from benchmarks.ordering_whet import Executions, Ours, in_place

from whet.skills.ordering.metrics import total_seconds
from whet.skills.ordering.promise import FULL_RUN_EVERY

PROMISED_RISK = 0.05
SPREAD = ("miss_rate", "time_saved")


@dataclass
class Tally:
    """Counts over the cycles of a history."""

    cycles: int = 0
    failing_cycles: int = 0
    missed_cycles: int = 0
    failing_cycles_selected: int = 0  # of the failing ones, those that did not run whole
    failing_executions: int = 0
    missed_executions: int = 0
    full_runs: int = 0
    full_runs_without_promise: int = 0  # of these, not due: no smaller selection kept the promise
    seconds: float = 0.0
    seconds_run: float = 0.0

    def count(self, shown: Cycle, ran: Ran) -> None:
        self.cycles += 1
        self.full_runs += ran.complete
        self.seconds += total_seconds(shown.seconds)
        self.seconds_run += total_seconds(ran.seconds)
        failing, seen = int(shown.failed.sum()), int(ran.failed.sum())
        self.failing_executions += failing
        self.missed_executions += failing - seen
        self.failing_cycles += failing > 0
        self.failing_cycles_selected += failing > 0 and not ran.complete
        self.missed_cycles += failing > 0 and seen == 0

    def told(self) -> dict[str, Any]:
        """With the shares; None where there was nothing to take a share of."""
        return vars(self) | {
            "promised_risk": PROMISED_RISK,
            "full_run_every": FULL_RUN_EVERY,
            "miss_rate": _share(self.missed_cycles, self.failing_cycles),
            "miss_rate_of_selections": _share(self.missed_cycles, self.failing_cycles_selected),
            "missed_executions_share": _share(self.missed_executions, self.failing_executions),
            "time_saved": _share(self.seconds - self.seconds_run, self.seconds),
        }


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def selection(history: History, seeds: int = 1) -> dict[str, Any]:
    """The mean of as many replays, each of them, and the least and the most of what matters."""
    replays = [_replayed(history, seed).told() for seed in range(seeds)]
    told = {key: _mean([one[key] for one in replays]) for key in replays[0]}
    return told | {"replays": replays, "spread": {key: _spread([one[key] for one in replays]) for key in SPREAD}}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _spread(values: Sequence[float | None]) -> tuple[float, float] | None:
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else None


def _replayed(history: History, seed: int) -> Tally:
    ours, tally = Ours(history), Tally()
    for place, shown in enumerate(shuffled(history, seed)):
        executions = ours.executions(shown.tests)
        kept, promised = _kept(ours, executions, due=place % FULL_RUN_EVERY == 0)
        ran = seen_of(shown, kept)
        tally.full_runs_without_promise += not promised
        tally.count(shown, ran)
        ours.learn(shown.number, ran)
    return tally


def _kept(ours: Ours, executions: Executions, due: bool) -> tuple[Positions, bool]:
    """What runs; and False when it is everything, out of turn, because nothing less kept the promise."""
    ranked = ours.rank(list(executions))
    chosen = None if due else ours.orderer.within_risk(ranked, PROMISED_RISK)
    tests = [r.test for r in ranked] if chosen is None else chosen
    return in_place(tests, executions), due or chosen is not None
