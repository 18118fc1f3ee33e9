"""What the example library promises: every planted fault is there, and without faults it keeps its own contract."""

import json
from collections import Counter
from typing import Any

import pytest
from examples.api.faults import CATALOGUE, Planted, chosen
from examples.api.running import ROOT, running
from tests.examples.library_client import Library
from tests.examples.library_showings import SHOWINGS

from whet.skills.api.faults import Kind

FAULTS = pytest.mark.parametrize("fault", CATALOGUE, ids=[fault.name for fault in CATALOGUE])


def test_there_is_a_fault_of_every_kind_and_a_way_to_see_each() -> None:
    assert {fault.kind for fault in CATALOGUE} == set(Kind)
    assert [*SHOWINGS] == [fault.name for fault in CATALOGUE]


@FAULTS
def test_the_fault_is_there_when_planted(fault: Planted, faulty: Library) -> None:
    assert SHOWINGS[fault.name](faulty)


@FAULTS
def test_the_fault_is_gone_without_faults(fault: Planted, sound: Library) -> None:
    assert not SHOWINGS[fault.name](sound)


def test_the_readme_lists_the_catalogue() -> None:
    readme = (ROOT / "examples" / "api" / "README.md").read_text(encoding="utf-8")
    rows = [line for line in readme.splitlines() if line.startswith("| `") and not line.startswith("| `--")]
    assert rows == [
        f"| `{one.name}` | {one.kind} | `{one.operation}` | {one.trigger} | {one.ease} |" for one in CATALOGUE
    ]


def test_faults_are_chosen_by_name() -> None:
    assert chosen("full-page,any-key") == {"full-page", "any-key"}
    assert len(chosen("all")) == len(CATALOGUE)
    assert chosen("none") == chosen("") == frozenset()


def test_a_fault_nobody_knows_is_refused_with_a_sentence() -> None:
    with pytest.raises(SystemExit, match=r"^No such fault: gremlin\. Known: any-key, any-status,"):
        chosen("full-page,gremlin")


def test_faults_do_not_show_in_the_contract(faulty: Library, document: Any) -> None:
    assert faulty.ask("GET", "/openapi.json").json == document


def test_the_breaking_version_changes_the_contract_in_three_places(document: Any) -> None:
    with running(breaking=True) as service:
        library = Library(service.url)
        after = library.ask("GET", "/openapi.json").json
        assert library.ask("GET", "/books").status == 422
        assert library.ask("GET", "/books?branch=north").status == 200
        assert library.ask("GET", "/exports/books.csv").status == 404
    assert document["paths"].keys() - after["paths"].keys() == {"/exports/books.csv"}
    required = Counter(one["name"] for one in after["paths"]["/books"]["get"]["parameters"] if one.get("required"))
    assert required == {"branch": 1}
    shelves = [one["components"]["schemas"]["NewCopy"]["properties"]["shelf"]["type"] for one in (document, after)]
    assert shelves == ["integer", "string"]


def test_who_signs_up_can_log_in_and_out(sound: Library) -> None:
    username = sound.member()["username"]
    form = f"username={username}&password=correct+horse".encode()
    answer = sound.ask("POST", "/login", body=form, content_type="application/x-www-form-urlencoded")
    bearer = f"Bearer {answer.json['access_token']}"
    steps = (("GET", "/books"), ("POST", "/logout"), ("GET", "/books"))
    statuses = [sound.ask(*step, X_Api_Key=None, Authorization=bearer).status for step in steps]
    assert statuses == [200, 204, 401]


def test_ids_of_a_book_lead_to_its_loan_and_its_notes(sound: Library) -> None:
    loan = sound.loan(book=sound.book(title="Persuasion"))
    note = sound.made(f"/loans/{loan['id']}/notes", {"text": "returned late"})
    assert loan["title"] == "Persuasion"
    assert sound.ask("GET", f"/loans/{loan['id']}/notes/{note['id']}").json == note


def test_a_cover_comes_back_as_it_was_sent(sound: Library) -> None:
    book, picture = sound.book(), bytes(range(256)) + b"\r\n--edg\r\n"
    assert sound.cover(book, picture).json["size"] == len(picture)
    assert sound.ask("GET", f"/books/{book['id']}/cover").body == picture


def test_books_are_found_by_what_is_asked(sound: Library) -> None:
    author = sound.new_member()["username"]
    old, new = (
        sound.book(author=author, year=year, genre=genre)["id"] for year, genre in ((1815, "novel"), (1990, "poetry"))
    )
    sound.made(f"/books/{new}/copies", {"shelf": 3})
    asked = (
        "sort=year",
        "sort=-year",
        "available=true",
        "available=false",
        "genre=poetry",
        "year[to]=1900",
        "limit=1&offset=1&sort=year",
    )
    found = [[book["id"] for book in sound.ask("GET", f"/books?q={author}&{query}").json["items"]] for query in asked]
    assert found == [[old, new], [new, old], [new], [old], [new], [old], [new]]


def test_members_are_paged_by_a_cursor(sound: Library) -> None:
    made = [sound.member()["id"] for _ in range(3)]
    pages, cursor = [], f"m{made[0] - 1}"
    for _ in range(2):
        page = sound.ask("GET", f"/members?limit=2&cursor={cursor}").json
        pages.append([member["id"] for member in page["items"]])
        cursor = page["next_cursor"]
    assert pages == [made[:2], made[2:]]
    assert cursor is None


def test_a_book_that_is_lent_cannot_be_deleted(sound: Library) -> None:
    book = sound.book()
    sound.loan(book=book)
    assert sound.ask("DELETE", f"/books/{book['id']}").status == 409


def test_what_was_not_changed_is_not_sent_again(sound: Library) -> None:
    way = f"/books/{sound.book()['id']}"
    tag = sound.ask("GET", way).headers["etag"]
    assert sound.ask("GET", way, if_none_match=tag).status == 304
    sound.ask("PUT", way, sound.new_book(), if_match=tag)
    assert sound.ask("GET", way, if_none_match=tag).status == 200


def test_what_is_imported_is_exported(sound: Library) -> None:
    lines = f"{sound.new_book()['isbn']};Villette;Charlotte Brontë;1853\nnot a book\n"
    answer = sound.ask("POST", "/imports", body=lines.encode(), content_type="text/plain")
    assert json.loads(answer.body) == {"created": 1, "skipped": 1}
    table = sound.ask("GET", "/exports/books.csv?columns=title,author&delimiter=tab").body.decode()
    assert "Villette\tCharlotte Brontë\r\n" in table
