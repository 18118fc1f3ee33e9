"""Tiny known problems that the learner must learn: where values come from, who gives what to whom, what comes first."""

import itertools
import random
from dataclasses import replace
from typing import Any

import pytest
from tests.skills.api.small_service import (
    Answer,
    Heard,
    contract,
    does,
    exploring,
    in_path,
    operation,
    record,
    served,
    told,
)  # fmt: skip

from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.explorer import Explorer, Learned
from whet.skills.api.learning.company import Company
from whet.skills.api.learning.dependencies import Dependencies, Edge
from whet.skills.api.learning.drafting import Drafting, Made
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.kept import restore, rows
from whet.skills.api.learning.sources import Sources
from whet.skills.api.learning.supply import Supply
from whet.skills.api.values.slots import Slot, Source

STRING = {"type": "string"}
INTEGER = {"type": "integer"}
UUID = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"


def walked(explorer: Explorer, turns: int) -> list[Any]:
    walk = explorer.turns()
    return [next(walk).exchange for _ in range(turns)]


class TestSources:
    """A slot whose examples are refused, and whose values must be ones the service gave."""

    PATHS = {  # noqa: RUF012
        "/tickets": {"post": does("201")},
        "/visits": {"post": does("201", "422", body=record(("ticket",), ticket={"type": "string", "example": "T-0"}))},
    }

    @staticmethod
    def desk(seed: int) -> Any:
        rng, given = random.Random(seed), set[str]()

        def answering(heard: Heard) -> Answer:
            if heard.path == "/tickets":
                given.add(f"tk{rng.randrange(10**9)}")
                return 201, {"ticket": max(given)}
            known = isinstance(heard.body, dict) and heard.body.get("ticket") in given
            return (201, {"ok": True}) if known else (422, {"detail": "ticket is unknown"})

        return answering

    def accepted(self, learn: bool, seed: int) -> float:
        made = contract(self.PATHS)
        with served(self.desk(seed)) as small, exploring(made, small, seed, Learned(sources=learn)) as explorer:
            seen = [one for one in walked(explorer, 250) if one.operation.id == "POST /visits"]
        valid = [one.ok for one in seen if one.draft.mutation is None]
        return float(sum(valid)) / max(1, len(valid))

    def test_it_learns_to_take_what_was_observed(self) -> None:
        learned = [self.accepted(True, seed) for seed in range(3)]
        evenly = [self.accepted(False, seed) for seed in range(3)]
        assert sum(learned) > 1.4 * sum(evenly)

    def test_beliefs_move_to_the_source_that_is_accepted(self) -> None:
        rng = random.Random(0)
        sources = Sources(rng, Dependencies(rng, Entities(rng)))
        slot = Slot("POST /x", "body.code", STRING, True)
        possible = [Source.EXAMPLE, Source.REALISTIC, Source.CONSTRAINED]
        chosen = []
        for _ in range(200):
            chosen.append(sources.choose(slot, possible))
            sources.tell(slot.operation, {slot.place: chosen[-1]}, float(chosen[-1] is Source.CONSTRAINED))
        assert chosen[-50:].count(Source.CONSTRAINED) > 44
        assert Source.EXAMPLE in chosen[:20]  # the prior tried it first

    def test_where_all_is_accepted_values_come_from_several_sources_and_not_from_those_that_are_refused(self) -> None:
        """The default of a switch is accepted, and so would be its other side: something may hide behind that."""
        rng = random.Random(0)
        sources = Sources(rng, Dependencies(rng, Entities(rng)))
        slot, possible = Slot("POST /x", "body.on", STRING, True), (Source.EXAMPLE, Source.CONSTRAINED, Source.BOUNDARY)
        for _ in range(40):
            sources.tell("POST /x", {"body.on": Source.EXAMPLE}, 1.0)
            sources.tell("POST /x", {"body.on": Source.BOUNDARY}, 0.0)
        picks = [sources.again(slot, possible, Source.EXAMPLE) for _ in range(300)]
        drawn = [picks.count(one) for one in possible]
        assert drawn[0] > drawn[1] > 20
        assert drawn[2] == 0
        assert [sources.again(slot, possible, Source.BOUNDARY) for _ in range(50)].count(Source.BOUNDARY) > 25

    def test_a_slot_leans_on_others_of_its_kind(self) -> None:
        rng = random.Random(0)
        sources = Sources(rng, Dependencies(rng, Entities(rng)))
        possible = [Source.EXAMPLE, Source.CONSTRAINED]
        for number in range(30):
            slot = Slot(f"POST /{number}", "body.code", STRING, True)
            sources.choose(slot, possible)
            sources.tell(slot.operation, {slot.place: Source.EXAMPLE}, 0.0)
            sources.tell(slot.operation, {slot.place: Source.CONSTRAINED}, 1.0)
        fresh = [sources.choose(Slot(f"PUT /{n}", "body.name", STRING, True), possible) for n in range(100)]
        assert fresh.count(Source.CONSTRAINED) > 80

    def test_an_optional_value_that_breaks_requests_is_left_out_more_and_more(self) -> None:
        rng = random.Random(0)
        sources = Sources(rng, Dependencies(rng, Entities(rng)))
        good, bad = Slot("GET /x", "query.good", STRING, False), Slot("GET /x", "query.bad", STRING, False)
        for _ in range(40):
            sources.tell("GET /x", {"query.good": Source.EXAMPLE}, 1.0)
            sources.tell("GET /x", {"query.bad": Source.EXAMPLE}, 0.0)
        included = {slot.name: sum(sources.include(slot, True, 0) for _ in range(300)) for slot in (good, bad)}
        assert included["good"] > 5 * included["bad"]


class TestDependencies:
    """Every answer is full of numbers; only one field opens /parcels/{id}."""

    PATHS = {  # noqa: RUF012
        "/orders": {"post": does("201")},
        "/parcels/{id}": {"get": does("200", "404", parameters=(in_path("id", "string"),))},
    }

    @staticmethod
    def answering(field: str) -> Any:
        rng, real = random.Random(5), set[str]()
        names = ("id", "number", "parcel_number", "parcel_code", "parcelRef", "customer_id")

        def answers(heard: Heard) -> Answer:
            if heard.method == "POST":
                order = {name: f"{name[:2]}{rng.randrange(10**9)}" for name in names}
                real.add(order[field])
                return 201, order
            return (200, {}) if heard.path.rpartition("/")[2] in real else (404, {})

        return answers

    @pytest.mark.parametrize("field", ["parcel_number", "parcel_code", "parcelRef"])
    def test_the_right_field_is_found_among_decoys(self, field: str) -> None:
        with served(self.answering(field)) as small, exploring(contract(self.PATHS), small, 1) as explorer:
            walked(explorer, 300)
            edges = {edge.field: mean for edge, mean, _, _ in explorer.dependencies.edges() if edge.kind == "/orders"}
        assert max(edges, key=lambda name: edges[name]) == field
        assert edges[field] > 0.7

    def test_what_is_shown_was_counted_whatever_beliefs_remember(self) -> None:
        """Beliefs weigh a conflict less and start from earlier runs; "worked 1 of 3 times" must have happened."""
        with served(self.answering("parcel_number")) as small, exploring(contract(self.PATHS), small, 1) as explorer:
            walked(explorer, 60)
            edge = next(edge for edge, *_ in explorer.dependencies.edges())
            before = next((tried, worked) for one, _, tried, worked in explorer.dependencies.edges() if one == edge)
            explorer.dependencies.tell(edge, 0.0, 0.3)
            explorer.dependencies.tell(edge, 1.0)
            after = next((tried, worked) for one, _, tried, worked in explorer.dependencies.edges() if one == edge)
        assert after == (before[0] + 2, before[1] + 1)

    def test_what_only_earlier_runs_saw_is_not_shown_as_tried(self) -> None:
        made = contract({"/orders": {"post": does("201")}})
        slot = Slot("GET /orders/{id}", "path.id", STRING, True)
        runs = []
        for _ in range(2):
            entities = Entities(random.Random(0))
            entities.take_in(told(operation(made, "POST /orders"), 201, {"id": "i1"}))
            runs.append(Dependencies(random.Random(0), entities))
        earlier, now = runs
        earlier.tell(Edge(slot, "/orders", "id"), 1.0)
        restore(now.own, rows(earlier.own))
        assert now.promise(slot) > 0.5  # it is a candidate, and believed
        assert list(now.edges()) == []

    def test_one_success_serves_all_that_lies_below(self) -> None:
        rng = random.Random(0)
        entities = Entities(rng)
        dependencies = Dependencies(rng, entities)
        made = contract({"/orders": {"post": does("201")}})
        entities.take_in(told(operation(made, "POST /orders"), 201, {"ref": "r1", "id": "i1", "number": "n1"}))
        one, below = (Slot(name, "path.id", STRING, True) for name in ("GET /orders/{id}", "GET /orders/{id}/lines"))
        before = dependencies.promise(below)
        for _ in range(5):
            dependencies.tell(Edge(one, "/orders", "ref"), 1.0)
            dependencies.tell(Edge(one, "/orders", "id"), 0.0)

        assert dependencies.wanted(below, 0.5)
        chosen = [dependencies.choose(below, {}, Company())[0].field for _ in range(100)]  # type: ignore[index]
        assert chosen.count("ref") > 60
        assert before > 0.5

    @pytest.mark.parametrize(("shown", "taken"), [({"id": UUID, "name": "n1"}, {UUID}), ({"id": "i1"}, {"i1"})])
    def test_where_uuids_are_asked_for_others_are_taken_only_where_there_are_none(
        self, shown: dict[str, str], taken: set[str]
    ) -> None:
        rng = random.Random(0)
        entities = Entities(rng)
        dependencies = Dependencies(rng, entities)
        entities.take_in(told(operation(contract({"/orders": {"post": does("201")}}), "POST /orders"), 201, shown))
        slot = Slot("GET /orders/{order}", "path.order", {"type": "string", "format": "uuid"}, True)
        picks = [dependencies.choose(slot, {}, Company()) for _ in range(50)]
        assert {pick[1].fields[pick[0].field] for pick in picks if pick is not None} == taken

    def test_where_uuids_are_asked_for_nothing_is_taken_that_is_none_and_hardly_meant(self) -> None:
        rng = random.Random(0)
        entities = Entities(rng)
        dependencies = Dependencies(rng, entities)
        shown = {"shipped_run_id": "n1", "run": "n2"}
        entities.take_in(told(operation(contract({"/orders": {"post": does("201")}}), "POST /orders"), 201, shown))
        slot = Slot("GET /runs/{run_id}", "path.run_id", {"type": "string", "format": "uuid"}, True)
        assert not any(dependencies.choose(slot, {}, Company()) for _ in range(50))
        assert dependencies.choose(replace(slot, schema={"type": "string"}), {}, Company())

    def test_what_stands_at_a_place_is_one_of_its_collection_whatever_it_is_called(self) -> None:
        """Of what was made at /series, or at /series/import; not of what belongs to one of them."""
        rng = random.Random(0)
        entities = Entities(rng)
        dependencies = Dependencies(rng, entities)
        made = contract({
            "/series/import": {"post": does("201")},
            "/series/{show}/seasons": {"post": does("201", parameters=(in_path("show"),))},
        })  # fmt: skip
        entities.take_in(told(operation(made, "POST /series/import"), 201, {"id": 7, "title": "x"}))
        season = told(operation(made, "POST /series/{show}/seasons"), 201, {"id": 8}, path={"show": 7})
        entities.take_in(season)
        slot = Slot("GET /series/{show_id}", "path.show_id", INTEGER, True)
        picks = [dependencies.choose(slot, {}, Company()) for _ in range(50)]
        values = [pick[1].fields[pick[0].field] for pick in picks if pick is not None]
        assert values.count(7) > 40

    def test_a_version_is_the_newest_that_was_told(self) -> None:
        rng = random.Random(0)
        entities = Entities(rng)
        dependencies = Dependencies(rng, entities)
        made = contract({"/notes/{id}": {"get": does("200", parameters=(in_path("id"),))}})
        read = operation(made, "GET /notes/{id}")
        for version in ('"1"', '"2"', '"3"'):
            entities.take_in(told(read, 200, {"id": 1, "hash": "zz"}, path={"id": 1}, headers={"ETag": version}))
        for name in ("If-Match", "If-None-Match"):
            slot = Slot("PUT /notes/{id}", f"header.{name}", STRING, False)
            picks = [dependencies.choose(slot, {}, Company()) for _ in range(20)]
            assert {pick and pick[1].fields[pick[0].field] for pick in picks} == {'"3"'}

    def chosen(self, learn: bool, evidence: bool) -> list[str]:
        """A slot that names nobody's field, after the least likely one by name was accepted and the likeliest not."""
        rng = random.Random(0)
        entities = Entities(rng)
        dependencies = Dependencies(rng, entities, learn, evidence)
        made = contract({"/orders": {"post": does("201")}})
        entities.take_in(told(operation(made, "POST /orders"), 201, {"ref": "r1", "id": "i1", "colour": "red"}))
        slot = Slot("GET /orders/{id}", "path.id", STRING, True)
        for _ in range(20):
            dependencies.tell(Edge(slot, "/orders", "ref"), 1.0)
            dependencies.tell(Edge(slot, "/orders", "id"), 0.0)
        picks = (dependencies.choose(slot, {}, Company()) for _ in range(100))
        return [pick[0].field for pick in picks if pick is not None]

    def test_answers_decide_against_names_and_without_them_names_do(self) -> None:
        assert self.chosen(learn=True, evidence=True).count("ref") > 90
        assert self.chosen(learn=True, evidence=False).count("id") > 60

    def test_at_random_a_name_counts_for_nothing(self) -> None:
        fields = self.chosen(learn=False, evidence=True)
        assert all(20 < fields.count(name) < 50 for name in ("ref", "id", "colour"))

    def test_only_what_has_the_right_type_and_lives_is_chosen(self) -> None:
        rng = random.Random(0)
        entities = Entities(rng)
        dependencies = Dependencies(rng, entities)
        made = contract(
            {"/orders": {"post": does("201")}, "/orders/{id}": {"delete": does("204", parameters=(in_path("id"),))}}
        )
        slot = Slot("GET /orders/{id}", "path.id", INTEGER, True)
        entities.take_in(told(operation(made, "POST /orders"), 201, {"id": "text"}))
        assert dependencies.choose(slot, {}, Company()) is None
        entities.take_in(told(operation(made, "POST /orders"), 201, {"id": 5}))
        chosen = dependencies.choose(slot, {}, Company())
        assert chosen is not None
        assert chosen[1].fields["id"] == 5
        entities.end(told(operation(made, "DELETE /orders/{id}"), 204, path={"id": 5}))
        assert dependencies.choose(slot, {}, Company()) is None


FORUM = contract({
    "/boards": {"post": does("201", body=record(("title",), title=STRING))},
    "/boards/{board_id}": {"delete": does("204", "404", parameters=(in_path("board_id"),))},
    "/boards/{board_id}/posts": {
        "post": does("201", "404", parameters=(in_path("board_id"),), body=record(("text",), text=STRING)),
    },
    "/boards/{board_id}/posts/{post_id}": {
        "get": does("200", "404", parameters=(in_path("board_id"), in_path("post_id"))),
    },
})  # fmt: skip


class Forum:
    def __init__(self) -> None:
        self.posts: dict[int, dict[int, str]] = {}
        self.last = 100

    def __call__(self, heard: Heard) -> Answer:
        parts = heard.path.strip("/").split("/")
        if parts == ["boards"]:
            self.last += 7
            self.posts[self.last] = {}
            return 201, {"id": self.last}
        board = int(parts[1]) if parts[1].isdecimal() else -1
        if board not in self.posts:
            return 404, {"detail": "no such board"}
        return self.below(heard, board, parts[2:])

    def below(self, heard: Heard, board: int, parts: list[str]) -> Answer:
        if heard.method == "DELETE":
            del self.posts[board]
            return 204, None
        if heard.method == "POST":
            self.last += 7
            self.posts[board][self.last] = "x"
            return 201, {"id": self.last}
        found = len(parts) == 2 and parts[1].isdecimal() and int(parts[1]) in self.posts[board]
        return (200, {"id": int(parts[1])}) if found else (404, {"detail": "no such post"})


class TestSupply:
    def known(self) -> tuple[Entities, Drafting, Supply]:
        rng = random.Random(0)
        entities = Entities(rng)
        dependencies = Dependencies(rng, entities)
        drafting = Drafting(Schemas(FORUM), rng, entities, dependencies, Sources(rng, dependencies))
        return entities, drafting, Supply(FORUM.operations, entities, dependencies, drafting)

    def test_a_parent_that_was_deleted_is_made_again_first(self) -> None:
        entities, drafting, supply = self.known()
        make, post = operation(FORUM, "POST /boards"), operation(FORUM, "POST /boards/{board_id}/posts")
        drafting.remember(Made(drafting.new(make).draft), ok=True)
        entities.take_in(told(make, 201, {"id": 1}))
        assert supply.maker(drafting.new(post)) is None  # a board lives
        entities.end(told(operation(FORUM, "DELETE /boards/{board_id}"), 204, path={"board_id": 1}))
        assert supply.maker(drafting.new(post)) is make

    def test_a_maker_that_keeps_failing_is_left_alone_for_a_while(self) -> None:
        entities, drafting, supply = self.known()
        make, post = operation(FORUM, "POST /boards"), operation(FORUM, "POST /boards/{board_id}/posts")
        drafting.remember(Made(drafting.new(make).draft), ok=True)
        entities.take_in(told(make, 201, {"id": 1}))
        entities.end(told(operation(FORUM, "DELETE /boards/{board_id}"), 204, path={"board_id": 1}))
        asked = []
        for number in range(1, 1_001):
            if supply.maker(drafting.new(post)) is make:
                asked.append(number)
                supply.tell(told(make, 500, number=number))
            else:  # ever so many ask meanwhile
                assert all(supply.maker(drafting.new(post)) is None for _ in range(3))
                supply.tell(told(post, 404, number=number))
        assert asked[:3] == [1, 2, 3]
        assert 4 < len(asked) < 15  # not for ever
        rests = [later - earlier for earlier, later in itertools.pairwise(asked[2:])]
        assert rests == sorted(rests)

    def test_a_real_forum_is_reached_to_its_leaves_though_boards_are_deleted(self) -> None:
        forum = Forum()
        with served(forum) as small, exploring(FORUM, small, 4) as explorer:
            seen = walked(explorer, 250)
        worked = {one.operation.id for one in seen if one.ok}
        assert worked == {one.id for one in FORUM.operations}
        reads = [one.ok for one in seen if one.operation.id.startswith("GET") and one.draft.mutation is None]
        assert sum(reads) / len(reads) > 0.5
