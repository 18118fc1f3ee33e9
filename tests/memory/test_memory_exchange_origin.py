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
