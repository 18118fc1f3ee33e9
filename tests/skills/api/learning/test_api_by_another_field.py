"""One operation of many goes by a name where the others go by the id: the others do not suffer."""

from itertools import islice

from tests.skills.api.small_service import Answer, Heard, contract, does, exploring, in_path, record, served

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


def test_what_serves_the_others_is_doubted_where_it_never_worked() -> None:
    """Of the operation that goes by the name alone, and not of what leads to boxes that do not exist."""
    with served(Shelves()) as small, exploring(MADE, small, 0) as explorer:
        list(islice(explorer.turns(), 200))
        by_id = [(one.slot, belief) for one, belief, *_ in explorer.dependencies.edges() if one.field == "id"]
    believed = {slot.operation: belief for slot, belief in by_id if slot.name == "shelf_id"}
    assert believed["GET /shelves/{shelf_id}"] < 0.3
    assert believed["GET /shelves/{shelf_id}/count"] > 0.7
    assert "GET /shelves/{shelf_id}/boxes/{box}" not in believed  # what leads to boxes is not what is missing


def test_an_operation_that_never_worked_does_not_say_that_things_are_gone() -> None:
    """Nothing is ever deleted here, so one shelf would do."""
    for seed in range(3):
        with served(Shelves()) as small, exploring(MADE, small, seed) as explorer:
            list(islice(explorer.turns(), 80))
            assert all(one.alive for one in explorer.entities.by_kind["/shelves"])
