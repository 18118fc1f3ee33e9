"""What to try next: an operation as its contract has it, or a mutation of a request that worked.

Thompson sampling over expected news. Three beliefs meet: what an operation's valid requests brought, what its mutated
ones brought, and what each kind of mutation brought on this service with this method. The last is why a mutation that
worked once is soon tried everywhere it was not tried yet.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whet.skills.api.contract.model import Operation

_REACH_PRIOR = (2.0, 0.7)  # an operation nobody has reached yet: most can be, if what they need is there
_AGAIN_PRIOR = (0.2, 3.0)  # one more valid request to an operation that already worked
_KIND_PRIOR = (0.6, 1.4)
_PLACES_PRIOR = (1.0, 1.0)
_NOT_READY = 0.12  # a request whose parent does not exist mostly tells what a wrong id tells
_UNREACHED_TRIES = 3  # before mutating what never worked: half-good requests still find parsers that crash
_UNREACHED_WORTH = 0.5
_CREDITED = 0.02  # the most that credit may add per try: an operation others build on is not news by itself
_FAMILY_TRIES = 2.0
_KEPT_TRIES = 3.0
_METHOD_SHARE = 8.0  # how many tries of a kind with other methods may count for this one


@dataclass(frozen=True, slots=True)
class Step:
    operation: Operation
    kind: str | None  # the kind of mutation; None for a valid request


class Sequencing:
    """`learn=False` takes steps at random: the baseline of the ablation."""

    def __init__(
        self, operations: Sequence[Operation], kinds: Mapping[str, str], rng: np.random.Generator, learn: bool = True
    ):
        self.operations, self.kinds = tuple(operations), tuple(kinds)
        self._place = {operation.id: at for at, operation in enumerate(self.operations)}
        self._kind = {kind: at for at, kind in enumerate(self.kinds)}
        families = sorted(set(kinds.values()))
        self._family = np.array([families.index(family) for family in kinds.values()], dtype=np.intp)
        methods = sorted({operation.method for operation in self.operations})
        self._method = np.array([methods.index(operation.method) for operation in self.operations])
        self._rng, self._learn = rng, learn
        count, ways = len(self.operations), len(self.kinds)
        self.reached, self.refused = np.zeros(count), np.zeros(count)
        self.again_tries, self.again_news = np.zeros(count), np.zeros(count)
        self.mutated_news, self.mutated_tries = np.zeros(count), np.zeros(count)
        self.credited = np.zeros(count)
        self.kind_news, self.kind_tries = np.zeros((len(methods), ways)), np.zeros((len(methods), ways))
        self.tried = np.zeros((count, ways))
        self.impossible = np.zeros((count, ways), dtype=bool)
        self._weight = np.ones((count, ways))

    def next(self, ready: Callable[[Operation], bool], waits: Callable[[Operation], bool]) -> Step:
        """`ready`: what it needs is known to exist; `waits`: better after others (it deletes what they need)."""
        if not self._learn:
            return self._any()
        valid = self._valid_worth()
        for at, operation in enumerate(self.operations):
            if not ready(operation):
                valid[at] *= _NOT_READY
            if waits(operation):
                valid[at] *= 0.02
        mutated, kinds = self._mutated_worth()
        best_valid, best_mutated = int(np.argmax(valid)), int(np.argmax(mutated))
        if not self.kinds or valid[best_valid] >= mutated[best_mutated]:
            return Step(self.operations[best_valid], None)
        return Step(self.operations[best_mutated], self.kinds[int(kinds[best_mutated])])

    def tell(self, step: Step, worth: float, ok: bool) -> None:
        at = self._place[step.operation.id]
        if step.kind is None:
            if self.reached[at]:  # that it was reached at all is no promise of more
                self.again_tries[at] += 1
                self.again_news[at] += worth
            self.reached[at] += ok
            self.refused[at] += not ok
            return
        kind, method = self._kind[step.kind], self._method[at]
        self.mutated_tries[at] += 1
        self.mutated_news[at] += worth
        self.tried[at, kind] += 1
        self.kind_tries[method, kind] += 1
        self.kind_news[method, kind] += worth

    def credit(self, operation_id: str, worth: float) -> None:
        """A share of what a later request brought, to the operation that made what it needed."""
        if operation_id in self._place:
            self.credited[self._place[operation_id]] += worth

    def cannot(self, step: Step) -> None:
        """The mutation has no place in this operation."""
        if step.kind is not None:
            self.impossible[self._place[step.operation.id], self._kind[step.kind]] = True

    def kept(self) -> dict[str, list[float]]:
        """News and tries of every kind of mutation, over all methods."""
        news, tries = self.kind_news.sum(axis=0), self.kind_tries.sum(axis=0)
        return {kind: [float(news[at]), float(tries[at])] for kind, at in self._kind.items() if tries[at]}

    def restore(self, kept: Mapping[str, Sequence[float]]) -> None:
        """What kinds brought in earlier runs counts for each method, as far as a few tries go."""
        for kind, (news, tries) in kept.items():
            if kind in self._kind and tries:
                share = min(1.0, _KEPT_TRIES / tries)
                self.kind_news[:, self._kind[kind]] += share * news
                self.kind_tries[:, self._kind[kind]] += share * tries

    def worked(self, operation: Operation) -> bool:
        return bool(self.reached[self._place[operation.id]])

    def refusals(self, operation: Operation) -> float:
        return float(self.refused[self._place[operation.id]])

    def _valid_worth(self) -> np.ndarray:
        new = self._rng.beta(_REACH_PRIOR[0], _REACH_PRIOR[1] + self.refused)
        news = self.again_news + np.minimum(self.credited, _CREDITED * self.again_tries)
        again = self._rng.beta(_AGAIN_PRIOR[0] + news, _AGAIN_PRIOR[1] + np.maximum(self.again_tries - news, 0))
        return np.where(self.reached > 0, again, new)

    def _mutated_worth(self) -> tuple[np.ndarray, np.ndarray]:
        """Per operation: the worth of its best mutation, and which that is."""
        drawn = self._kind_draws()[self._method] * 0.5**self.tried
        drawn[self.impossible] = 0.0
        best = np.argmax(drawn, axis=1)
        misses = np.maximum(self.mutated_tries - self.mutated_news, 0)
        own = self._rng.beta(_PLACES_PRIOR[0] + self.mutated_news, _PLACES_PRIOR[1] + 0.25 * misses)
        worth = own * drawn[np.arange(len(self.operations)), best]
        worth[self.reached == 0] *= _UNREACHED_WORTH
        worth[(self.reached == 0) & (self.refused < _UNREACHED_TRIES)] = 0.0
        return worth, best

    def _kind_draws(self) -> np.ndarray:
        """By method; what other methods saw of a kind counts as a bounded prior."""
        news, tries = self.kind_news.sum(axis=0), self.kind_tries.sum(axis=0)
        share = np.minimum(1.0, _METHOD_SHARE / np.maximum(tries, 1e-9))
        prior = self._family_means(news, tries)
        a = _FAMILY_TRIES * prior + share * (news - self.kind_news) + self.kind_news
        b = _FAMILY_TRIES * (1 - prior) + np.maximum(share * (tries - self.kind_tries - news + self.kind_news), 0)
        return np.asarray(self._rng.beta(a, b + np.maximum(self.kind_tries - self.kind_news, 0)))

    def _family_means(self, news: np.ndarray, tries: np.ndarray) -> np.ndarray:
        """What the other kinds of its family brought, for each kind: a hundred kinds cannot all be tried often."""
        family_news = np.bincount(self._family, weights=news)
        family_tries = np.bincount(self._family, weights=tries)
        means = (_KIND_PRIOR[0] + family_news) / (sum(_KIND_PRIOR) + family_tries)
        return np.asarray(means[self._family])

    def _any(self) -> Step:
        at = int(self._rng.integers(len(self.operations)))
        if not self.kinds or self._rng.random() < 0.5:
            return Step(self.operations[at], None)
        possible = np.flatnonzero(~self.impossible[at])
        kind = self.kinds[int(self._rng.choice(possible))] if len(possible) else None
        return Step(self.operations[at], kind)
