"""Bytes, files and mappings become contracts, or are refused with a sentence; nothing hangs, nothing bursts."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.skills.api.contract.made_contracts import answering, only, openapi

from whet.core.errors import WhetError
from whet.skills.api.contract import loading, yaml_text
from whet.skills.api.contract.reading import read_contract

YAML = b"""
openapi: 3.0.0
info: {title: Dates, version: 1.10}
paths:
  /thing:
    get:
      parameters:
        - {in: query, name: day, schema: {type: string, enum: [2020-01-01, no, 12:30, 0x10]}}
      responses:
        200: {description: fine}
"""


def test_yaml_is_read_as_json_would_say_it() -> None:
    contract = read_contract(YAML, "dates.yaml")
    operation = only(contract)
    assert contract.version == "1.1"  # a number without quotes, as YAML has it
    assert operation.answers[0].status == "200"
    assert operation.parameters[0].schema["enum"] == ["2020-01-01", "no", "12:30", 16]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"yes", "yes"), (b"True", True), (b"~", None), (b"'1'", "1"), (b"!!str 1", "1"), (b"007", 7), (b"1e3", 1000.0),
        (b".inf", None), (b"1e999", None), (b"1_000", "1_000"), (b"-", [None]), (b"+", "+"), (b"!Ref x", "x"),
        (b"a: &x {b: 1}\nc: {<<: *x, b: 2}", {"a": {"b": 1}, "c": {"b": 2}}),
        (b"a: &x 1\nb: *x", {"a": 1, "b": 1}), (b"{200: a, null: b}", {"200": "a", "null": "b"}),
    ],
)  # fmt: skip
def test_yaml_values(text: bytes, value: object) -> None:
    assert yaml_text.load(text, lambda _: pytest.fail("no key is there twice")) == value


@pytest.mark.parametrize("text", [
    b'{"openapi": "3.0.3", "paths": {"/a": {"get": {}}, "/a": {"post": {}}}}',
    b'openapi: 3.0.3\npaths:\n  /a: {get: {}}\n  /a: {post: {}}\n',
])  # fmt: skip
def test_a_key_that_is_there_twice_is_told(text: bytes) -> None:
    contract = read_contract(text)
    assert only(contract).id == "POST /a"
    assert "'/a' is there twice in one object; the last one counts." in contract.notes


def test_the_same_document_as_bytes_file_and_mapping(tmp_path: Path) -> None:
    document = openapi(answering({"type": "string"}))
    file = tmp_path / "api.json"
    file.write_text(json.dumps(document), encoding="utf-16")
    read = [read_contract(json.dumps(document).encode()), read_contract(file), read_contract(str(file))]
    assert all(one == read_contract(document) for one in read)


def test_json_with_comments_is_read_as_yaml() -> None:
    text = json.dumps(openapi(answering({}))).encode().replace(b'"paths"', b'# the paths\n"paths"')
    assert only(read_contract(text)).id == "GET /thing"


def test_half_characters_do_not_reach_the_contract() -> None:
    document = openapi(answering({}, summary="\ud800 half"))
    contract = read_contract(json.dumps(document).encode())
    assert only(contract).summary == "\ufffd half"


def bomb(levels: int) -> bytes:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(["openapi: 3.0.0", *lines]).encode()


def merge_bomb() -> bytes:
    wide = "a: &a {" + ", ".join(f"k{n}: 1" for n in range(2000)) + "}"
    return f"openapi: 3.0.0\n{wide}\nb: {{<<: [{', '.join(['*a'] * 2000)}]}}".encode()


REFUSED: dict[str, tuple[Any, str]] = {
    "empty": (b"  \n", "is empty"),
    "web page": (b"<!doctype html><html>", "web page"),
    "a list": (b"[1, 2]", "is not an object"),
    "a text": (b"hello", "is not an object"),
    "cut": (json.dumps(openapi(answering({}))).encode()[:-20], "is not valid JSON"),
    "bad yaml": (b"openapi: 3.0.0\npaths: {a: [1, 2", "at line 3"),
    "not utf-8": (b'{"openapi": "3.0.0", "info": "\xff"}', "is not UTF-8"),
    "no version": ({"paths": {}}, "names neither"),
    "asyncapi": ({"asyncapi": "2.0.0"}, "AsyncAPI"),
    "swagger 1": ({"swaggerVersion": "1.2"}, "Swagger 1"),
    "old openapi": ({"openapi": "1.0"}, "2.0, 3.0 and 3.1 are read"),
    "postman": ({"info": {}, "item": []}, "Postman"),
    "no operations": (openapi({}), "promises no operation"),
    "paths of nonsense": (openapi({"/a": 3, "/b": [], "/c": {"get": 1}}), "promises no operation"),
    "many digits": (b'{"openapi": "3.0.0", "x": 1' + b"0" * 5000 + b"}", "thousands of digits"),
    "deep json": (b'{"openapi": "3.0.0", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested"),
    "deep yaml": (b"openapi: 3.0.0\nx: " + b"[" * 900 + b"]" * 900, "nested"),
    "alias bomb": (bomb(12), "values"),
    "alias cycle": (b"openapi: 3.0.0\nx: &x [*x]", "contains itself"),
    "merge bomb": (merge_bomb(), "merge keys"),
    "unknown alias": (b"openapi: 3.0.0\nx: *y", "alias"),
    "key that is a list": (b"openapi: 3.0.0\n? [a]\n: b", "a key is not text"),
    "no such file": ("/no/such/file.json", "cannot be read"),
    "no path": ("\0", "cannot be read"),
    "program values": ({"openapi": "3.0.0", ("a", 1): 2}, "is not made of JSON values"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_contract_is_refused_with_a_remedy(case: str) -> None:
    given, said = REFUSED[case]
    with pytest.raises(WhetError) as refused:
        read_contract(given)
    assert said in refused.value.problem
    assert refused.value.remedy


def test_the_refusal_names_the_document() -> None:
    with pytest.raises(WhetError, match=r"^http://127\.0\.0\.1/openapi\.json is empty"):
        read_contract(b"", "http://127.0.0.1/openapi.json")


def test_a_document_that_is_too_large_is_refused() -> None:
    with pytest.raises(WhetError, match="more than 32 MiB"):
        read_contract(b"{" + b" " * loading.LARGEST_BYTES)
    with pytest.raises(WhetError, match="of YAML"):
        read_contract(b"x" * (loading.LARGEST_YAML_BYTES + 1))
