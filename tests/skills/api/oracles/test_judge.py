"""What is told of an answer, and, more often, what is not."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.skills.api.oracles.made_service import CONTRACT, GOOD, STORED, answer, draft, judge, kinds

from whet.skills.api.exchange import Exchange
from whet.skills.api.faults import Kind
from whet.tools.http.messages import Response

LIST = draft("GET /items")
READ = draft("GET /items/{item_id}", path={"item_id": 7})
CREATE = draft("POST /items", body=GOOD)


def test_an_answer_as_promised_is_no_suspicion() -> None:
    assert kinds(answer(LIST, 200, [STORED], headers={"X-Total": "1"})) == []
    assert kinds(answer(CREATE, 201, STORED)) == []
    assert kinds(answer(READ, 404, None, media=None)) == []


@pytest.mark.parametrize("status", [500, 502, 504, 520])
def test_a_server_error_is_one_suspicion_and_not_also_undocumented(status: int) -> None:
    assert kinds(answer(READ, status, b"Internal Server Error", "text/plain")) == ["server-error"]


def test_501_is_a_question_of_the_contract() -> None:
    assert kinds(answer(READ, 501, None, media=None)) == ["undocumented-status"]
    assert kinds(answer(draft("GET /anything"), 501, None, media=None)) == []


def test_503_counts_when_one_operation_repeats_it_while_others_are_served() -> None:
    away, served = answer(READ, 503, None), answer(LIST, 200, [])
    assert kinds(away, away, away, away) == []  # one outage, however long
    assert kinds(away, served, away, served) == []
    assert kinds(away, served, away, served, away) == ["server-error"]
    asked = answer(READ, 503, None, headers={"Retry-After": "1"})
    assert kinds(asked, served, asked, served, asked) == []


@pytest.mark.parametrize("body", [[{"id": 7}], [{**STORED, "price": "3"}], {"items": []}, [{**STORED, "size": "huge"}]])
def test_a_body_that_breaks_its_schema(body: object) -> None:
    assert set(kinds(answer(LIST, 200, body))) == {"schema-violation"}


def test_many_wrong_entries_are_one_fault() -> None:
    assert kinds(answer(LIST, 200, [{"id": number, "price": 1} for number in range(500)])) == ["schema-violation"]


def test_what_cannot_be_judged_is_not() -> None:
    cut = answer(LIST, 200, b'[{"id": 1,')
    whole = Exchange(1, cut.draft, cut.request, Response(200, cut.response.headers, cut.response.body, whole=False))
    assert kinds(whole) == []
    assert kinds(cut) == ["schema-violation"]  # it is whole, and not JSON


def test_nan_is_not_json() -> None:
    assert kinds(answer(LIST, 200, b'[{"title": "cup", "price": 3, "other": NaN}]')) == ["schema-violation"]


def test_json_too_deep_to_be_read_is_not_json() -> None:
    assert kinds(answer(LIST, 200, b"[" * 100_000)) == ["schema-violation"]


def test_half_a_character_does_not_hide_what_else_is_wrong() -> None:
    assert kinds(_broken({"title": "\ud800", "price": -1})) == ["invalid-input-accepted"]
    assert kinds(_broken({"title": "\ud800", "price": 1})) == []


def test_headers_are_held_against_their_schemas() -> None:
    assert kinds(answer(LIST, 200, [], headers={"X-Total": "many"})) == ["schema-violation"]
    assert kinds(answer(LIST, 200, [], headers={"X-Total": "-1"})) == ["schema-violation"]
    assert kinds(answer(LIST, 200, [])) == []  # the contract does not say that it must be there


def test_undocumented_content_type() -> None:
    assert kinds(answer(LIST, 200, b"<p>hello</p>", "text/html")) == ["undocumented-content-type"]
    assert kinds(answer(LIST, 200, b"[]", None)) == ["undocumented-content-type"]
    assert kinds(answer(LIST, 200, b"[]", "application/json; charset=utf-8")) == []
    assert kinds(answer(LIST, 200, b"", "text/html")) == []
    asked = draft("GET /items", extra=(("Accept", "text/html"),))
    assert kinds(answer(asked, 200, b"<p>", "text/html")) == []


@pytest.mark.parametrize(
    ("status", "told"), [(202, True), (302, True), (418, True), (409, True), (429, False), (413, False)]
)
def test_undocumented_status(status: int, told: bool) -> None:
    assert (kinds(answer(LIST, status, None, media=None)) == ["undocumented-status"]) is told


def test_statuses_of_frameworks_count_where_the_contract_knows_them_and_the_draft_is_valid() -> None:
    assert kinds(answer(LIST, 404, None, media=None)) == ["undocumented-status"]
    assert kinds(answer(LIST, 415, None, media=None)) == []  # the contract never says 415
    broken = draft("GET /items", query={"limit": "x"}, broken="limit must be an integer, is a string")
    assert kinds(answer(broken, 404, None, media=None)) == []


def test_redirects_of_the_router_are_not_told() -> None:
    assert kinds(answer(LIST, 307, None, headers={"Location": "http://127.0.0.1:1/v1/items/"})) == []
    assert kinds(answer(LIST, 307, None, headers={"Location": "/v1/elsewhere"})) == ["undocumented-status"]


def test_304_to_a_condition_is_not_told() -> None:
    asked = draft("GET /items", extra=(("If-None-Match", "*"),))
    assert kinds(answer(asked, 304, None)) == []
    assert kinds(answer(LIST, 304, None)) == ["undocumented-status"]


@pytest.mark.parametrize("item_id", ["best", "", "..", "a/b", "x;y", "a\nb"])
def test_an_answer_of_another_route_is_only_judged_for_failing(item_id: str) -> None:
    made = draft("GET /items/{item_id}", path={"item_id": item_id}, broken="item_id must be an integer, is a string")
    assert kinds(answer(made, 200, {"not": "an item"})) == []
    assert kinds(answer(made, 500, None)) == ["server-error"]


def _broken(body: object, reason: str = "price must be a number") -> Any:
    return answer(draft("POST /items", body=body, broken=reason), 201, STORED)


def test_accepting_what_the_contract_forbids() -> None:
    assert kinds(_broken({"title": "cup", "price": -1})) == ["invalid-input-accepted"]
    assert kinds(_broken({"title": "cup"})) == ["invalid-input-accepted"]
    assert kinds(_broken({"title": "cup", "price": "many"})) == ["invalid-input-accepted"]
    assert kinds(_broken([])) == ["invalid-input-accepted"]
    limit = draft("GET /items", query={"limit": 1000}, broken="limit must be at most 100, is 1000")
    assert kinds(answer(limit, 200, [])) == ["invalid-input-accepted"]
    raw = draft("POST /items", raw=b'{"title": ', media="application/json", broken="the body is cut")
    assert kinds(answer(raw, 201, STORED)) == ["invalid-input-accepted"]


def test_nobody_is_blamed_for_taking_what_we_could_not_make_right() -> None:
    unmet = draft("POST /items", body=[], broken="no value was found that body allows", mutation=None)
    assert kinds(answer(unmet, 201, STORED)) == []


def test_what_means_the_same_was_not_invalid() -> None:
    assert kinds(_broken({"title": "cup", "price": "3"})) == []  # see test_refusals
    assert kinds(_broken({**GOOD, "tags": ["a", "a"]})) == []
    assert kinds(_broken({**GOOD, "id": 9})) == []  # readOnly: ignored
    assert kinds(_broken(GOOD)) == []  # whatever the mutation thought
    limit = draft("GET /items", query={"limit": "5"}, broken="limit must be an integer, is a string")
    assert kinds(answer(limit, 200, [])) == []


def test_deleting_what_cannot_exist_may_succeed() -> None:
    made = draft("DELETE /items/{item_id}", path={"item_id": "abc"}, broken="item_id must be an integer, is a string")
    assert kinds(answer(made, 204, None, media=None)) == []


@pytest.mark.parametrize("credentials", ["none", "wrong"])
def test_answers_without_the_credentials_they_need(credentials: Any) -> None:
    assert kinds(answer(draft("GET /secrets", credentials=credentials), 200, {})) == ["missing-auth"]
    assert kinds(answer(draft("GET /secrets", credentials=credentials), 401, {})) == []
    assert kinds(answer(draft("GET /open", credentials=credentials), 200, {})) == []
    assert kinds(answer(draft("GET /items", credentials=credentials), 200, [])) == []
    assert kinds(answer(draft("GET /secrets"), 200, {})) == []


def test_only_the_first_silence_is_a_requests_own() -> None:
    hang = answer(READ, None, silence="timeout")
    assert kinds(hang) == ["timeout"]
    assert kinds(hang, hang) == []
    assert kinds(hang, answer(LIST, 200, []), hang) == ["timeout"]
    assert kinds(hang, answer(LIST, None, silence="unreachable")) == []


def test_a_cut_connection_is_a_crash_unless_the_request_was_huge() -> None:
    assert kinds(answer(READ, None, silence="dropped")) == ["crash"]
    huge = draft("POST /items", body={**GOOD, "note": "x" * 1_100_000})
    assert kinds(answer(huge, None, silence="dropped")) == []


def test_a_stream_of_events_may_stay_open() -> None:
    assert kinds(answer(draft("GET /events"), None, silence="timeout")) == []


def test_a_service_that_is_gone_is_held_against_the_last_request_it_answered() -> None:
    judging = judge()
    last = answer(CREATE, 201, STORED)
    judging.judge(last)
    (found,) = judging.judge(answer(LIST, None, silence="unreachable"))
    assert (found.kind, found.operation) == (Kind.CRASH, "POST /items")
    assert judging.evidence(found) == (last,)
    assert judging.judge(answer(LIST, None, silence="unreachable")) == ()


def test_who_was_cut_and_found_nobody_the_second_time_did_it_and_not_who_came_before() -> None:
    judging = judge()
    judging.judge(answer(CREATE, 201, STORED))
    gone = answer(READ, None, silence="unreachable")
    (found,) = judging.judge(replace(gone, response=replace(gone.response, resent=True)))
    assert (found.kind, found.operation) == (Kind.CRASH, "GET /items/{item_id}")
    assert judging.evidence(found) == ()


def test_a_service_that_never_was_there_is_nobodys_fault() -> None:
    assert kinds(answer(LIST, None, silence="unreachable")) == []


BODIES = st.one_of(st.binary(max_size=300), st.text(max_size=200).map(str.encode), st.just(b"[" * 100_000))
HEADERS = st.dictionaries(
    st.sampled_from(["Content-Type", "X-Total", "Location", "Retry-After", "Age", "x"]),
    st.text(max_size=40),
    max_size=4,
)
PATHS = st.one_of(st.integers(), st.text(max_size=20), st.none(), st.lists(st.integers(), max_size=2))


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(CONTRACT.operations),
    st.one_of(st.none(), st.integers(100, 599)),
    BODIES,
    HEADERS,
    PATHS,
    st.sampled_from(["application/json", "text/html", "", None]),
)
def test_no_answer_makes_the_judge_raise(
    one: Any, status: int | None, body: bytes, headers: dict[str, str], value: Any, media: str | None
) -> None:
    parts = {"path": {"item_id": value}} if "{" in one.path else {}
    made = draft(one.id, **parts, query={"limit": value}, broken="limit is odd")
    exchange = answer(made, status, body, media, headers, silence=None if status else "garbled")
    for suspicion in judge().judge(exchange):
        assert suspicion.operation == one.id
        assert suspicion.cause.startswith(f"{suspicion.kind} | {one.id} | ")
