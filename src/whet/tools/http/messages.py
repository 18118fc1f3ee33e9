"""One request as it goes over the wire, and what came back: an answer, or the reason why there is none."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Headers = tuple[tuple[str, str], ...]
# Why there is no answer: the service hung, cut the connection, cannot be reached, or spoke something else than HTTP.
Silence = Literal["timeout", "dropped", "unreachable", "garbled"]


@dataclass(frozen=True, slots=True)
class Request:
    """`target` is the encoded path with its query, as in the request line; the origin is the client's."""

    method: str
    target: str
    headers: Headers = ()
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """`status` is None when there was no answer, and `silence` says why. `body` may be cut (`whole` is False)."""

    status: int | None
    headers: Headers = ()
    body: bytes = b""
    whole: bool = True
    seconds: float = 0.0
    silence: Silence | None = None
    resent: bool = False  # a kept connection was cut before the answer, and the request sent again on a new one

    @property
    def found_nobody(self) -> bool:
        """Nobody listened any more: it was never sent. One that was cut, and found nobody the second time, was."""
        return self.silence == "unreachable" and not self.resent

    def header(self, name: str) -> str | None:
        return next(self.all_headers(name), None)

    def all_headers(self, name: str) -> Iterator[str]:
        wanted = name.lower()
        return (value for key, value in self.headers if key.lower() == wanted)

    @property
    def media(self) -> str | None:
        """The content type without its parameters, lower case; None when the answer names none."""
        named = self.header("content-type")
        return named.partition(";")[0].strip().lower() if named else None
