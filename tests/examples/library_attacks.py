"""Requests nobody should send, and whether the answer is one the contract documents."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import jsonschema_rs
from tests.examples.library_client import Answer

# What is put in the place of any value; the last ones are too deep or too large for a careless reader.
ODD: list[Any] = [
    None, True, 0, -1, 1.0, 1.5, 2**31, 2**64, -(2**63), 10**400, 1e308, "", " ", "0", "1", "+1", "1_0", "null", "true",
    "a\0b", "\ud800", "🙂", "\u202e", "%", "*", "../..", "<b>", "'; --", "x" * 81, "x" * 5000, [], [None],
    ["novel"] * 9, {}, {"": None}, {"\ud800": 1}, {"kind": "\udfff"}, {"$ref": "#"}, [[[[]]]],
]  # fmt: skip
RAW = [
    b"", b"{", b"[" * 50_000, b"null", b"NaN", b'{"a":' * 2000, b"\xff\xfe", b"\x00", b"\xef\xbb\xbf{}", b'"\\ud800"',
    b"1" * 5000,
    '{"title": 1}'.encode("utf-16"), b"\x1f\x8b\x08\x00", b"--edge\r\n\r\n", b"a=%ff&a=%00", b"username=a&username=b",
    b" " * 1_000_001,
]  # fmt: skip
MEDIA = [
    "application/json", "application/json; charset=utf-16", "text/plain", "text/plain; charset=latin-1",
    "multipart/form-data",
    "multipart/form-data; boundary=edge", "application/x-www-form-urlencoded", "application/xml", "", "/", "\xff",
]  # fmt: skip
HEADERS = [
    "If-Match",
    "If-None-Match",
    "X-Request-Id",
    "X-Api-Key",
    "Authorization",
    "Cookie",
    "Accept",
    "Range",
    "Expect",
]
HEADS = [
    "*",
    '"1"',
    "W/1",
    "a",
    "\xe9",
    "Bearer \xff",
    "Basic eA==",
    "locale=\xff",
    "gzip",
    "0",
    "x" * 300,
    "bytes=9-1",
]


@dataclass(frozen=True)
class Attack:
    operation: str
    method: str
    target: str
    body: bytes | None
    headers: dict[str, str]


class Attacker:
    """Random attacks on every operation of a document, with ids that exist as often as not."""

    def __init__(self, document: Any, ids: dict[str, Any], chance: random.Random) -> None:
        self._document, self._ids, self._chance = document, ids, chance

    def attacks(self, count: int) -> Iterator[Attack]:
        operations = [(path, method) for path, item in self._document["paths"].items() for method in item]
        for number in range(count):
            path, method = operations[number % len(operations)]
            yield self._attack(path, method, self._document["paths"][path][method])

    def _attack(self, path: str, method: str, operation: Any) -> Attack:
        target, query = path, []
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "path":
                target = target.replace(f"{{{parameter['name']}}}", self._segment(parameter["name"]))
            elif parameter["in"] == "query" and self._chance.random() < 0.3:
                name = self._chance.choice([parameter["name"], f"{parameter['name']}[from]"])
                query.append(f"{quote(name)}={self._text(self._chance.choice(ODD))}")
        headers, body = self._headers(), None
        if method in ("post", "put", "patch"):
            body, media = self._body(operation)
            headers |= {"Content-Type": media}
        return Attack(f"{method} {path}", method.upper(), target + "?" * bool(query) + "&".join(query), body, headers)

    def _segment(self, name: str) -> str:
        odd = self._text(self._chance.choice(ODD)) or "%20"
        return self._chance.choice([str(self._ids[name])] * 3 + [odd, "%ff", "%2F"])

    def _text(self, value: Any) -> str:
        written = value if isinstance(value, str) else json.dumps(value)
        return quote(written.encode(errors="surrogatepass"), safe="")

    def _headers(self) -> dict[str, str]:
        headers = {"If-Match": "*", "X-Api-Key": "library-demo-key"}
        if self._chance.random() < 0.4:
            headers[self._chance.choice(HEADERS)] = self._chance.choice(HEADS)
        return headers | ({"Content-Encoding": "gzip"} if self._chance.random() < 0.05 else {})

    def _body(self, operation: Any) -> tuple[bytes, str]:
        contents = operation.get("requestBody", {"content": {"application/json": {}}})["content"]
        media = next(iter(contents)) if self._chance.random() < 0.8 else self._chance.choice(MEDIA)
        if self._chance.random() < 0.3:
            return self._chance.choice(RAW), media
        schema = self._resolved(contents[next(iter(contents))].get("schema", {}))
        names = [*schema.get("properties", {}), "unknown"]
        value = {name: self._chance.choice(ODD) for name in names if self._chance.random() < 0.8}
        return json.dumps(value).encode(), media

    def _resolved(self, schema: Any) -> Any:
        return (
            self._document["components"]["schemas"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        )


class Promises:
    """What a document promises of answers."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._validators: dict[str, Any] = {}

    def broken(self, attack: Attack, answer: Answer) -> str | None:
        method, path = attack.operation.split(" ")
        promised = self._document["paths"][path][method]["responses"].get(str(answer.status))
        if promised is None:
            return f"{answer.status} is not documented"
        contents = promised.get("content", {})
        if not contents or not answer.body:
            return f"a body for {answer.status}" if answer.body else None
        if answer.media not in contents:
            return f"{answer.media} is not documented for {answer.status}"
        return self._mismatch(contents[answer.media]["schema"], answer)

    def _mismatch(self, schema: Any, answer: Answer) -> str | None:
        if answer.media != "application/json":
            return None
        key = json.dumps(schema)
        if key not in self._validators:
            whole = {**schema, "components": self._document["components"]}
            self._validators[key] = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
        return next((error.message for error in self._validators[key].iter_errors(answer.json)), None)
