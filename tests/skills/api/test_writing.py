"""A written request says what the draft means, in every style and media type, and stays on its route."""

import json
import re
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.skills.api.contract.model import Body, Json, Operation, Parameter
from whet.skills.api.exchange import NO_BODY, Draft
from whet.skills.api.writing import write
from whet.tools.http.messages import Request

QUICK = settings(max_examples=50, deadline=None)
ANY_TEXT = st.text(st.characters(codec=None), max_size=12)  # lone surrogates too
TEXT = st.text(max_size=12)
WORDS = st.text(min_size=1, max_size=6)
STYLES = ["form", "spaceDelimited", "pipeDelimited"]


def operation(*parameters: Parameter, path: str = "/items", bodies: tuple[Body, ...] = ()) -> Operation:
    return Operation(f"POST {path}", "POST", path, parameters, bodies, ())


def parameter(where: Any, style: str, explode: bool, media: str | None = None) -> Parameter:
    return Parameter("a", where, True, {}, style, explode, media)


def text(encoded: str) -> str:
    return unquote_to_bytes(encoded).decode("utf-8", "surrogatepass")


def header(request: Request, name: str) -> str | None:
    return next((value for key, value in request.headers if key.lower() == name.lower()), None)


def sent(body: Json, media: str, encoding: Any = None, schema: Any = None) -> Request:
    declared = Body(media, schema or {}, True, (), encoding or {})
    return write(Draft(operation(bodies=(declared,)), body=body, media=media), "")


@QUICK
@given(ANY_TEXT, st.sampled_from(["simple", "label", "matrix"]), st.booleans())
def test_a_path_value_never_changes_the_route(value: str, style: str, explode: bool) -> None:
    one = operation(parameter("path", style, explode), path="/a/{a}/b")
    target = write(Draft(one, path={"a": value}), "/api").target
    assert re.fullmatch(r"/api/a/[^/?#]+/b", target)
    assert target.isascii()
    assert target.split("/")[3] not in (".", "..")


@QUICK
@given(ANY_TEXT.filter(bool))
def test_a_path_value_is_what_the_service_decodes(value: str) -> None:
    one = operation(parameter("path", "simple", False), path="/a/{a}")
    assert text(write(Draft(one, path={"a": value}), "").target.removeprefix("/a/")) == value


def test_an_empty_path_value_is_a_space_and_dots_are_encoded() -> None:
    one = operation(parameter("path", "simple", False), path="/a/{a}")
    targets = [write(Draft(one, path={"a": value}), "").target for value in ("", ".", "..", "a.b")]
    assert targets == ["/a/%20", "/a/%2E", "/a/%2E%2E", "/a/a.b"]


def test_a_path_without_its_value_and_with_odd_characters_is_still_a_path() -> None:
    assert write(Draft(operation(path="/ä b/{a}#x")), "").target == "/%C3%A4%20b/%7Ba%7D%23x"


@pytest.mark.parametrize(
    ("style", "explode", "array", "mapping"),
    [
        ("simple", False, "3,4", "R,1,G,2"),
        ("simple", True, "3,4", "R=1,G=2"),
        ("label", False, ".3,4", ".R,1,G,2"),
        ("label", True, ".3.4", ".R=1.G=2"),
        ("matrix", False, ";a=3,4", ";a=R,1,G,2"),
        ("matrix", True, ";a=3;a=4", ";R=1;G=2"),
    ],
)
def test_path_styles_are_those_of_the_specification(style: str, explode: bool, array: str, mapping: str) -> None:
    one = operation(parameter("path", style, explode), path="/{a}")
    assert write(Draft(one, path={"a": [3, 4]}), "").target == f"/{array}"
    assert write(Draft(one, path={"a": {"R": 1, "G": 2}}), "").target == f"/{mapping}"


@QUICK
@given(st.sampled_from(STYLES), st.booleans(), st.lists(TEXT, min_size=1, max_size=4))
def test_query_arrays_come_back(style: str, explode: bool, values: list[str]) -> None:
    target = write(Draft(operation(parameter("query", style, explode)), query={"a": values}), "").target
    query = target.partition("?")[2]
    if explode:
        assert parse_qsl(query, keep_blank_values=True) == [("a", value) for value in values]
    else:
        delimiter = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C"}[style]
        safe = [value for value in values if " " not in value and "|" not in value]
        if safe == values:  # the delimited styles have no way to write their own delimiter inside a value
            assert [text(part) for part in query.removeprefix("a=").split(delimiter)] == values


@QUICK
@given(st.dictionaries(WORDS, TEXT, min_size=1, max_size=4))
def test_query_objects_come_back(mapping: dict[str, str]) -> None:
    exploded = write(Draft(operation(parameter("query", "form", True)), query={"a": mapping}), "").target
    assert dict(parse_qsl(exploded.partition("?")[2], keep_blank_values=True)) == mapping
    flat = write(Draft(operation(parameter("query", "form", False)), query={"a": mapping}), "").target
    parts = [text(part) for part in flat.partition("?a=")[2].split(",")]
    assert dict(zip(parts[::2], parts[1::2], strict=True)) == mapping
    deep = write(Draft(operation(parameter("query", "deepObject", True)), query={"a": mapping}), "").target
    pairs = parse_qsl(deep.partition("?")[2], keep_blank_values=True)
    assert {name.removeprefix("a[").removesuffix("]"): value for name, value in pairs} == mapping


def test_an_empty_array_is_left_out_of_a_query() -> None:
    assert write(Draft(operation(parameter("query", "form", False)), query={"a": []}), "").target == "/items"


def test_a_query_is_ascii_with_every_reserved_character_encoded() -> None:
    assert write(Draft(operation(), query={"a": "é/?&=+ #"}), "").target == "/items?a=%C3%A9%2F%3F%26%3D%2B%20%23"


def test_scalars_in_a_query_are_texts_and_empty_containers_are_left_out() -> None:
    query: dict[str, Json] = {"a": True, "b": None, "c": 1.5, "d": "", "e": [], "f": {}, "g": {"h": [1]}}
    written = write(Draft(operation(), query=query), "").target.partition("?")[2]
    assert parse_qsl(written, keep_blank_values=True) == [
        ("a", "true"), ("b", "null"), ("c", "1.5"), ("d", ""), ("h", "[1]"),
    ]  # fmt: skip


def test_a_parameter_with_content_is_json() -> None:
    one = operation(parameter("query", "form", True, "application/json"))
    assert json.loads(text(write(Draft(one, query={"a": {"b": [1]}}), "").target.removeprefix("/items?a="))) == {
        "b": [1]
    }


@QUICK
@given(ANY_TEXT, ANY_TEXT)
def test_no_header_or_cookie_value_starts_a_header_of_its_own(name: str, value: str) -> None:
    draft = Draft(operation(), headers={name: value}, cookies={name: value}, extra=(("X-Extra", value),))
    for key, written in write(draft, "").headers:
        assert not re.search(r"[\x00-\x08\x0a-\x1f\x7f]", key + written)
        assert re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", key)
        (key + written).encode("latin-1")


def test_cookies_share_one_header_and_cannot_end_each_other() -> None:
    draft = Draft(operation(), cookies={"a": "x; b=y", "c": [1, 2]})
    assert header(write(draft, ""), "cookie") == "a=x%3B%20b=y; c=1,2"


def test_what_was_added_on_purpose_replaces_what_is_ours() -> None:
    draft = Draft(operation(), headers={"X-A": 1}, body={}, extra=(("content-type", "x/y"), ("ACCEPT", "z")))
    assert write(draft, "").headers == (("X-A", "1"), ("content-type", "x/y"), ("ACCEPT", "z"))


def test_without_a_body_there_is_neither_content_nor_a_type() -> None:
    request = write(Draft(operation(), body=NO_BODY, media="application/json"), "")
    assert (request.body, header(request, "content-type")) == (None, None)
    assert str(header(request, "accept")).startswith("application/json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


@QUICK
@given(JSON | ANY_TEXT, st.sampled_from(["application/json", "application/vnd.a+json", "*/*"]))
def test_json_bodies_come_back(value: Json, media: str) -> None:
    written = sent(value, media).body
    assert written is not None
    assert json.loads(written) == value


def test_json_null_and_text_are_bodies() -> None:
    assert sent(None, "application/json").body == b"null"
    assert sent("a", "application/json").body == b'"a"'
    assert sent("\ud800", "application/problem+json").body == b'"\\ud800"'


@QUICK
@given(st.dictionaries(WORDS, TEXT, min_size=1, max_size=4))
def test_form_fields_come_back(fields: dict[str, str]) -> None:
    written = sent(fields, "application/x-www-form-urlencoded").body
    assert written is not None
    assert dict(parse_qsl(written.decode("ascii"), keep_blank_values=True)) == fields


def test_form_fields_follow_their_encoding() -> None:
    fields = {"list": [1, 2], "deep": {"x": 1}, "plain": {"y": 2}, "json": [3], "open": "a/b"}
    encoding = {
        "list": {"style": "form", "explode": False}, "deep": {"style": "deepObject", "explode": True},
        "json": {"contentType": "application/json"}, "open": {"allowReserved": True},
    }  # fmt: skip
    written = sent(fields, "application/x-www-form-urlencoded", encoding).body
    assert written == b"list=1,2&deep%5Bx%5D=1&plain=%7B%22y%22%3A2%7D&json=%5B3%5D&open=a/b"


@QUICK
@given(st.dictionaries(st.sampled_from("abcd"), st.binary(max_size=40), min_size=1))
def test_multipart_files_come_back(files: dict[str, bytes]) -> None:
    request = sent(files, "multipart/form-data")
    parts = multipart(request)
    assert {
        part.get_param("name", header="content-disposition"): part.get_payload(decode=True) for part in parts
    } == files
    assert request == sent(files, "multipart/form-data")


def multipart(request: Request) -> list[Any]:
    assert request.body is not None
    head = f"Content-Type: {header(request, 'content-type')}\r\n\r\n".encode()
    # An email's parser would take 8-bit text for 7-bit: every part says that it is binary.
    body = request.body.replace(b"Content-Disposition", b"Content-Transfer-Encoding: binary\r\nContent-Disposition")
    return list(BytesParser(policy=HTTP).parsebytes(head + body).iter_parts())


def test_multipart_fields_are_text_json_or_files_of_their_type() -> None:
    fields = {"note": "hi", "data": {"x": 1}, "pic": b"\x89", "many": [1, 2], 'a"b': "c"}
    written = sent(fields, "multipart/form-data", {"pic": {"contentType": "image/png, image/jpeg"}}).body
    assert written is not None
    assert b'name="note"\r\n\r\nhi\r\n' in written
    assert b'name="data"\r\nContent-Type: application/json\r\n\r\n{"x":1}\r\n' in written
    assert b'name="pic"; filename="pic.bin"\r\nContent-Type: image/png\r\n\r\n\x89\r\n' in written
    assert written.count(b'name="many"') == 2
    assert b'name="a%22b"' in written


def test_other_media_types() -> None:
    assert sent("é", "text/plain").body == "é".encode()
    assert sent(b"\x00\xff", "application/octet-stream").body == b"\x00\xff"
    assert sent([{"a": 1}, 2], "application/x-ndjson").body == b'{"a":1}\n2\n'
    assert header(sent(b"\x00", "image/*"), "content-type") == "image/png"


def test_xml_by_the_names_of_its_schema() -> None:
    schema = {
        "xml": {"name": "pet"},
        "properties": {
            "id": {"xml": {"attribute": True}},
            "tags": {"xml": {"wrapped": True}, "items": {"xml": {"name": "tag"}}},
        },
    }
    written = sent({"id": 5, "tags": ["a<b", None], "1 x": True}, "application/xml", schema=schema).body
    declaration = b'<?xml version="1.0" encoding="UTF-8"?>'
    assert written == declaration + b'<pet id="5"><tags><tag>a&lt;b</tag><tag/></tags><_1_x>true</_1_x></pet>'


def test_a_raw_body_replaces_the_written_one() -> None:
    request = write(Draft(operation(), body={"a": 1}, media="application/json", raw=b"{"), "")
    assert (request.body, header(request, "content-type")) == (b"{", "application/json")
    assert header(write(Draft(operation(), raw=b"{"), ""), "content-type") is None
