"""All kinds of mutation, each with a name that learning can tell from the others.

bank = Bank(schemas)
for mutation, places in bank.possible(draft):
    spoiled = mutation.apply(draft, rng.choice(places), rng)  # spoiled.mutation, spoiled.broken
"""

import random
from dataclasses import dataclass, replace

from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft
from whet.skills.api.mutations.breaking import Breaking
from whet.skills.api.mutations.documents import DOCUMENTS
from whet.skills.api.mutations.elsewhere import Failing, elsewhere, no_value
from whet.skills.api.mutations.heads import HEADS
from whet.skills.api.mutations.identities import Foreign, identities
from whet.skills.api.mutations.kinds import KINDS
from whet.skills.api.mutations.numbers import NUMBERS
from whet.skills.api.mutations.places import Place
from whet.skills.api.mutations.queries import QUERIES
from whet.skills.api.mutations.rules import Rule
from whet.skills.api.mutations.sites import Survey
from whet.skills.api.mutations.structures import STRUCTURES
from whet.skills.api.mutations.texts import TEXTS
from whet.skills.api.values.slots import NOTHING

FAMILIES: dict[str, tuple[Rule, ...]] = {
    "kinds": KINDS,
    "texts": TEXTS,
    "numbers": NUMBERS,
    "structures": STRUCTURES,
    "documents": DOCUMENTS,
    "queries": QUERIES,
    "heads": HEADS,
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """`family` is what its kind has in common with others: little is known of a kind at first, more of its family."""

    family: str
    rule: Rule
    survey: Survey
    breaking: Breaking

    @property
    def name(self) -> str:
        return self.rule.name

    def applies(self, draft: Draft) -> tuple[Place, ...]:
        """The places of this draft that it can change; none where it has no use."""
        return tuple(self.rule.places(self.survey.of(draft)))

    def apply(self, draft: Draft, place: Place, rng: random.Random) -> Draft:
        """The draft changed in this place alone, with `broken` set where the contract certainly does not allow it."""
        sites = self.survey.of(draft)
        changed = replace(self.rule.change(sites, place, rng), mutation=self.name)
        if changed.broken is not None or self.rule.fair:
            return changed
        return replace(changed, broken=self.breaking.sentence(changed, sites.by_place.get(place)))


class Bank:
    """`foreign` gives an id of another thing than the one that belongs at a place of a draft, `failing` a value that
    failed where another operation takes the like; or NOTHING."""

    def __init__(
        self,
        schemas: Schemas,
        foreign: Foreign = lambda _draft, _place: NOTHING,
        failing: Failing = no_value,
    ) -> None:
        survey, breaking = Survey(schemas), Breaking(schemas)
        families = FAMILIES | {"identities": identities(foreign), "elsewhere": elsewhere(failing)}
        self._survey = survey
        self.mutations = tuple(
            Mutation(family, rule, survey, breaking) for family, rules in families.items() for rule in rules
        )
        self._by_name = {mutation.name: mutation for mutation in self.mutations}

    def places(self, draft: Draft) -> tuple[Place, ...]:
        """Wherever this draft holds a value."""
        return tuple(site.place for site in self._survey.of(draft).every)

    def named(self, name: str) -> Mutation | None:
        return self._by_name.get(name)

    def possible(self, draft: Draft) -> list[tuple[Mutation, tuple[Place, ...]]]:
        found = ((mutation, mutation.applies(draft)) for mutation in self.mutations)
        return [(mutation, places) for mutation, places in found if places]
