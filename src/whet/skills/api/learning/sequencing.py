"""What to try next: an operation as its contract has it, or a mutation of a request that worked.

Thompson sampling over expected news. Three beliefs meet: what an operation's valid requests brought, what its mutated
ones brought, and what each kind of mutation is answered with on this service (`kinds`). The last is why a mutation that
worked once is soon tried everywhere its answer would be news.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whet.skills.api.contract.model import Operation
from whet.skills.api.learning.kinds import FAILURE, MOST_STATUSES, Kinds
from whet.skills.api.learning.novelty import News

_REACH_PRIOR = (2.0, 0.7)  # an operation nobody has reached yet: most can be, if what they need is there
_REFUSED = 2.0  # how much a refusal counts against one more try: most of what can be reached is reached soon
_UNREADY_REFUSAL = 0.3
_REACH_WORTH = 1.3  # reaching an operation is news, and opens what builds on it
_KNOWN_PRIOR = (8.0, 0.5)  # one that was reached in an earlier run
_AGAIN_PRIOR = (0.5, 15.0)  # one more valid request to an operation that already worked
_OWN_PRIOR = (1.0, 1.0)
_MISS = 0.25  # a mutation that brought nothing speaks more against its kind than against the operation
_TRIED_AGAIN = 0.5  # of its worth, each time the same kind was tried on the same operation
_MOST_KEPT_TRIES = 3  # of those in earlier runs: nothing is given up for good
_WAITING = 0.02
_NEVER_TRIED = 0.6  # at first; more the longer it waits, so that a short run leaves nothing out
_NOT_READY = 0.12  # a request whose parent does not exist mostly tells what a wrong id tells
_UNREACHED_TRIES = 3  # before mutating what never worked: half-good requests still find parsers that crash
_UNREACHED_WORTH = 0.5
_CREDITED = 0.02  # the most that credit may add per try: an operation others build on is not news by itself

_ELSEWHERE = ("@path", "gone-id")  # kinds of mutations that name something else than what is there

Asked = Callable[[Operation], bool]


def _nothing(_: Operation) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Step:
    operation: Operation
    kind: str | None  # the kind of mutation; None for a valid request


class Sequencing:
    """For ablations: `learn=False` takes any operation, mutated or not; `learn_kinds=False` any kind that has a place
    there."""

    def __init__(
        self,
        operations: Sequence[Operation],
        families: Mapping[str, str],
        rng: np.random.Generator,
        learn: bool = True,
        learn_kinds: bool = True,
    ) -> None:
        methods = sorted({operation.method for operation in operations})
        self.operations = tuple(operations)
        self.kinds = Kinds(families, methods, rng)
        self._place = {operation.id: at for at, operation in enumerate(operations)}
        self._method = np.array([methods.index(operation.method) for operation in operations])
        self._rng, self._learn, self._learn_kinds = rng, learn, learn_kinds
        count = len(self.operations)
        self.reached, self.refused, self._known = np.zeros(count), np.zeros(count), np.zeros(count, dtype=bool)
        self._ready = np.ones(count, dtype=bool)
        self.again_tries, self.again_news, self.credited = np.zeros(count), np.zeros(count), np.zeros(count)
        parts = [family.partition("@")[2] or family for family in families.values()]
        self._part = np.array([sorted(set(parts)).index(part) for part in parts], dtype=int)
        self.mutated_news = np.zeros((count, len(set(parts))))
        self.mutated_tries = np.zeros_like(self.mutated_news)
        self._weight = np.ones((count, len(self.kinds.names)))  # 0 where a kind has no place
        self._tried = np.zeros_like(self._weight, dtype=int)
        self._unseen, self._seen = np.ones((count, MOST_STATUSES)), 0
        self._turns = 0
        self._failed_first: dict[int, int] = {}  # by way to fail: the operation that showed it first

    def next(self, ready: Asked, waits: Asked, spared: Asked = _nothing) -> Step:
        """`ready`: what it needs is known to exist; `waits`: better after others (it deletes what they need);
        `spared`: what it deletes is not to be deleted now."""
        if not self._learn:
            return self._any()
        self._turns += 1
        valid, worth = self._best_valid(ready, waits, spared)
        mutated, kinds = self._mutated_worth()
        best = int(np.argmax(mutated))
        while mutated[best] > 0 and self._deletes(kinds[best]) and spared(self.operations[best]):
            mutated[best] = 0.0
            best = int(np.argmax(mutated))
        if not self.kinds.names or worth >= mutated[best]:
            return Step(self.operations[valid], None)
        return self._mutation(best, int(kinds[best]))

    def _deletes(self, kind: int) -> bool:
        """Such a mutation of a request that deletes may still do so."""
        return not self.kinds.names[kind].endswith(_ELSEWHERE)

    def saw(self, operation_id: str, answer: int | None) -> None:
        """This operation gave this answer, whatever asked for it."""
        if operation_id in self._place:
            at = self._place[operation_id]
            column = self._column(at, answer)
            self._seen += int(self._unseen[at, column])
            self._unseen[at, column] = 0.0

    def _column(self, at: int, answer: int | None) -> int:
        """A way to fail that a second operation shows has a place of its own. Until then it is some failure: what
        only one says may be about itself."""
        if answer is None or answer >= 0 or self.kinds.tells_apart(answer):
            return self.kinds.column(answer)
        first = self._failed_first.setdefault(answer, at)
        if first == at or not self.kinds.can_tell_apart():
            return self.kinds.column(FAILURE)
        column = self.kinds.column(answer)
        self._unseen[first, column] = 0.0
        return column

    def tell(self, step: Step, answer: int | None, news: News, patience: float = 1.0) -> None:
        """What came of a step; before `saw` of the same answer. With patience, a refusal counts for less."""
        at, worth, ok = self._place[step.operation.id], news.worth, answer is not None and 200 <= answer < 300
        if step.kind is not None:
            column = self._column(at, answer)
            before = not self._unseen[at, column]
            if self.reached[at] or not before:  # else it says this to everything
                self.kinds.tell(int(self._method[at]), self.kinds.place[step.kind], column, before, news.fault)
            self._tell_mutated(at, self.kinds.place[step.kind], worth)
            return
        if self.reached[at]:  # that it was reached at all is no promise of more
            self.again_tries[at] += 1
            self.again_news[at] += worth
        self.reached[at] += ok
        if not ok:  # a request whose parent was not there says little about one whose parent is
            self.refused[at] += (1.0 if self._ready[at] else _UNREADY_REFUSAL) / patience

    def _tell_mutated(self, at: int, kind: int, worth: float) -> None:
        self.mutated_tries[at, self._part[kind]] += 1
        self.mutated_news[at, self._part[kind]] += worth
        self._weight[at, kind] *= _TRIED_AGAIN
        self._tried[at, kind] += 1

    def tried(self) -> dict[str, dict[str, int]]:
        """How often each kind was tried on each operation, in this run and before: for the next run."""
        rows = zip(self.operations, self._tried, strict=True)
        return {
            one.id: {self.kinds.names[at]: int(row[at]) for at in np.flatnonzero(row)} for one, row in rows if row.any()
        }

    def tried_before(self, tried: Mapping[str, Mapping[str, int]]) -> None:
        """What an earlier run tried comes after what nobody has tried."""
        for operation, kinds in tried.items():
            for kind, times in kinds.items():
                if operation in self._place and kind in self.kinds.place:
                    place = self._place[operation], self.kinds.place[kind]
                    self._tried[place] = min(times, _MOST_KEPT_TRIES)
                    self._weight[place] *= _TRIED_AGAIN ** self._tried[place]

    def credit(self, operation_id: str, worth: float) -> None:
        """A share of what a later request brought, to the operation that made what it needed."""
        if operation_id in self._place:
            self.credited[self._place[operation_id]] += worth

    def known(self, operations: Iterable[str]) -> None:
        """These were reached in an earlier run."""
        for operation in operations:
            if operation in self._place:
                self._known[self._place[operation]] = True

    def limit(self, operation: Operation, kinds: Iterable[str]) -> None:
        """Only these kinds have a place in the operation."""
        possible = np.zeros(len(self.kinds.names), dtype=bool)
        possible[[self.kinds.place[kind] for kind in kinds]] = True
        self._weight[self._place[operation.id], ~possible] = 0.0

    def open(self, operation: Operation, kind: str) -> None:
        """There is something new for this kind to try there."""
        self._weight[self._place[operation.id], self.kinds.place[kind]] = 1.0

    def cannot(self, step: Step) -> None:
        if step.kind is not None:
            self._weight[self._place[step.operation.id], self.kinds.place[step.kind]] = 0.0

    def worked(self, operation: Operation) -> bool:
        return bool(self.reached[self._place[operation.id]])

    def refusals(self, operation: Operation) -> float:
        return float(self.refused[self._place[operation.id]])

    def _best_valid(self, ready: Asked, waits: Asked, spared: Asked) -> tuple[int, float]:
        """From the best draw down, until no later one can win: readiness is asked of few operations."""
        drawn = self._valid_worth()
        best, worth = 0, -1.0
        for at in np.argsort(-drawn):
            if drawn[at] <= worth:
                break
            hindrance = 0.0 if spared(self.operations[at]) else self._hindrance(int(at), ready, waits)
            hindered = float(drawn[at]) * hindrance
            if hindered > worth:
                best, worth = int(at), hindered
        return best, worth

    def _hindrance(self, at: int, ready: Asked, waits: Asked) -> float:
        operation = self.operations[at]
        share = _WAITING if waits(operation) else 1.0
        self._ready[at] = ready(operation)
        if self._ready[at]:
            return share
        never = not self.reached[at] and not self.refused[at]  # whatever it answers is news
        waited = 1.0 + self._turns / (2 * len(self.operations))
        return share * (_NEVER_TRIED * waited if never else _NOT_READY)

    def _valid_worth(self) -> np.ndarray:
        before = np.where(self._known, _KNOWN_PRIOR[0], _REACH_PRIOR[0])
        against = np.where(self._known, _KNOWN_PRIOR[1], _REACH_PRIOR[1])
        new = self._rng.beta(before, against + _REFUSED * self.refused)
        news = self.again_news + np.minimum(self.credited, _CREDITED * self.again_tries)
        again = self._rng.beta(_AGAIN_PRIOR[0] + news, _AGAIN_PRIOR[1] + np.maximum(self.again_tries - news, 0))
        return np.where(self.reached > 0, again, _REACH_WORTH * new)

    def _mutated_worth(self) -> tuple[np.ndarray, np.ndarray]:
        """Per operation: the worth of its best mutation, and which that is."""
        misses = np.maximum(self.mutated_tries - self.mutated_news, 0)
        own = self._rng.beta(_OWN_PRIOR[0] + self.mutated_news, _OWN_PRIOR[1] + _MISS * misses)
        drawn = self.kinds.expected(self._method, self._unseen, self._seen) * self._weight * own[:, self._part]
        best = np.argmax(drawn, axis=1)
        worth = drawn[np.arange(len(self.operations)), best]
        worth[self.reached == 0] *= _UNREACHED_WORTH
        early = np.where(
            self._ready, self.refused < _UNREACHED_TRIES, self.refused == 0
        )  # no use waiting for unready ones
        worth[(self.reached == 0) & early] = 0.0
        return worth, best

    def _any(self) -> Step:
        at = int(self._rng.integers(len(self.operations)))
        if not self._weight[at].any() or self._rng.random() < 0.5:
            return Step(self.operations[at], None)
        return self._mutation(at, int(self._mutated_worth()[1][at]))

    def _mutation(self, at: int, best: int) -> Step:
        kind = best if self._learn_kinds else int(self._rng.choice(np.flatnonzero(self._weight[at])))
        return Step(self.operations[at], self.kinds.names[kind])
