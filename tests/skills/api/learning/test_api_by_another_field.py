"""One operation of many goes by a name where the others go by the id: the others do not suffer."""

from itertools import islice
from typing import NamedTuple

import pytest
from tests.skills.api.small_service import Answer, Heard, contract, does, exploring, in_path, record, served

from whet.skills.api.explorer import Explorer

TEXT = {"type": "string"}
BY_ID = (in_path("shelf_id", "string"),)
MADE = contract({
    "/shelves": {"post": does("201", "422", body=record(("name",), name=TEXT))},
    "/shelves/{shelf_id}": {
        "put": does("200", "404", parameters=BY_ID, body=record(size={"type": "integer"})),
        "get": does("200", "404", parameters=BY_ID),
    },
    "/shelves/{shelf_id}/count": {"get": does("200", "404", parameters=BY_ID)},
    "/shelves/{shelf_id}/boxes/{box}": {"get": does("200", "404", parameters=(*BY_ID, in_path("box", "string")))},
})  # fmt: skip


class Shelves:
    """Reading a shelf takes its name. There are no boxes."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def __call__(self, heard: Heard) -> Answer:
        if heard.path == "/shelves":
            name = heard.body.get("name") if isinstance(heard.body, dict) else None
            if not isinstance(name, str) or not name.isalnum():
                return 422, {"detail": "name"}
            self.names[f"id{len(self.names) + 10**8}"] = name
            return 201, {"id": [*self.names][-1], "name": name}
        given = heard.path.split("/")[2]
        by_name = heard.method == "GET" and heard.path.count("/") == 2
        there = given in (self.names.values() if by_name else self.names) and "/boxes" not in heard.path
        return (200, {"count": 1}) if there else (404, {"detail": "no such thing"})


@pytest.mark.parametrize("seed", range(5))
def test_what_serves_the_others_is_doubted_where_it_never_worked(seed: int) -> None:
    """Of the operation that goes by the name alone: others that go by the id, and did, lose nothing. What leads to
    boxes that do not exist is not what is missing there."""
    count, boxes = "GET /shelves/{shelf_id}/count", "GET /shelves/{shelf_id}/boxes/{box}"
    with served(Shelves()) as small, exploring(MADE, small, seed) as explorer:
        turns = explorer.turns()
        while not (began := by_id(explorer)).get(count, NEVER).worked:
            next(turns)
        tried = tries(explorer, boxes)
        list(islice(turns, 200))
        ended = by_id(explorer)
        assert tries(explorer, boxes) == tried
    own = ended.get("GET /shelves/{shelf_id}", NEVER).belief  # it may have taken the name at once
    assert own < ended[count].belief - 0.15
    assert ended[count].belief >= began[count].belief


class Tried(NamedTuple):
    belief: float
    tried: int
    worked: int


NEVER = Tried(0.0, 0, 0)


def tries(explorer: Explorer, operation: str) -> int:
    """How often the way by the id of a shelf was judged there, whether it is shown or not."""
    counted = explorer.dependencies._counted.items()
    return sum(
        tried
        for (of, place, _, field), (tried, _) in counted
        if (of, place, field) == (operation, "path.shelf_id", "id")
    )


def by_id(explorer: Explorer) -> dict[str, Tried]:
    """What came of taking the id of a shelf, by operation."""
    edges = [(edge, Tried(belief, tried, worked)) for edge, belief, tried, worked in explorer.dependencies.edges()]
    return {edge.slot.operation: told for edge, told in edges if (edge.field, edge.slot.name) == ("id", "shelf_id")}


def test_an_operation_that_never_worked_does_not_say_that_things_are_gone() -> None:
    """Nothing is ever deleted here, so one shelf would do."""
    for seed in range(3):
        with served(Shelves()) as small, exploring(MADE, small, seed) as explorer:
            list(islice(explorer.turns(), 80))
            assert all(one.alive for one in explorer.entities.by_kind["/shelves"])
