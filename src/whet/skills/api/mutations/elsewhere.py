"""What made one operation fail, put where another takes a value of the same name."""

import random
from collections.abc import Callable

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Draft
from whet.skills.api.mutations.places import Place, put
from whet.skills.api.mutations.rules import Rule
from whet.skills.api.mutations.sites import Sites
from whet.skills.api.values.slots import NOTHING, Absent

Failing = Callable[[str, Place], Json | Absent]  # for a place of an operation, a value that failed at its namesakes
NAME = "failed-elsewhere"


def no_value(_operation: str, _place: Place) -> Absent:
    return NOTHING


def elsewhere(failing: Failing) -> tuple[Rule, ...]:
    def places(sites: Sites) -> list[Place]:
        return [one.place for one in sites.every if failing(sites.operation.id, one.place) is not NOTHING]

    def change(sites: Sites, place: Place, _: random.Random) -> Draft:
        value = failing(sites.operation.id, place)
        return sites.draft if value is NOTHING else put(sites.draft, place, value)

    return (Rule(NAME, places, change, sited=True),)
