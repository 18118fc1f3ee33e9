"""Requests survive the way through JSON."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.skills.api.small_service import contract, does, in_path, operation, record, told

from whet.skills.api.exchange import NO_BODY, Draft, Exchange
from whet.skills.api.learning.portable import pack_draft, pack_exchange, unpack_draft, unpack_exchange
from whet.tools.http.messages import Request, Response

CONTRACT = contract({"/things/{id}": {"put": does("200", parameters=(in_path("id"),), body=record())}})
PUT = operation(CONTRACT, "PUT /things/{id}")
TEXT = st.text(st.characters(), max_size=8) | st.just("lone \ud800 surrogate")
SCALARS: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT | st.binary(max_size=8)
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3))
PLACES = st.dictionaries(TEXT, VALUES, max_size=3)
DRAFTS = st.builds(
    Draft,
    st.just(PUT),
    PLACES,
    PLACES,
    PLACES,
    PLACES,
    body=VALUES | st.just(NO_BODY),
    media=st.none() | st.just("application/json"),
    raw=st.none() | st.binary(max_size=20),
    extra=st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple),
    credentials=st.sampled_from(["given", "none", "wrong"]),
    broken=st.none() | TEXT,
    mutation=st.none() | TEXT,
)


@settings(max_examples=50)
@given(DRAFTS)
def test_a_draft_comes_back_as_it_was(draft: Draft) -> None:
    assert unpack_draft(json.loads(json.dumps(pack_draft(draft))), CONTRACT) == draft


@settings(max_examples=50)
@given(DRAFTS, st.binary(max_size=50), st.sampled_from([200, 404, None]))
def test_an_exchange_comes_back_without_what_carries_credentials(draft: Draft, body: bytes, status: int | None) -> None:
    headers = (("Content-Type", "text/plain"), ("Set-Cookie", "session=secret"), ("ETag", '"1"'))
    answer = Response(status, headers, body, silence=None if status else "dropped")
    sent = Exchange(7, draft, Request("PUT", "/things/1", (("Authorization", "Bearer secret"),), b"x"), answer)
    packed = json.dumps(pack_exchange(sent))
    back = unpack_exchange(json.loads(packed), CONTRACT)

    assert "secret" not in packed
    assert back is not None
    assert (back.number, back.draft, back.request.target, back.request.body) == (7, draft, "/things/1", b"x")
    assert (back.response.status, back.response.body, back.response.silence) == (status, body, answer.silence)
    assert back.response.headers == (("Content-Type", "text/plain"), ("ETag", '"1"'))


def test_a_long_answer_is_cut_and_said_to_be() -> None:
    long = unpack_exchange(pack_exchange(told(PUT, 200, "x" * 50_000)), CONTRACT)
    assert long is not None
    assert not long.response.whole
    assert len(long.response.body) < 5_000


def test_what_the_contract_no_longer_has_is_left_out() -> None:
    packed = pack_exchange(told(PUT, 200))
    other = contract({"/others": {"get": does("200")}})
    assert unpack_draft(packed["draft"], other) is None
    assert unpack_exchange(packed, other) is None
