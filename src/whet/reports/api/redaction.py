"""Credentials out of everything that is written.

Two strengths. What must be sendable again (curl lines, written tests) loses the credentials that were given, in every
form they travel in, and the headers that carry credentials. What is only read also loses whatever is called a
password, token or key: those may be the service's own.
"""

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import TypeVar
from urllib.parse import quote, urlsplit, urlunsplit

from whet.reports.api.model import Json
from whet.reports.api.secret_forms import Hiding
from whet.tools.http.messages import Headers, Request, Response

T = TypeVar("T")

HIDDEN = "***"
# Below this length a text that is called a token may be any word ("refresh", "bearer").
SHORTEST_TOKEN = 12
CREDENTIAL_HEADERS = frozenset(
    ("authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "x-auth-token")
)
_TELLING = re.compile(
    r"passw|passphrase|pwd|secret|token|api[-_ ]?key|credential|private[-_ ]?key|authori[sz]ation|session|cookie|jwt",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"(?i)^(basic|bearer|digest|token|apikey|negotiate)\s+(?=\S)")
# A member with such a name in text that is no JSON document (cut, a form, a log line).
# Tried at the beginning of words only, and bounded: a body may be a million word characters.
_TELLING_MEMBER = re.compile(
    rf"""((?<![\w.\[\]-])[\w.\[\]-]{{0,40}}(?:{_TELLING.pattern})[\w.\[\]-]{{0,40}}["']?\s*[:=]\s*)"""
    r"""("(?:[^"\\]|\\.)*"?|[^\s&;,}"']+)""",
    re.IGNORECASE,
)


class Secrets:
    """Credentials of a run: their values (passwords, tokens, user:password) and the names of headers and fields."""

    def __init__(self, values: Iterable[str] = (), names: Iterable[str] = ()) -> None:
        self._values, self._given_names = tuple(values), tuple(names)
        self._hiding = Hiding(self._values, HIDDEN)
        self._names = CREDENTIAL_HEADERS | {name.lower() for name in self._given_names}
        written = {quote(name, safe=safe) for name in self._names for safe in ("", "/")}
        fields = "|".join(map(re.escape, sorted(written)))
        self._fields = re.compile(rf"(^|&)({fields})=[^&#]*", re.IGNORECASE)

    def with_values(self, more: Iterable[str]) -> "Secrets":
        return Secrets((*self._values, *more), self._given_names)

    def text(self, text: str) -> str:
        """`text` without any given value."""
        return self._hiding.text(text)

    def raw(self, body: bytes) -> bytes:
        return self._hiding.raw(body)

    def request(self, request: Request, made_up: Headers = ()) -> Request:
        """To be sent again: given values and credential headers are hidden, everything else stays to the byte.

        A cookie that was `made_up` for the request opens nothing, and without it the request would be another.
        """
        own = {name.lower() for name, _ in made_up}
        headers = (
            (name, self.text(value)) if name.lower() in own else self._header(name, value)
            for name, value in request.headers
        )
        body = None if request.body is None else self.raw(request.body)
        return Request(self.text(request.method), self._target(request.target), tuple(headers), body)

    def headers_for_reading(self, headers: Headers) -> Headers:
        return tuple(
            (name, HIDDEN) if _TELLING.search(name) and not self._names_it(name) else self._header(name, value)
            for name, value in headers
        )

    def body_for_reading(self, body: bytes) -> str:
        """Text without given values and without what is called a secret. Bytes that are no text become escapes."""
        told = body.decode("utf-8", "backslashreplace")
        try:
            document = json.loads(told)
        except (ValueError, RecursionError):
            return self.text(_TELLING_MEMBER.sub(_member_hidden, told))
        hidden = self._without_secrets(document)
        return self.text(told if hidden == document else json.dumps(hidden, ensure_ascii=False))

    def target_for_reading(self, target: str) -> str:
        path, mark, query = self._target(target).partition("?")
        return path + mark + _TELLING_MEMBER.sub(_member_hidden, query)

    def hidden_in(self, report: T) -> T:
        """The same record with every text in it, however deep, without given values."""
        return self._walked(report)

    def _walked(self, value: T) -> T:
        changed: object = value
        match value:
            case Enum():
                pass  # our own word, even if somebody's credential is the same
            case str():
                changed = type(value)(hidden) if (hidden := self.text(value)) != value else value
            case bytes():
                changed = self.raw(value)
            case tuple():
                changed = tuple(self._walked(item) for item in value)
            case list():
                changed = [self._walked(item) for item in value]
            case Mapping():
                changed = {self._walked(key): self._walked(item) for key, item in value.items()}
            case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
                fields = {one.name: self._walked(getattr(value, one.name)) for one in dataclasses.fields(value)}
                changed = dataclasses.replace(value, **fields)
        return changed  # type: ignore[return-value]

    def _names_it(self, name: str) -> bool:
        return name.lower() in self._names

    def _header(self, name: str, value: str) -> tuple[str, str]:
        if not self._names_it(name):
            return self.text(name), self.text(value)
        if name.lower() in ("cookie", "set-cookie"):
            known_hidden = self.text(value)  # first: a given value may itself hold the ";" that ends a cookie
            return name, re.sub(r"=[^;]*", f"={HIDDEN}", known_hidden, count=0 if name.lower() == "cookie" else 1)
        scheme = _SCHEME.match(value)
        return name, (scheme[0] if scheme else "") + HIDDEN

    def _target(self, target: str) -> str:
        """Without given values, and without the query's fields that are named as credentials."""
        path, mark, query = self.text(target).partition("?")
        return path + mark + self._fields.sub(rf"\1\2={HIDDEN}", query)

    def _without_secrets(self, document: Json) -> Json:
        if isinstance(document, dict):
            return {
                name: HIDDEN if self._is_secret(name, value) else self._without_secrets(value)
                for name, value in document.items()
            }
        return [self._without_secrets(item) for item in document] if isinstance(document, list) else document

    def _is_secret(self, name: str, value: Json) -> bool:
        return (
            isinstance(value, str | int | float)
            and bool(value)
            and value is not True
            and (self._names_it(name) or bool(_TELLING.search(name)))
        )


def without_userinfo(url: str) -> str:
    """The address without user and password: they stand in no report and name no service."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def response_secrets(response: Response) -> Iterator[str]:
    """Tokens and cookies that an answer hands out: later requests carry them."""
    cookies = (cookie.partition(";")[0].partition("=")[2] for cookie in response.all_headers("set-cookie"))
    try:
        document = json.loads(response.body)
    except (ValueError, RecursionError):
        document = None
    return (text for text in (*cookies, *_telling_leaves(document)) if len(text) >= SHORTEST_TOKEN and " " not in text)


def _telling_leaves(document: Json) -> Iterator[str]:
    if isinstance(document, dict):
        for name, value in document.items():
            if isinstance(value, str) and _TELLING.search(name):
                yield value
            else:
                yield from _telling_leaves(value)
    elif isinstance(document, list):
        for item in document:
            yield from _telling_leaves(item)


def _member_hidden(found: re.Match[str]) -> str:
    quoted = found[2].startswith('"')
    return found[1] + (f'"{HIDDEN}"' if quoted else HIDDEN)
