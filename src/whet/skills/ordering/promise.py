"""How much of an order must run so that a failing suite is hardly ever taken for a green one.

Failing runs come in *incidents*: once a failure was seen, its test stands first, and the runs in which it fails again
are found at once. So it is the first run of an incident that tells how deep failures lie, and each incident counts
once: whoever counts its repetitions too takes one lucky find for twenty. A first run that is missed costs more than
itself, though, because those after it stay unseen until a full run.

Conformal prediction (Vovk et al., 2005), with incidents as what is exchanged, turns this into a promise: a share of
the order that would have missed some of the incidents seen risks these and one more, of all failing runs and that one.
Since suites change, the promise is adapted (Gibbs, Candès, "Adaptive conformal inference under distribution shift",
2021): every miss makes it more cautious, every find a little less, which holds the rate of misses in the long run.

Only whole runs tell what would have been missed. Between them selections tell what was found; so what a whole run
finds anew stands for as many runs as could not have told (inverse probability weighting: Horvitz, Thompson, 1952).
"""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple, Self

FULL_RUN_EVERY = 10  # runs
REFERENCE_RISK = 0.05
FEWEST_TESTS = 6  # of fewer, a share says nothing, and leaving some out saves little
_WINDOW = 300  # incidents
_STEP = 0.005


class Incident(NamedTuple):
    """A failure, from the run in which it was new on."""

    share: float  # of the order, that had to run to see it first
    runs: int = 1  # that failed, up to the next incident
    stands_for: int = 1  # the whole run it was seen in, and the selections before that could not tell

    @property
    def missed_runs(self) -> float:
        """Expected, had the first been missed: until it ends, or a full run comes, which is any of the next equally."""
        unseen = min(self.runs, FULL_RUN_EVERY)
        return max(self.stands_for, unseen - unseen * (unseen - 1) / (2 * FULL_RUN_EVERY))

    def seen_again(self) -> Self:
        return self._replace(runs=self.runs + 1)


class Promise:
    def __init__(
        self, incidents: Iterable[Incident] = (), held_risk: float = REFERENCE_RISK, selections: int = 0
    ) -> None:
        self.incidents = list(incidents)
        self.held_risk = held_risk  # what is asked so that REFERENCE_RISK comes true; below 0: all runs
        self.selections = selections  # since the last whole run

    @property
    def failing_runs(self) -> int:
        return sum(incident.runs for incident in self.incidents)

    def selected(self, failed: bool) -> None:
        """A selection ran. One that found nothing may have missed something."""
        self.selections += 1
        if failed:
            self._found_again()

    def passed(self) -> None:
        """A whole run was green."""
        self.selections = 0

    def failed(self, needed_share: float, again: bool) -> None:
        """A whole run failed, and this share of the order had to run to see it; `again`: a failure known before."""
        if again:
            self._found_again()
        else:
            self._found(Incident(needed_share, stands_for=self.selections + 1))
        self.selections = 0

    def share_for(self, risk: float) -> float | None:
        """The share to run for this risk of missing a failing suite; None: nothing less than all of it."""
        deepest = sorted(self.incidents, reverse=True)
        missed_runs = [0.0, *accumulate(incident.missed_runs for incident in deepest)]
        may_miss = bisect_right(missed_runs, risk, key=self._risk) - 1
        if may_miss < 0:
            return None
        return deepest[may_miss].share if may_miss < len(deepest) else 0.0

    def risk_of(self, share: float) -> float:
        """Upper bound on the probability of missing a failing suite when this share runs; 1 before any was seen."""
        return self._risk(sum(incident.missed_runs for incident in self.incidents if incident.share > share))

    def _risk(self, missed_runs: float) -> float:
        if not self.incidents:
            return 1.0
        one_more = sum(incident.missed_runs for incident in self.incidents) / len(self.incidents)
        caution = REFERENCE_RISK / max(self.held_risk, 1e-9)
        return min(1.0, (missed_runs + one_more) / (self.failing_runs + one_more) * max(1.0, caution))

    def _found_again(self) -> None:
        """By any order that knows of it: what was seen failing last stands first."""
        if self.incidents:  # else only selections saw it before, and nobody knows how deep it lay
            self.incidents[-1] = self.incidents[-1].seen_again()
            self._adapt(REFERENCE_RISK)

    def _found(self, incident: Incident) -> None:
        enough = self.share_for(REFERENCE_RISK)
        missed = enough is not None and incident.share > enough  # where everything runs, nothing is missed
        self._adapt(incident.stands_for * (REFERENCE_RISK - 1) if missed else REFERENCE_RISK)
        self.incidents = [*self.incidents, incident][-_WINDOW:]

    def _adapt(self, better_than_promised: float) -> None:
        """Never above what was promised: good years buy no later misses."""
        self.held_risk = min(REFERENCE_RISK, self.held_risk + _STEP * better_than_promised)
