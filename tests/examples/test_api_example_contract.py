"""Without faults the example library keeps its own contract, whatever is sent to it."""

import gzip
import json
import random
from collections import Counter
from typing import Any

import pytest
from tests.examples.library_attacks import Attack, Attacker, Promises
from tests.examples.library_client import Library

ATTACKS = 434


def ids(sound: Library) -> dict[str, Any]:
    member, book = sound.member(), sound.book()
    loan = sound.loan(member=member, book=book)
    note = sound.made(f"/loans/{loan['id']}/notes", {"text": "seen"})
    named = {"member_id": member["id"], "book_id": book["id"], "copy_id": loan["copy_id"], "loan_id": loan["id"]}
    return {**named, "note_id": note["id"]}


def test_every_answer_to_an_attack_is_documented(sound: Library, document: Any) -> None:
    promises, statuses = Promises(document), Counter[int]()
    for attack in Attacker(document, ids(sound), random.Random(0)).attacks(ATTACKS):
        answer = sound.ask(attack.method, attack.target, body=attack.body, **attack.headers)
        assert promises.broken(attack, answer) is None, (attack, answer)
        statuses[answer.status] += 1
    assert {200, 204, 400, 401, 404, 409, 413, 415, 422} <= set(statuses), "attacks that reach nothing prove nothing"


@pytest.mark.parametrize(
    "change",
    [
        {"title": 7}, {"title": None}, {"title": ""}, {"title": "x" * 81}, {"title": "a\0b"}, {"title": "\ud800"},
        {"year": "1815"}, {"year": True}, {"year": 1815.5}, {"year": 1449}, {"year": 10**400}, {"genre": "Novel"},
        {"rating": "4"}, {"rating": 5.1}, {"tags": "a"}, {"tags": ["a"] * 6}, {"tags": [None]}, {"unknown": 1},
        {"isbn": 9780141439518},
        {"isbn": "978014143951٣"},
    ],
    ids=str,
)  # fmt: skip
def test_what_the_contract_forbids_is_refused(change: dict[str, Any], sound: Library) -> None:
    assert sound.ask("POST", "/books", sound.new_book(**change)).status in (400, 422)


@pytest.mark.parametrize(
    "change",
    [
        {"year": 1815.0}, {"year": 1450}, {"year": 2100}, {"rating": 0}, {"rating": 5}, {"rating": None},
        {"pages": None}, {"title": "x" * 80}, {"title": " "}, {"title": "🙂" * 80}, {"tags": []},
        {"tags": ["a"] * 5}, {"author": "\x80"},
    ],
    ids=str,
)  # fmt: skip
def test_what_the_contract_allows_is_accepted(change: dict[str, Any], sound: Library) -> None:
    assert sound.ask("POST", "/books", sound.new_book(**change)).status == 201


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=101", "limit=+1", "limit=1_0", "limit=%201", "limit=1.0", "limit=", "limit=1&limit=2",
     "available=1", "available=yes", "genre=novel&genre=crime", "sort=", "q=", "q=a%00", "year=1800", "year[at]=1",
     "year[from]=x", "q=%ff"],
)  # fmt: skip
def test_parameters_are_read_strictly(query: str, sound: Library) -> None:
    assert sound.ask("GET", f"/books?{query}").status in (400, 422)


@pytest.mark.parametrize(
    "query",
    [
        "limit=1",
        "limit=100",
        "offset=2147483647",
        "genre=novel&genre=poetry",
        "year[from]=0&year[to]=9999",
        "q=%F0%9F%99%82",
    ],
)
def test_parameters_within_the_contract_are_accepted(query: str, sound: Library) -> None:
    assert sound.ask("GET", f"/books?{query}").status == 200


def test_a_lone_surrogate_in_a_key_or_a_tag_is_refused(sound: Library) -> None:
    assert sound.ask("POST", "/books", sound.new_book(**{"\ud800": 1})).status == 422
    assert sound.ask("POST", "/members", {**sound.new_member(), "contact": {"kind": "\udfff"}}).status == 422


def test_an_encoded_body_is_refused(sound: Library) -> None:
    packed = gzip.compress(json.dumps(sound.new_book()).encode())
    answer = sound.ask("POST", "/books", body=packed, content_encoding="gzip", content_type="application/json")
    assert answer.status == 415


def test_a_method_that_is_not_offered_is_told_which_are(sound: Library) -> None:
    answer = sound.ask("TRACE", "/books/1")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, PUT, DELETE")


def test_promises_notice_what_is_not_documented(document: Any, sound: Library) -> None:
    """The judge of the attacks is itself judged: the same answer breaks a document without its status or its field."""
    attack, answer = Attack("get /books", "GET", "/books", None, {}), sound.ask("GET", "/books")
    assert Promises(document).broken(attack, answer) is None
    other = json.loads(json.dumps(document))
    other["components"]["schemas"]["BookPage"]["properties"]["total"]["type"] = "string"
    assert "is not of type" in str(Promises(other).broken(attack, answer))
    del other["paths"]["/books"]["get"]["responses"]["200"]
    assert Promises(other).broken(attack, answer) == "200 is not documented"
