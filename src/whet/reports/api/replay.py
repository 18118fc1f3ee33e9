"""What every written test begins with: sending a request, and reading what comes back.

The source of this file is copied into the tests, so it needs nothing but the standard library.
"""

import http.client
import json
import os
import random
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from whet.skills.api.renaming import other_name

BASE_URL = os.environ.get("WHET_API_URL", "http://127.0.0.1:8000")
TIMEOUT_SECONDS = float(os.environ.get("WHET_API_TIMEOUT", "10"))
OTHER_NAMES = 5
Headers = Sequence[tuple[str, str]]
Schemas = Mapping[str, Mapping[str, Any]]  # by status, then by content type or header


class Answer:
    """`status` is None when nothing came back; `why` says what happened instead. `sent` is the request's body."""

    def __init__(self, asked: str, status: int | None, headers: Headers = (), body: bytes = b"", why: str = "") -> None:
        self.asked, self.status, self.headers, self.body, self.why = asked, status, headers, body, why
        self.sent: bytes | None = None

    def __repr__(self) -> str:
        told = f"no answer ({self.why})" if self.status is None else f"{self.status} {self.body[:2000]!r}"
        return f"{self.asked} → {told}"

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)

    def media(self) -> str:
        return (self.header("content-type") or "").partition(";")[0].strip().lower()

    def is_in(self, first: int, last: int) -> bool:
        return self.status is not None and first <= self.status <= last

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise AssertionError(f"This is not JSON ({error}): {self!r}") from None

    def at(self, pointer: str) -> Any:
        """What stands at a JSON pointer; None when nothing does."""
        return found_at(self.json(), pointer)

    def value(self, source: str, recorded: str) -> str:
        """An id for the next request: from this answer, or as it was when the fault was found."""
        found = self._found(source)
        return recorded if found in (None, "") else found if isinstance(found, str) else json.dumps(found)

    def written(self, source: str, recorded: str, as_text: bool = False) -> bytes:
        """The same as it stands in a JSON body."""
        value = self.value(source, recorded)
        return json.dumps(value).encode() if as_text else value.encode()

    def _found(self, source: str) -> Any:
        if source == "header:location":
            return unquote(urlsplit(self.header("location") or "").path.rstrip("/").rpartition("/")[2])
        if source.startswith("sent:"):
            return found_at(json.loads(self.sent or b"null"), source[5:])
        return self.header(source[7:]) if source.startswith("header:") else self.at(source)


def found_at(value: Any, pointer: str) -> Any:
    """None where nothing is; of a list that is shorter than it was, its first entry will do."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            value = value[int(name) if int(name) < len(value) else 0] if name.isdigit() and value else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value


def create(
    method: str,
    target: str,
    headers: Headers = (),
    body: bytes = b"",
    names: Sequence[str] = (),
    taken: Sequence[int] = (400, 409, 422),
) -> Answer:
    """Send, and again under other names where the first ones are taken, as by an earlier run of this test; a few times,
    because a short name has few others."""
    answer = send(method, target, headers, body)
    for _ in range(OTHER_NAMES if names else 0):
        if answer.status not in taken:
            break
        answer = send(method, target, headers, renamed(body, names))
    return answer


def renamed(body: bytes, names: Sequence[str]) -> bytes:
    """With another text at each of these pointers."""
    document, dice = json.loads(body), random.SystemRandom()
    for pointer in names:
        holder, _, name = pointer.rpartition("/")
        place = found_at(document, holder)
        name = name.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict) and isinstance(place.get(name), str):
            place[name] = other_name(place[name], dice)
    return json.dumps(document).encode()


def send(method: str, target: str, headers: Headers = (), body: bytes | None = None) -> Answer:
    asked = f"{method} {target}"
    place = urlsplit(BASE_URL)
    kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
    connection = kind(place.hostname or "", place.port, timeout=TIMEOUT_SECONDS)
    try:
        connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value.encode("latin-1", "replace"))
        named = {name.lower() for name, _ in headers}
        if "content-length" not in named and (body is not None or method in ("POST", "PUT", "PATCH")):
            connection.putheader("Content-Length", str(len(body or b"")))
        connection.endheaders(body)
        came = connection.getresponse()
        answer = Answer(asked, came.status, came.getheaders(), came.read())
        answer.sent = body
        return answer
    except (OSError, http.client.HTTPException) as error:
        return Answer(asked, None, why=f"{type(error).__name__}: {error}")
    finally:
        connection.close()


def escaped(text: str) -> str:
    """As it stands in an address."""
    return quote(text, safe="")


def from_environment(variable: str) -> str:
    if variable not in os.environ:
        raise LookupError(f"Set {variable}: a credential is needed here, and credentials are not written down.")
    return os.environ[variable]


def entry(answers: Schemas, status: int | None) -> Mapping[str, Any]:
    """What the contract says of a status: by number, by class ("2XX") or by default; nothing where it is silent."""
    by_status = {name.upper(): contents for name, contents in answers.items()}
    names = (str(status), f"{(status or 0) // 100}XX", "DEFAULT")
    return next((by_status[name] for name in names if name in by_status), {})


def declared(contents: Mapping[str, Any], media: str, absent: Any = None) -> Any:
    """What is declared for a content type, by itself or by a range such as text/*."""
    ranges = (media, f"{media.partition('/')[0]}/*", "*/*", "*")
    plain = {name.partition(";")[0].strip().lower(): value for name, value in contents.items()}
    return next((plain[name] for name in ranges if name in plain), absent)
