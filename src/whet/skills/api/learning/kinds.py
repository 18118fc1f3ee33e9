"""What each kind of mutation is answered with, by method, and so what it would be news to.

A kind that is always answered 422 is worth much where nobody has seen a 422 yet, and nothing where somebody has: what
is learned is the answer, not whether it paid. A hundred kinds cannot all be tried often: a kind leans on what other
methods saw of it, and on its family.
"""

from collections.abc import Mapping, Sequence

import numpy as np

MOST_STATUSES = 40
_FAMILY_TRIES = 3.0  # a family, and all other methods, count for so many tries of a kind
_UNTRIED = 0.33  # of that, while nobody has tried the kind itself: it may be another than its family
_OTHER_METHODS_TRIES = 4.0
_EVERY_STATUS = 0.05  # of a try: anything may be answered; one failure or another counts for one status
_DRAWN_FOR = 8  # turns: draws are dear, and beliefs change little between two turns
_KEPT_TRIES = 10.0  # of those in earlier runs: services change
_STATUS_WORTH, _FAULT_WORTH = 0.7, 1.0
FAILURE = 500  # some failure; one that several operations showed is told apart, by a number below zero
_MOST_FAILURES = 20  # told apart
_NEW_CAUSE = (1.0, 3.0)  # chance that one more failure of an operation that failed before has another cause


class Kinds:
    def __init__(self, families: Mapping[str, str], methods: Sequence[str], rng: np.random.Generator) -> None:
        """`families`: every kind with the family it belongs to."""
        self.names = tuple(families)
        self.place = {kind: at for at, kind in enumerate(self.names)}
        named = sorted(set(families.values()))
        self._member = np.zeros((len(named), len(self.names)))
        for at, family in enumerate(families.values()):
            self._member[named.index(family), at] = 1.0
        self._family = self._member.argmax(axis=0)
        self._rng = rng
        self._statuses: dict[int | None, int] = {}
        self._worth = np.zeros(MOST_STATUSES)
        self.counts = np.zeros((len(methods), len(self.names), MOST_STATUSES))
        self._drawn: np.ndarray | None = None
        self._turns = 0
        self._news, self._for_seen = np.zeros((0, 0)), -1
        self._causes = list(_NEW_CAUSE)
        self.column(FAILURE)  # hoped for before it was ever seen: else nothing would be tried where all is well

    def column(self, answer: int | None) -> int:
        """A place for each answer; past a bound, all that follow share the last."""
        if answer not in self._statuses:
            self._statuses[answer] = min(len(self._statuses), MOST_STATUSES - 1)
            fails = answer is None or answer < 0 or answer >= FAILURE
            self._worth[self._statuses[answer]] = _FAULT_WORTH if fails else _STATUS_WORTH
        return self._statuses[answer]

    def tells_apart(self, answer: int) -> bool:
        return answer in self._statuses

    def can_tell_apart(self) -> bool:
        return sum(answer is not None and answer < 0 for answer in self._statuses) < _MOST_FAILURES

    def tell(self, method: int, kind: int, column: int, seen_before: bool, new_cause: bool) -> None:
        self.counts[method, kind, column] += 1
        if seen_before and column == self._statuses[FAILURE]:
            self._causes[0 if new_cause else 1] += 1

    def expected(self, method: np.ndarray, unseen: np.ndarray, seen: int) -> np.ndarray:
        """Expected news of every kind on every operation: `unseen` says which statuses each has not shown yet.

        `seen` counts what was shown: while it is the same and nothing is drawn anew, so is the answer.
        """
        fresh = self._drawn is None or self._turns % _DRAWN_FOR == 0
        if fresh:
            self._drawn = self._draw()
        self._turns += 1
        if fresh or seen != self._for_seen:
            self._news, self._for_seen = self._expected(method, unseen), seen
        return self._news

    def _expected(self, method: np.ndarray, unseen: np.ndarray) -> np.ndarray:
        used = len(self._statuses)
        unseen = unseen[:, :used].copy()
        some = self._statuses[FAILURE]
        unseen[:, some] = np.maximum(unseen[:, some], self._causes[0] / sum(self._causes))
        value = self._worth[:used] * unseen
        news = np.empty((len(method), len(self.names)))
        for number, chances in enumerate(self._drawn if self._drawn is not None else ()):
            rows = method == number
            drawn = chances[:, :used]  # a status met since then has no chance yet
            news[rows] = value[rows, : drawn.shape[1]] @ drawn.T
        return news

    def kept(self) -> dict[str, dict[str, float]]:
        """What every kind was answered, over all methods: for the next run."""
        total = self.counts.sum(axis=0)
        shown = {status: at for status, at in self._statuses.items() if status is not None}
        return {
            kind: {str(status): float(total[at, column]) for status, column in shown.items() if total[at, column]}
            for kind, at in self.place.items()
            if total[at].any()
        }

    def restore(self, kept: Mapping[str, Mapping[str, float]]) -> None:
        """What was answered in earlier runs counts for each method, as far as a few tries go."""
        for kind, answers in kept.items():
            tries = sum(answers.values())
            if kind in self.place and tries:
                share = min(1.0, _KEPT_TRIES / tries)
                for status, count in answers.items():
                    self.counts[:, self.place[kind], self.column(int(status))] += share * count

    def _draw(self) -> np.ndarray:
        """Chances of each answer, drawn for each method and kind (Dirichlet by gammas)."""
        counts = self.counts[..., : max(1, min(len(self._statuses), MOST_STATUSES))]  # the others have none
        total = counts.sum(axis=0)
        untried = total.sum(axis=-1, keepdims=True) == 0
        families = _scaled(self._member @ total, _FAMILY_TRIES)[self._family] * np.where(untried, _UNTRIED, 1.0)
        others = _scaled(total - counts, _OTHER_METHODS_TRIES)
        worth = self._worth[: counts.shape[-1]]
        fails = worth == _FAULT_WORTH
        prior = _EVERY_STATUS * np.where(fails, 1.0 / fails.sum(), worth > 0)
        drawn = self._rng.standard_gamma(counts + others + families + prior + 1e-6)
        return np.asarray(drawn / np.maximum(drawn.sum(axis=-1, keepdims=True), 1e-12))


def _scaled(counts: np.ndarray, most: float) -> np.ndarray:
    """The same shares, worth no more than `most` tries."""
    tries = counts.sum(axis=-1, keepdims=True)
    return np.asarray(counts * np.minimum(1.0, most / np.maximum(tries, 1e-9)))
