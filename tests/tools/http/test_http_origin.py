"""Addresses people give, as origin and path; and what an answer's headers say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import WhetError
from whet.tools.http.messages import Response
from whet.tools.http.origin import Origin, split_address


@pytest.mark.parametrize(
    ("address", "origin", "path"),
    [
        ("http://127.0.0.1:8000", Origin("http", "127.0.0.1", 8000), ""),
        ("http://LocalHost/", Origin("http", "localhost", 80), ""),
        ("https://example.org/api/v1/", Origin("https", "example.org", 443), "/api/v1"),
        ("http://[::1]:9/x", Origin("http", "::1", 9), "/x"),
    ],
)
def test_an_address_is_an_origin_and_a_path(address: str, origin: Origin, path: str) -> None:
    assert split_address(address) == (origin, path)


@pytest.mark.parametrize(
    "address",
    ["", "127.0.0.1:8000", "ftp://host/x", "http://", "file:///etc/passwd", "http://h:99999", "http://h:x", "http://[::1",
     "http://a..b/", "http://" + "a" * 70 + ".org"],
)  # fmt: skip
def test_what_is_no_address_is_refused_with_an_example(address: str) -> None:
    with pytest.raises(WhetError, match=r"http://127\.0\.0\.1:8000"):
        split_address(address)


def test_credentials_in_an_address_are_refused_and_not_repeated() -> None:
    with pytest.raises(WhetError, match="--auth basic") as refused:
        split_address("http://ann:hunter22@host/")
    assert "hunter22" not in str(refused.value)


@given(
    st.sampled_from(["http", "https"]),
    st.sampled_from(["127.0.0.1", "::1", "localhost", "api.example.org"]),
    st.integers(1, 65535),
)
def test_an_origin_written_is_read_back(scheme: str, host: str, port: int) -> None:
    origin = Origin(scheme, host, port)
    assert split_address(str(origin)) == (origin, "")


def test_headers_are_found_in_any_case_and_media_without_parameters() -> None:
    answer = Response(200, (("Content-TYPE", "Application/JSON; charset=utf-8"), ("X", "1"), ("x", "2")))
    assert answer.media == "application/json"
    assert answer.header("X") == "1"
    assert list(answer.all_headers("x")) == ["1", "2"]
    assert answer.header("absent") is None
    assert Response(200).media is None
