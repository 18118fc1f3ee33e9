"""Tiny known problems: what a reference names, whether PUT makes things, what a bare request lacks."""

from typing import Any

import pytest
from tests.skills.api.learning.test_api_choices import STRING, UUID, walked
from tests.skills.api.small_service import Answer, Heard, contract, does, exploring, in_path, record, served


class TestReferences:
    """What is called like a thing is that thing's id, or its name, though its own name does not say "id"."""

    PATHS = {  # noqa: RUF012
        "/projects": {"get": does("200")},
        "/flavors": {"get": does("200")},
        "/runs": {
            "post": does("201", "404", body=record(
                ("project", "flavor"), project={"type": "string", "format": "uuid"}, flavor=STRING, note=STRING,
            )),
        },
    }  # fmt: skip

    @staticmethod
    def office(heard: Heard) -> Answer:
        if heard.path == "/projects":
            return 200, [{"id": UUID, "name": "default"}]
        if heard.path == "/flavors":
            return 200, [{"id": UUID[::-1], "name": "mild"}]
        body = heard.body if isinstance(heard.body, dict) else {}
        return (201, {"id": "r1"}) if (body.get("project"), body.get("flavor")) == (UUID, "mild") else (404, {})

    @pytest.mark.parametrize("seed", range(5))
    def test_what_they_name_is_soon_found(self, seed: int) -> None:
        with served(self.office) as small, exploring(contract(self.PATHS), small, seed) as explorer:
            seen = walked(explorer, 80)
        runs = [one for one in seen if one.operation.id == "POST /runs" and one.draft.mutation is None]
        assert any(one.ok for one in runs)
        named = [one.draft.body["project"] == UUID for one in runs if isinstance(one.draft.body, dict)]
        assert sum(named) > len(named) / 2


class TestCreationByPut:
    """Some services make what a PUT names, others answer that there is no such thing."""

    KINDS = ("lamps", "chairs", "desks", "shelves", "doors")
    PATHS = {  # noqa: RUF012
        path: does_what
        for kind in KINDS
        for path, does_what in {
            f"/{kind}": {"get": does("200")},
            f"/{kind}/{{id}}": {"put": does("200", "404", parameters=(in_path("id", "string"),))},
        }.items()
    }

    def puts(self, creates: bool, seed: int) -> list[Any]:
        def answering(heard: Heard) -> Answer:
            if heard.method == "GET":
                return 200, [{"id": "known-1000000"}]
            there = creates or heard.path.endswith("known-1000000")
            return (200, {"id": heard.path.rpartition("/")[2]}) if there else (404, {})

        with served(answering) as small, exploring(contract(self.PATHS), small, seed) as explorer:
            seen = walked(explorer, 200)
        return [one for one in seen if one.operation.method == "PUT" and one.draft.mutation is None]

    @pytest.mark.parametrize("seed", range(3))
    def test_where_nothing_is_made_what_is_there_is_taken(self, seed: int) -> None:
        puts = self.puts(creates=False, seed=seed)
        assert len({one.operation.id for one in puts if one.ok}) == len(self.KINDS)
        assert sum(not one.ok for one in puts) <= 10

    @pytest.mark.parametrize("seed", range(3))
    def test_where_things_are_made_so_names_are_made_up(self, seed: int) -> None:
        made_up = [one.draft.path["id"] != "known-1000000" for one in self.puts(creates=True, seed=seed)]
        assert sum(made_up[10:]) >= len(self.KINDS)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_refused_with_nothing_given_must_lack_something(seed: int) -> None:
    asked = {"name": "q", "in": "query", "schema": {"type": "string"}}
    made = contract({"/search": {"get": does("200", "400", parameters=(asked,))}})
    answering: Any = lambda heard: (200, {}) if "q" in heard.query else (400, {})  # noqa: E731
    with served(answering) as small, exploring(made, small, seed) as explorer:
        assert any(one.ok for one in walked(explorer, 6))
