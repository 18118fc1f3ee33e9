"""An imported memory says which project it comes from, unless it is this one's own."""

from datetime import UTC, datetime

from whet.core.memories import Kind, Memory
from whet.memory.remembering_exchange import from_lines, to_lines

LIVED = Memory(
    project="shop",
    kind=Kind.EPISODIC,
    topic="experience",
    source="experience:1",
    text="went",
    about={"action": "left", "reward": 1.0, "position": 7},
    at=datetime(2026, 1, 1, tzinfo=UTC),
)


def test_another_projects_memories_are_marked() -> None:
    (there,) = from_lines(to_lines("shop", [LIVED]), "bank", "shop")
    assert (there.project, there.about) == ("bank", {"action": "left", "reward": 1.0, "origin": "shop"})
    (further,) = from_lines(to_lines("bank", [there]), "club", "bank")
    assert further.about["origin"] == "bank"


def test_its_own_memories_come_back_unmarked() -> None:
    (back,) = from_lines(to_lines("shop", [LIVED]), "shop")
    (named,) = from_lines(to_lines("shop", [LIVED]), "shop", "shop")
    assert back.about == named.about == {"action": "left", "reward": 1.0}


def test_a_source_that_is_a_digest_stays_as_it_is() -> None:
    """It has digits in a row that check like a card's; what is known by it would come in a second time."""
    digest = "finding:e5f0f061b095daef224a12b513c653b966df5c-58922040424950-fd3bf5a1722e".replace("-", "")
    for source in (digest, "failure:4111111111111111"):
        (back,) = from_lines(to_lines("shop", [LIVED.model_copy(update={"source": source})]), "shop")
        assert back.source == source
    (told,) = from_lines(to_lines("shop", [LIVED.model_copy(update={"source": "card 4111111111111111"})]), "shop")
    assert told.source == "card [card]"
