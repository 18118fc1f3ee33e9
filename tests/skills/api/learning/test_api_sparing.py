"""What nobody can make again is deleted last; an empty page is no thing, and a thing met twice is one."""

from collections.abc import Callable
from itertools import islice

import pytest
from tests.skills.api.small_service import Answer, Heard, contract, does, exploring, in_query, served

from whet.skills.api.explorer import Explorer

ONE = "/desks/{desk_id}"


class Office:
    """It comes with one desk. Where `made` is given, others can be made."""

    def __init__(self, made: bool = False) -> None:
        self.desks, self.made = ["oak"], made

    def __call__(self, heard: Heard) -> Answer:
        name = heard.path.removeprefix("/desks").strip("/")
        if not name and heard.method == "POST":
            self.desks.append(f"desk{len(self.desks)}")
            return 201, {"desk_id": self.desks[-1]}
        if not name:
            shown = [] if heard.query else [{"desk_id": desk} for desk in self.desks]
            return 200, {"desks": shown, "total": len(shown)}
        if name not in self.desks:
            return 404, {"error": "no such desk"}
        if heard.method == "DELETE":
            self.desks.remove(name)
        return 200, {"desk_id": name}


def of_office(made: bool) -> dict[str, object]:
    listing = {"get": does("200", parameters=tuple(in_query(name) for name in ("q", "owner", "floor", "tag")))}
    return {
        "/desks": listing | ({"post": does("201")} if made else {}),
        ONE: {"get": does("200"), "delete": does("200")},
    }


def deleted_at(explorer: Explorer, turns: int, ending: Callable[[], bool]) -> list[int]:
    """The turns at which something was really deleted."""
    seen = islice(explorer.turns(ending), turns)
    return [at for at, one in enumerate(seen) if one.exchange.operation.method == "DELETE" and one.exchange.ok]


@pytest.mark.parametrize("seed", range(5))
def test_the_only_one_that_nobody_can_make_is_deleted_at_the_end_alone(seed: int) -> None:
    near, office = False, Office()
    with served(office) as small, exploring(contract(of_office(made=False)), small, seed) as explorer:
        assert deleted_at(explorer, 150, lambda: near) == []
        assert office.desks == ["oak"]
        near = True
        assert deleted_at(explorer, 40, lambda: near)


@pytest.mark.parametrize("seed", range(5))
def test_what_can_be_made_again_is_deleted_meanwhile_and_what_was_there_before_stays(seed: int) -> None:
    office = Office(made=True)
    with served(office) as small, exploring(contract(of_office(made=True)), small, seed) as explorer:
        assert deleted_at(explorer, 150, lambda: False)
    assert "oak" in office.desks


@pytest.mark.parametrize("seed", range(5))
def test_the_first_look_at_a_list_is_one_without_filters(seed: int) -> None:
    with served(Office()) as small, exploring(contract(of_office(made=False)), small, seed) as explorer:
        list(islice(explorer.turns(), 10))
    assert not next(one for one in small.heard if one.path == "/desks").query


@pytest.mark.parametrize(
    ("answer", "things"),
    [
        ({"desks": [], "total": 0}, 0),
        ({"data": [], "meta": {"total": 0, "next": None}}, 0),
        ({"id": 3, "tags": []}, 1),
        ({"name": "oak", "tags": []}, 1),
        ({"total": 0}, 1),
        ({"desks": [{"desk_id": "oak"}, {"desk_id": "elm"}], "total": 2}, 2),
        ({"desks": [{"desk_id": "oak"}, None, "elm"], "total": 3}, 1),
    ],
)
def test_a_page_of_nothing_is_no_thing(answer: object, things: int) -> None:
    made = contract({"/desks": {"get": does("200")}})
    with served(lambda _: (200, answer)) as small, exploring(made, small) as explorer:
        list(islice(explorer.turns(), 1))
        assert len(explorer.entities.alive("/desks")) == things


def test_a_thing_met_often_is_one_thing() -> None:
    with served(Office()) as small, exploring(contract(of_office(made=False)), small) as explorer:
        list(islice(explorer.turns(), 30))
        assert len(explorer.entities.alive("/desks")) > 1
        assert explorer.entities.distinct("/desks", "desk_id", most=5) == 1
