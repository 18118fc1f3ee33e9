"""Every mutation changes one place of a draft, never fails, and says that the contract is broken only when it is."""

import json
import random
from dataclasses import replace

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.skills.api.library_contract import SCHEMAS, contract, post

from whet.skills.api.contract.model import Json
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import NO_BODY, Draft
from whet.skills.api.mutations.bank import Bank, Mutation
from whet.skills.api.mutations.identities import nobody
from whet.skills.api.mutations.places import BODY, REQUEST, Place, at, put, without
from whet.skills.api.mutations.sites import Survey
from whet.skills.api.values.drafts import Values
from whet.skills.api.values.slots import NOTHING, Absent
from whet.skills.api.writing import write

LIBRARY = contract()
SHOWN = Schemas(LIBRARY)
FORM = contract(
    {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}, "n": {"type": "integer"}}},
    "multipart/form-data",
)
BOOK: dict[str, Json] = {
    "title": "Middlemarch", "kind": "novel", "pages": 880, "price": 12.5, "isbn": "978-123-AB", "printed": "1871-12-01",
    "sold_at": "2024-01-01T00:00:00Z", "publisher_id": "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "available": True,
    "tags": ["classic"], "author": {"email": "george@example.com", "age": 52}, "labels": {"x": 1},
}  # fmt: skip


def draft(**changes: Json) -> Draft:
    made = Draft(
        post(LIBRARY), {"shelf": "top"}, {"sort": "title", "limit": 10}, {"X-Trace": "t"}, {"session": "s"},
        body=BOOK, media="application/json",
    )  # fmt: skip
    return replace(made, **changes)


def foreign(_: Draft, place: Place) -> Json | Absent:
    return "someone-else" if place.name == "shelf" else NOTHING


def failing(_: str, place: Place) -> Json | Absent:
    return "a\0b" if place.name == "title" else NOTHING


BANK = Bank(SHOWN, foreign, failing)


def mutation(name: str) -> Mutation:
    found = BANK.named(name)
    assert found is not None
    return found


def spoiled(name: str, place: Place, seed: int = 0, base: Draft | None = None) -> Draft:
    base = draft() if base is None else base
    one = mutation(name)
    assert place in one.applies(base)
    return one.apply(base, place, random.Random(seed))


def in_body(*keys: str | int) -> Place:
    return Place("body", keys)


@settings(max_examples=12, deadline=None)
@given(st.integers())
def test_no_mutation_of_any_draft_fails(seed: int) -> None:
    rng = random.Random(seed)
    for library in (LIBRARY, FORM):
        schemas = Schemas(library)
        operation = post(library)
        made, _ = Values(schemas, rng, lambda _, possible: rng.choice(possible)).draft_for(
            operation, operation.bodies[0]
        )
        for one, places in Bank(schemas, foreign).possible(made):
            changed = one.apply(made, rng.choice(places), rng)
            assert changed.mutation == one.name
            assert changed.operation is made.operation
            write(changed, library.base_path)


@settings(max_examples=25, deadline=None)
@given(st.integers())
def test_everything_but_the_place_stays_as_it_was(seed: int) -> None:
    rng, base = random.Random(seed), draft()
    for one, places in BANK.possible(base):
        place = rng.choice(places)
        if place.keys and one.name not in ("missing", "required-alone", "bracketed-parameter", "emptied-parameter"):
            changed = one.apply(base, place, rng)
            assert replace(put(changed, place, at(base, place)), mutation=None, broken=None) == base


@settings(max_examples=25, deadline=None)
@given(st.integers())
def test_what_is_called_broken_is_broken(seed: int) -> None:
    """By a validator that knows nothing of Whet. Parameters are checked one by one below."""
    rng, base = random.Random(seed), draft()
    named = {
        name: {**one, "required": [key for key in one.get("required", []) if key != "id"]}
        for name, one in SCHEMAS.items()
    }
    validator = jsonschema_rs.validator_for(
        {"$ref": "#/components/schemas/Book", "components": {"schemas": named}}, validate_formats=True
    )
    for one, places in BANK.possible(base):
        place = rng.choice(places)
        changed = one.apply(base, place, rng)
        if changed.broken and place.where == "body" and changed.raw is None and changed.body is not NO_BODY:
            assert not validator.is_valid(changed.body)


def test_the_same_seed_spoils_in_the_same_way() -> None:
    for one, places in BANK.possible(draft()):
        once, again = (one.apply(draft(), places[0], random.Random(5)) for _ in range(2))
        assert repr(once) == repr(again)  # not a number is not equal to itself


def test_every_kind_has_a_use_and_a_name_of_its_own() -> None:
    form = Draft(post(FORM), {"shelf": "top"}, body={"file": b"x", "n": 1}, media="multipart/form-data")
    drafts = (draft(), form)
    reading = LIBRARY.operation("GET /shelves/{shelf}/books")
    assert reading is not None
    others = (replace(drafts[0], operation=one) for one in (reading, replace(reading, security=())))
    used = {one.name for each in (*drafts, *others) for one, _ in BANK.possible(each)}
    names = [one.name for one in BANK.mutations]
    assert used == set(names)
    assert len(names) == len(set(names))
    assert {one.family for one in BANK.mutations} >= {"kinds", "texts", "numbers", "identities"}


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("missing", in_body("title")),
        ("missing", Place("query", ("sort",))),
        ("null", in_body("title")),
        ("text-for-another-type", in_body("pages")),
        ("scalar-as-text", in_body("pages")),
        ("object-for-another-type", in_body("title")),
        ("array-for-another-type", BODY),
        ("another-whole", BODY),
        ("unknown-choice", in_body("kind")),
        ("choice-in-another-case", in_body("kind")),
        ("too-long", in_body("title")),
        ("too-short", Place("path", ("shelf",))),
        ("below-minimum", in_body("pages")),
        ("above-maximum", Place("query", ("limit",))),
        ("not-a-multiple", in_body("price")),
        ("fraction", in_body("pages")),
        ("number-with-unit", Place("query", ("limit",))),
        ("impossible-date", in_body("printed")),
        ("malformed", in_body("publisher_id")),
        ("against-the-pattern", in_body("isbn")),
        ("unknown-key", BODY),
        ("null-item", in_body("tags")),
        ("no-body", BODY),
        ("cut-json", BODY),
        ("not-utf-8", BODY),
        ("no-credentials", REQUEST),
    ],
)
def test_what_the_contract_forbids_is_said_in_a_sentence(name: str, place: Place) -> None:
    for seed in range(5):
        assert spoiled(name, place, seed).broken


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("null", in_body("tags")),  # may be left out: services forgive it on purpose
        ("whole-as-float", in_body("pages")),
        ("nul-character", in_body("author", "email")),
        ("unknown-key", in_body("author")),
        ("beyond-64-bits", in_body("labels", "x")),
        ("repeated-parameter", Place("query", ("limit",))),
        ("unknown-parameter", REQUEST),
        ("stale-if-match", REQUEST),
        ("key-twice", BODY),
        ("not-a-number", in_body("price")),
        ("unknown-id", Place("path", ("shelf",))),
        ("foreign-id", Place("path", ("shelf",))),
    ],
)
def test_what_the_contract_allows_or_services_forgive_is_not_called_broken(name: str, place: Place) -> None:
    for seed in range(5):
        assert spoiled(name, place, seed).broken is None


def test_what_may_be_null_is_one_at_a_time_or_all_at_once() -> None:
    """At the top of the body: within, one at a time is all."""
    book = {"type": "object", "properties": {
        "title": {"type": "string", "nullable": True}, "pages": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "kind": {"type": "string"}, "cover": {"type": "object", "properties": {"colour": {"type": ["string", "null"]}}},
    }}  # fmt: skip
    bank = Bank(Schemas(contract(book)), foreign)
    base = draft(operation=post(contract(book)), body={"title": "x", "pages": 1, "kind": "y", "cover": {"colour": "z"}})
    one, every = bank.named("allowed-null"), bank.named("all-allowed-nulls")
    assert one is not None
    assert every is not None
    assert set(one.applies(base)) == {in_body("title"), in_body("pages"), in_body("cover", "colour")}
    (body,) = every.applies(base)
    changed = every.apply(base, body, random.Random(0))
    assert changed.body == {"title": None, "pages": None, "kind": "y", "cover": {"colour": "z"}}
    assert changed.broken is None
    assert every.applies(replace(base, body=changed.body)) == ()


def test_places_are_named_as_slots_are() -> None:
    assert [str(place) for place in (in_body("tags", 0), in_body("author", "email"), Place("query", ("limit",)))] == [
        "body.tags[]", "body.author.email", "query.limit",
    ]  # fmt: skip
    assert (in_body("tags", 0).name, BODY.name) == ("tags", "")


def test_a_place_is_changed_in_a_copy() -> None:
    base = draft()
    changed = put(base, in_body("author", "age"), 5)
    assert (at(changed, in_body("author", "age")), BOOK["author"]["age"]) == (5, 52)
    assert "age" not in at(without(base, in_body("author", "age")), in_body("author"))
    assert without(base, Place("query", ("limit",))).query == {"sort": "title"}


def test_sites_know_their_schema_through_references_and_alternatives() -> None:
    sites = Survey(SHOWN).of(draft(body=BOOK | {"cover": {"type": "Soft", "glued": True}}))
    assert sites.by_place[in_body("author", "age")].schema["minimum"] == 18
    assert sites.by_place[in_body("cover", "glued")].kinds == {"boolean"}
    assert sites.by_place[in_body("labels", "x")].kinds == {"integer"}
    assert sites.by_place[in_body("title")].required
    assert not sites.by_place[in_body("tags")].required


def test_bodies_that_are_no_documents() -> None:
    cut = spoiled("cut-json", BODY).raw
    assert cut is not None
    assert json.dumps(BOOK, separators=(",", ":")).encode().startswith(cut)
    twice = json.loads(spoiled("key-twice", BODY).raw or b"", object_pairs_hook=lambda pairs: [key for key, _ in pairs])
    assert len(twice) == len(set(twice)) + 1
    with pytest.raises(UnicodeDecodeError):
        (spoiled("not-utf-8", BODY).raw or b"").decode()


def test_headers_for_a_wrong_type_and_no_type() -> None:
    wrong = dict(write(spoiled("another-content-type", BODY), "").headers)
    assert wrong["Content-Type"] != "application/json"
    assert "Content-Type" not in dict(write(spoiled("no-content-type", BODY), "").headers)
    assert spoiled("no-credentials", REQUEST).credentials == "none"
    assert spoiled("wrong-credentials", REQUEST).credentials == "wrong"


@given(st.integers(), st.integers())
@settings(max_examples=20)
def test_an_unknown_id_is_of_the_same_kind(seed: int, number: int) -> None:
    rng = random.Random(seed)
    assert isinstance(nobody(number, rng), int)
    assert len(nobody("6f9619ff-8b86-4d01-b42d-00cf4fc964ff", rng)) == 36
    assert nobody("12", rng).isdigit()
    assert len(nobody("5f43a1e0c1b2d3a4e5f60718", rng)) == 24
    assert isinstance(nobody("shelf", rng), str)


def test_ids_of_others_and_of_itself() -> None:
    assert spoiled("foreign-id", Place("path", ("shelf",))).path == {"shelf": "someone-else"}
    assert mutation("foreign-id").applies(draft()) == (Place("path", ("shelf",)),)
    assert at(spoiled("self-reference", in_body("publisher_id")), in_body("publisher_id")) == "top"


def test_a_uuid_under_any_name_may_be_one_that_nobody_has() -> None:
    book = {"type": "object", "properties": {
        "shop": {"type": "string", "format": "uuid"}, "title": {"type": "string"}, "state": {"type": "string"},
    }}  # fmt: skip
    known = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
    base = draft(operation=post(contract(book)), body={"shop": known, "title": "x", "state": known})
    one = Bank(Schemas(contract(book)), foreign).named("unknown-reference")
    assert one is not None
    assert one.applies(base) == (in_body("shop"),)
    changed = one.apply(base, in_body("shop"), random.Random(0))
    assert at(changed, in_body("shop")) != known
    assert changed.broken is None


def test_where_the_contract_asks_nobody_who_he_is_a_stranger_breaks_nothing() -> None:
    opened = replace(draft(), operation=replace(draft().operation, security=()))
    stranger = BANK.named("as-a-stranger")
    assert stranger is not None
    assert stranger.applies(draft()) == ()
    changed = stranger.apply(opened, stranger.applies(opened)[0], random.Random(0))
    assert (changed.credentials, changed.broken) == ("wrong", None)
