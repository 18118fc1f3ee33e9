"""Which values a refusal is about."""

from typing import Any

import pytest
from tests.skills.api.small_service import contract, does, in_path, operation, record, told

from whet.skills.api.learning.blame import blamed

CONTRACT = contract({"/loans/{id}": {"put": does("200", parameters=(in_path("id"),), body=record())}})
PUT = operation(CONTRACT, "PUT /loans/{id}")
PLACES = ("path.id", "query.dry", "header.If-Match", "body.copy_id", "body.quantity")


def blame(status: int | None, answer: Any = None) -> set[str]:
    return blamed(told(PUT, status, answer), PLACES)[0]


@pytest.mark.parametrize("status", [200, 301, 401, 403, 405, 429, 500, 503, None])
def test_what_says_nothing_about_values_blames_none(status: int | None) -> None:
    assert blame(status, {"detail": "quantity"}) == set()


@pytest.mark.parametrize(
    ("answer", "places"),
    [
        ({"detail": [{"loc": ["body", "quantity"]}]}, {"body.quantity"}),
        ({"error": "quantity must be positive"}, {"body.quantity"}),
        ({"error": "no such copy"}, {"body.copy_id"}),
        ({"field": "id"}, {"path.id"}),
        ({"error": "'quantity' and `copy_id`"}, {"body.quantity", "body.copy_id"}),
    ],
)
def test_what_the_text_names_is_to_blame(answer: Any, places: set[str]) -> None:
    assert blame(422, answer) == places


def test_whose_value_is_shown_is_to_blame_before_what_is_named() -> None:
    body = {"copy_id": "otter-birch-1471", "quantity": "few", "owner": {"name": "river-velvet-9"}}
    places = (*PLACES, "body.owner.name")

    def found(error: str) -> set[str]:
        return blamed(told(PUT, 404, {"error": error}, body=body, path={"id": "harbor-pearl-12"}), places)[0]

    assert found("No copy 'Otter-Birch-1471', whatever the quantity") == {"body.copy_id"}
    assert found("harbor-pearl-12 has no river-velvet-9") == {"path.id", "body.owner.name"}
    assert found("a few is no quantity") == {"body.quantity"}, "a short value may stand anywhere"


def test_a_short_name_inside_of_a_sentence_is_not_meant() -> None:
    assert blame(422, {"error": "no id given"}) == set(PLACES)
    assert blame(422, {"error": "disquantitying"}) == set(PLACES)


@pytest.mark.parametrize(
    ("status", "places"),
    [
        (404, {"path.id"}),
        (412, {"header.If-Match"}),
        (428, {"header.If-Match"}),
        (409, {"body.copy_id", "body.quantity"}),
        (415, {"body.copy_id", "body.quantity"}),
        (400, set(PLACES)),
    ],
)
def test_a_refusal_without_words_blames_what_its_status_speaks_of(status: int, places: set[str]) -> None:
    assert blame(status) == places


def test_where_nothing_likely_was_sent_all_share_the_blame() -> None:
    assert blamed(told(PUT, 404), ["body.a", "query.b"])[0] == {"body.a", "query.b"}
    assert blamed(told(PUT, 404), [])[0] == set()


def test_what_an_error_shows_of_the_request_names_nobody() -> None:
    shown = {"copy_id": 7, "quantity": 1}
    answer = {"detail": [{"loc": ["body"], "msg": "the shelf is full", "input": shown}], "request_body": shown}
    assert blame(422, answer) == set(PLACES)
    assert blame(422, {**answer, "field": "quantity"}) == {"body.quantity"}


@pytest.mark.parametrize(
    ("status", "answer", "sure"),
    [(422, {"field": "quantity"}, 1.0), (404, None, 1.0), (422, None, 0.3), (409, {"field": "quantity"}, 0.3)],
)
def test_one_of_many_is_hardly_to_blame_and_a_conflict_is_about_the_state_of_things(
    status: int, answer: Any, sure: float
) -> None:
    assert blamed(told(PUT, status, answer), PLACES)[1] == sure
