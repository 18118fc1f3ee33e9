"""A preference for a source of values: it is followed where nothing speaks against it, and gives way to refusals."""

import random
from collections import Counter

import pytest

from whet.skills.api.learning.dependencies import Dependencies
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.sources import Sources
from whet.skills.api.values.slots import Slot, Source

SLOT = Slot("POST /books", "body.title", {"type": "string"}, True)
MADE = (Source.EXAMPLE, Source.REALISTIC, Source.CONSTRAINED, Source.BOUNDARY)


def chosen(preferred: Source | None, refused: Source | None = None) -> Counter[Source]:
    rng = random.Random(5)
    sources = Sources(rng, Dependencies(rng, Entities(rng)))
    sources.preferred = preferred
    drawn: Counter[Source] = Counter()
    for _ in range(400):
        source = sources.choose(SLOT, MADE)
        drawn[source] += 1
        if refused is not None:
            sources.tell(SLOT.operation, {SLOT.place: source}, float(source is not refused))
    return drawn


@pytest.mark.parametrize("source", MADE)
def test_it_is_followed_while_nothing_is_known(source: Source) -> None:
    assert chosen(source)[source] > 400 * 0.6
    assert chosen(None)[source] < 400 * 0.6


@pytest.mark.parametrize("source", MADE)
def test_it_gives_way_to_refusals(source: Source) -> None:
    assert chosen(source, refused=source)[source] < 400 * 0.15
