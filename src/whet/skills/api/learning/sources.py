"""Where each slot's value comes from, as a learned choice: what was accepted before is drawn more often."""

import random
from collections.abc import Mapping, Sequence

from whet.skills.api.learning.beliefs import Beliefs, Prior
from whet.skills.api.learning.dependencies import Dependencies
from whet.skills.api.names import words
from whet.skills.api.values.slots import Slot, Source

_PRIORS: dict[Source, Prior] = {
    Source.EXAMPLE: (2.0, 1.0),
    Source.REALISTIC: (1.5, 1.0),
    Source.CONSTRAINED: (1.0, 1.0),
    Source.BOUNDARY: (0.7, 1.5),
}
_OBSERVED_TRIES = 4.0
_REFERENCE_TRIES = 10.0  # what names another thing has to name one that is there
_MADE_UP_REFERENCE: Prior = (0.3, 2.0)
_PREFERENCE = 12.0  # successes that a preferred source is taken to have had: it gives way to what is seen
_IDS = frozenset({"id", "uuid"})
_OWN_IDS = frozenset({("id",), ("uuid",)})
_SURE_OF_ALL = 3  # PUT operations that make nothing, and none that does: so it is with the others
_KNOWN_PATH: Prior = (9.0, 1.0)  # an id the service gave is nearly always better than one made up
_MADE_UP_PATH: Prior = (0.5, 2.0)
_ALL_KNOWN = 0.5
_EXAMPLES_TOGETHER = 0.2
_VARIED, _FINE = 0.25, 0.5  # of the values of what has worked, how many come from any source that is mostly accepted
_FEW = 0.06  # chance to add an optional value to a request that has not worked yet; most need only what is required
_MORE = 0.4
_MOST = 0.8
_GROWING = 0.08  # and more with every refusal: what is optional by contract may be needed after all

Own = tuple[str, str, Source]
Shared = tuple[str, str, Source]


class Sources:
    """Thompson sampling over sources per slot, leaning on slots of the same type and place.

    `learn=False` draws evenly: the baseline of the ablation.
    """

    def __init__(self, rng: random.Random, dependencies: Dependencies, learn: bool = True) -> None:
        self._rng, self._dependencies, self._learn = rng, dependencies, learn
        self.preferred: Source | None = None  # somebody's wish for this run; it is not remembered
        self.own: Beliefs[Own] = Beliefs(rng)
        self.shared: Beliefs[Shared] = Beliefs(rng)
        self.present: Beliefs[tuple[str, str]] = Beliefs(rng)
        self.paths: Beliefs[tuple[str, bool]] = Beliefs(rng)
        self._made_up: bool | None = None
        self._all_known: bool | None = None
        self._all_examples = False
        self.namesakes: Beliefs[tuple[str, str]] = Beliefs(rng)
        self._kinds: dict[tuple[str, str], tuple[str, str]] = {}
        self._created: set[str] = set()  # PUT operations that made a thing under a name of our own
        self._not_created: set[str] = set()  # and those that answered that there is no such thing

    def choose(self, slot: Slot, possible: Sequence[Source]) -> Source:
        if slot.where == "path" and Source.OBSERVED in possible and not self._makes_its_own_place(slot):
            return self._for_path(slot, possible)
        self._kinds[slot.operation, slot.place] = self._group(slot), self._kind_of(slot)
        if Source.OBSERVED in possible and self._dependencies.is_wide(slot) and self._is_all_known():
            return Source.OBSERVED
        if not self._learn:
            return self._rng.choice(list(possible))
        if self._all_examples and Source.EXAMPLE in possible:
            return Source.EXAMPLE
        return max(possible, key=lambda source: self._draw(slot, source))

    def again(self, slot: Slot, possible: Sequence[Source], before: Source) -> Source:
        """The source that worked before; now and then another that is mostly accepted. Where all that is given is
        accepted, what was given first would be given for ever."""
        varies = self._learn and slot.where != "path" and self._rng.random() < _VARIED
        fine = [one for one in possible if self._is_fine(slot, one)] if varies else []
        return self._rng.choice(fine) if fine else before

    def begin(self, reached: bool = True) -> None:
        """A new request: its path is chosen anew. While its operation has not worked, now and then all examples are
        taken at once: a name and a password belong together."""
        self._made_up = self._all_known = None
        self._all_examples = not reached and self._rng.random() < _EXAMPLES_TOGETHER

    def _is_all_known(self) -> bool:
        """Where names led nowhere, one choice for all that is required: several references have to be right at once."""
        if self._all_known is None:
            self._all_known = self._rng.random() < _ALL_KNOWN
        return self._all_known

    def _for_path(self, slot: Slot, possible: Sequence[Source]) -> Source:
        """One choice for all parameters of a path: ids that belong together, or made up ones."""
        if self._made_up is None:
            known = self.paths.draw((slot.operation, True), _KNOWN_PATH) if self._learn else self._rng.random()
            self._made_up = known < (self.paths.draw((slot.operation, False), _MADE_UP_PATH) if self._learn else 0.5)
        if not self._made_up:
            return Source.OBSERVED
        return self._rng.choice([source for source in possible if source is not Source.OBSERVED] or list(possible))

    def _makes_its_own_place(self, slot: Slot) -> bool:
        """PUT to an item's path may create it under a name of our own: here, or anywhere, as long as nobody knows."""
        if slot.where != "path" or not _is_put_to_its_item(slot):
            return False
        if slot.operation in self._created or slot.operation in self._not_created:
            return slot.operation in self._created
        return bool(self._created) or len(self._not_created) < _SURE_OF_ALL

    def _group(self, slot: Slot) -> str:
        return "own place" if self._makes_its_own_place(slot) else slot.where

    def tell_creation(self, operation: str, created: bool) -> None:
        """A PUT to a place that nobody had told us of."""
        (self._created if created else self._not_created).add(operation)

    def tell_path(self, operation: str, known: bool, success: float) -> None:
        self.paths.tell((operation, known), success)

    def include(self, slot: Slot, reached: bool, refusals: int, bare: bool = False) -> bool:
        """Whether an optional value is given: learned per slot, rarer while the operation has not worked. But what is
        refused `bare` must lack something."""
        appetite = _MORE if reached else min(_MORE, _FEW + _GROWING * refusals)
        appetite = _MOST if bare and refusals and not reached else appetite
        if not self._learn:
            return self._rng.random() < _MORE
        prior = self.namesakes.lean(_namesake(slot.place))
        return self._rng.random() < appetite * 2 * self.present.mean((slot.operation, slot.place), prior)

    def tell(self, operation: str, places: Mapping[str, Source], success: float, weight: float = 1.0) -> None:
        """The sources that took part in a request, and how well it was received."""
        for place, source in places.items():
            group, kind = self._kinds.get((operation, place), (place.partition(".")[0], "any"))
            self.own.tell((operation, place, source), success, weight)
            self.shared.tell((group, kind, source), success, 0.5 * weight)
            self.present.tell((operation, place), success, weight)
            self.namesakes.tell(_namesake(place), success, 0.5 * weight)

    def _draw(self, slot: Slot, source: Source) -> float:
        return self.own.draw((slot.operation, slot.place, source), self._leaning(slot, source))

    def _is_fine(self, slot: Slot, source: Source) -> bool:
        return self.own.mean((slot.operation, slot.place, source), self._leaning(slot, source)) >= _FINE

    def _leaning(self, slot: Slot, source: Source) -> Prior:
        prior = self.shared.lean((self._group(slot), self._kind_of(slot), source), self._prior(slot, source))
        return (prior[0] + _PREFERENCE, prior[1]) if source is self.preferred else prior

    def _prior(self, slot: Slot, source: Source) -> Prior:
        if source is not Source.OBSERVED:
            return _MADE_UP_REFERENCE if self.refers(slot) else _PRIORS[source]
        promise = min(0.95, max(0.05, self._dependencies.promise(slot)))
        tries = _REFERENCE_TRIES if self.refers(slot) else _OBSERVED_TRIES
        return promise * tries, (1 - promise) * tries

    def _kind_of(self, slot: Slot) -> str:
        """What is learned of one reference serves those of the same name, not whatever else is a uuid."""
        return f"a {' '.join(words(slot.name))}" if self.refers(slot) else kind_of(slot)

    def refers(self, slot: Slot) -> bool:
        """`customer_id`, or a uuid that is not its own. So does `customer`, where customers were met."""
        if slot.where not in {"body", "query"}:
            return False
        parts = words(slot.name)
        if len(parts) > 1 and parts[-1] in _IDS:
            return True
        return parts[-1:] not in _OWN_IDS and (
            slot.schema.get("format") == "uuid" or self._dependencies.names_a_kind(slot)
        )


def _namesake(place: str) -> tuple[str, str]:
    """A header that breaks one operation mostly breaks the others too."""
    return place.partition(".")[0], place.rpartition(".")[2]


def kind_of(slot: Slot) -> str:
    kind = slot.schema.get("format") or slot.schema.get("type") or "any"
    return kind if isinstance(kind, str) else "any"


def _is_put_to_its_item(slot: Slot) -> bool:
    method, _, path = slot.operation.partition(" ")
    return method == "PUT" and path.rstrip("/").endswith("{" + slot.name + "}")
