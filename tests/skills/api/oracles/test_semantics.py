"""Create, read, update, delete: what a service says it did, and whether it did."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.skills.api.oracles.made_service import GOOD, STORED, answer, draft, semantics
from tests.skills.api.oracles.served import served

from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.oracles.semantics import Semantics

AT_7: Any = {"path": {"item_id": 7}}
READ = draft("GET /items/{item_id}", **AT_7)
CREATE = draft("POST /items", body=GOOD)
DELETE = draft("DELETE /items/{item_id}", **AT_7)


def _update(**fields: object) -> Draft:
    return draft("PUT /items/{item_id}", **AT_7, body={**GOOD, **fields})


def told(*exchanges: Exchange) -> list[str]:
    watching = semantics()
    found = [suspicion for exchange in exchanges for suspicion in watching.judge(exchange)]
    return [suspicion.kind.value for suspicion in found]


VERSIONED = draft("PATCH /items/{item_id}", **AT_7, body={"price": 5})  # documents 412
STALE = replace(VERSIONED, extra=(("If-Match", '"1"'),))
CREATED = answer(CREATE, 201, STORED)
THERE = answer(READ, 200, STORED)
DELETED = answer(DELETE, 204)
MISSING = answer(READ, 404)


def test_what_was_created_must_be_there() -> None:
    assert told(CREATED, MISSING) == ["create-without-read"]
    assert told(CREATED, THERE) == []
    assert told(CREATED, DELETED, MISSING) == []
    assert told(answer(CREATE, 202, STORED), MISSING) == []
    assert told(answer(CREATE, 422, STORED), MISSING) == []


@pytest.mark.parametrize("state", ["pending", "Pending review", "draft"])
def test_what_says_itself_that_nobody_can_see_it_yet_need_not_be_there(state: str) -> None:
    assert told(answer(CREATE, 201, {**STORED, "state": state}), MISSING) == []
    assert told(answer(CREATE, 201, {**STORED, "note": f"{state} " * 20}), MISSING) == ["create-without-read"]


def test_a_setting_has_its_default_again_when_it_is_deleted() -> None:
    theme = answer(draft("GET /prefs/{pref}", path={"pref": "theme"}), 200, {"value": "light"})
    assert told(theme, answer(draft("DELETE /prefs/{pref}", path={"pref": "theme"}), 204), theme) == []


def test_what_is_read_must_be_what_was_created() -> None:
    other = answer(draft("GET /items/{item_id}", path={"item_id": 8}), 404)
    assert told(CREATED, other) == []


def test_a_location_names_what_was_created() -> None:
    located = answer(CREATE, 201, {"ok": True}, headers={"Location": "http://127.0.0.1:1/v1/items/7"})
    assert told(located, MISSING) == ["create-without-read"]


def test_what_was_deleted_must_be_gone() -> None:
    assert told(THERE, DELETED, THERE) == ["read-after-delete"]
    assert told(CREATED, DELETED, THERE) == ["read-after-delete"]
    assert told(THERE, DELETED, MISSING) == []


def test_soft_late_and_unknown_deletions_are_forgiven() -> None:
    marked = answer(READ, 200, {**STORED, "note": "deleted"})
    assert told(THERE, DELETED, marked) == []
    assert told(THERE, answer(DELETE, 202), THERE) == []
    assert told(THERE, answer(DELETE, 200, {"detail": "scheduled for deletion"}), THERE) == []
    assert told(DELETED, THERE) == []  # it may have been made by the reading
    assert told(THERE, DELETED, CREATED, THERE) == []  # ids are used again
    rehearsed = draft("DELETE /items/{item_id}", **AT_7, query={"dry_run": True})
    assert told(THERE, answer(rehearsed, 204), THERE) == []


def test_an_update_must_stay() -> None:
    assert told(THERE, answer(_update(price=5), 200, STORED), THERE) == ["lost-update"]
    changed = answer(READ, 200, {**STORED, "price": 5})
    assert told(THERE, answer(_update(price=5), 200, STORED), changed) == []
    assert told(THERE, answer(_update(price=5), 422), THERE) == []


FORGIVEN: list[dict[str, object]] = [
    {"title": " CUP "},
    {"title": "cup with a long tail"},
    {"price": 3.0000001},
    {"price": 3.4},
    {"price": "3"},
    {"note": ""},
    {"id": 9},
    {"position": 9},
    {"unknown": 1},
]


@pytest.mark.parametrize("fields", FORGIVEN)
def test_what_a_service_may_change_or_ignore_is_not_lost(fields: dict[str, object]) -> None:
    there = answer(READ, 200, {**STORED, "position": 1})
    assert told(there, answer(_update(**fields), 200, STORED), there) == []


def test_a_third_value_is_not_a_lost_update() -> None:
    assert told(THERE, answer(_update(price=5), 200, STORED), answer(READ, 200, {**STORED, "price": 4})) == []


def test_a_promise_is_for_the_next_reading() -> None:
    assert told(CREATED, THERE, MISSING) == []  # someone else may have deleted it since


def test_a_service_that_died_may_have_forgotten() -> None:
    gone = answer(draft("GET /items"), None, silence="dropped")
    assert told(CREATED, gone, MISSING) == []
    assert told(_tagged(READ, '"1"'), _tagged(VERSIONED, '"2"'), gone, _tagged(STALE, '"3"')) == []


def test_readings_that_prove_nothing() -> None:
    for odd in ({"query": {"fields": "x"}}, {"credentials": "none"}, {"extra": (("If-None-Match", "*"),)}):
        assert told(CREATED, answer(draft("GET /items/{item_id}", **AT_7, **odd), 404)) == []
    assert told(THERE, DELETED, answer(READ, 200, STORED, headers={"Age": "10"})) == []


def test_probes_ask_only_what_can_be_concluded() -> None:
    watching = semantics()
    for exchange, expected in ((CREATED, [READ]), (THERE, []), (answer(_update(price=5), 200, STORED), [READ]),
                               (THERE, []), (DELETED, [READ]), (DELETED, [])):  # fmt: skip
        watching.judge(exchange)
        assert watching.probes(exchange) == expected


def _tagged(made: Draft, tag: str, status: int = 200) -> Exchange:
    return answer(made, status, STORED, headers={"ETag": tag})


def test_an_old_version_must_not_overwrite_a_newer_one() -> None:
    first, second = _tagged(READ, '"1"'), _tagged(VERSIONED, '"2"')
    current = replace(VERSIONED, extra=(("If-Match", '"2"'),))
    assert told(first, second, _tagged(STALE, '"3"')) == ["lost-update"]
    assert told(first, second, _tagged(STALE, '"2"', 412)) == []
    assert told(first, second, _tagged(current, '"3"')) == []
    unknown = answer(VERSIONED, 200, STORED)  # after it nobody knows which version holds
    assert told(first, second, unknown, _tagged(STALE, '"3"')) == []
    assert (
        told(first, _tagged(_update(), '"2"'), _tagged(replace(_update(), extra=(("If-Match", '"1"'),)), '"3"')) == []
    )


def test_the_old_version_is_probed() -> None:
    watching, first, second = semantics(), _tagged(READ, '"1"'), _tagged(VERSIONED, '"2"')
    watching.judge(first)
    watching.judge(second)
    assert watching.probes(second) == [READ, replace(VERSIONED, extra=(("If-Match", '"1"'),))]


def _lived_through(send: Callable[[Draft], Exchange]) -> list[str]:
    """A create, a reading, an update and a deletion, each followed by its probe."""
    watching, found = semantics(), []
    created = send(CREATE)
    found += _probed(watching, created, send)
    item = {"item_id": 1}
    for made in (draft("PUT /items/{item_id}", path=item, body={**GOOD, "title": " mug ", "price": 9}),
                 draft("DELETE /items/{item_id}", path=item)):  # fmt: skip
        found += _probed(watching, send(made), send)
    return found


def _probed(watching: Semantics, exchange: Exchange, send: Callable[[Draft], Exchange]) -> list[str]:
    found = [*watching.judge(exchange)]
    for probe in watching.probes(exchange):
        found += watching.judge(send(probe))
    return [suspicion.kind.value for suspicion in found]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ((), []),
        (("archives",), []),
        (("keeps",), ["read-after-delete"]),
        (("loses",), ["lost-update"]),
        (("forgets",), ["create-without-read"]),
    ],
)
def test_a_real_service_is_seen_through(fault: tuple[str, ...], expected: list[str]) -> None:
    with served(*fault) as (_, send):
        assert _lived_through(send) == expected
