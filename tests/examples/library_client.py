"""A plain client for the example library, and the things most faults need to exist first."""

import http.client
import itertools
import json
import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

KEY = {"X-Api-Key": "library-demo-key"}
_NUMBERS = itertools.count(os.getpid() * 1000)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def media(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Library:
    def __init__(self, url: str, timeout_seconds: float = 10) -> None:
        self.place, self.timeout = urlsplit(url).netloc, timeout_seconds

    def ask(
        self, method: str, target: str, given: Any = None, *, body: bytes | None = None, **headers: str | None
    ) -> Answer:
        """`given` is sent as JSON, `body` as it is; a header of None takes away one that is sent otherwise."""
        if given is not None:
            body, headers = json.dumps(given).encode(), {"content_type": "application/json", **headers}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in {**KEY, **named}.items() if value is not None}
        connection = http.client.HTTPConnection(self.place, timeout=self.timeout)
        try:
            connection.request(method, target, body, sent)
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def made(self, target: str, given: Any) -> Any:
        answer = self.ask("POST", target, given)
        assert answer.status == 201, answer
        return answer.json

    def member(self, **other: Any) -> Any:
        contact = {"kind": "email", "address": "reader@library.example"}
        return self.made("/members", {**self.new_member(), "contact": contact, **other})

    def new_member(self) -> dict[str, Any]:
        return {"username": f"reader_{next(_NUMBERS)}", "password": "correct horse", "name": "Grace Leaf"}

    def new_book(self, **other: Any) -> dict[str, Any]:
        isbn = f"978{next(_NUMBERS) % 10**10:010}"
        return {"isbn": isbn, "title": "Emma", "author": "Jane Austen", "year": 1815, "genre": "novel", **other}

    def book(self, **other: Any) -> Any:
        return self.made("/books", self.new_book(**other))

    def copy(self, book: Any) -> Any:
        return self.made(f"/books/{book['id']}/copies", {"shelf": 7})

    def loan(self, **other: Any) -> Any:
        """A loan of a new book to a new member, unless one is given."""
        wanted = {"member_id": (other.get("member") or self.member())["id"]}
        return self.made("/loans", {**wanted, "copy_id": self.copy(other.get("book") or self.book())["id"]})

    def cover(self, book: Any, file: bytes) -> Answer:
        head = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'
        return self.ask(
            "PUT", f"/books/{book['id']}/cover", body=head + file + b"\r\n--edge--\r\n",
            content_type="multipart/form-data; boundary=edge",
        )  # fmt: skip
