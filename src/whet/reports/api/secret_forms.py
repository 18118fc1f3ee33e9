"""The forms in which a service repeats a secret: in addresses, in JSON, within JSON, in pages, in base64, backwards."""

import base64
import re
import string
from collections.abc import Iterable, Iterator
from typing import AnyStr
from urllib.parse import quote, quote_plus

# A shorter value would be found, and hidden, inside of ordinary words; it is hidden by its place alone.
SHORTEST = 4
# From here on a text in other letters, or backwards, is the secret again and not another word.
_TELLING = 8
_DEEP = 16  # backslashes for one
# As JSON may write it, and pages do.
_SPELT = {
    '"': "|&quot;|&#34;|&#x22;",
    "'": "|&apos;|&#39;|&#x27;",
    "&": "|&amp;",
    "<": "|&lt;",
    ">": "|&gt;",
    "/": "",
}
_BEFORE = rf"\\{{1,{_DEEP}}}"
_NAMED = {character: f"|{_BEFORE}{name}" for character, name in zip("\n\r\t\b\f", "nrtbf", strict=True)}


_TO_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


class Hiding:
    """Takes these values out of texts and bytes, in every form; `mark` takes their places."""

    def __init__(self, values: Iterable[str], mark: str) -> None:
        forms = {form for value in values if len(value) >= SHORTEST for form in _forms(value)}
        anyhow = {form.translate(_TO_LOWER) for form in forms if _in_any_case(form)}
        self._mark = mark
        self._anyhow = _any_of(anyhow)
        self._exactly = _any_of(form for form in forms if not _in_any_case(form))
        self._anyhow_bytes, self._exactly_bytes = _of_bytes(self._anyhow), _of_bytes(self._exactly)

    def text(self, text: str) -> str:
        """Letters are made small beforehand: a pattern that ignores case takes ten times as long."""
        if self._anyhow is not None:
            text = self._mark.join(_between(self._anyhow.finditer(text.translate(_TO_LOWER)), text))
        return text if self._exactly is None else self._exactly.sub(self._mark, text)

    def raw(self, body: bytes) -> bytes:
        mark = self._mark.encode()
        if self._anyhow_bytes is not None:
            body = mark.join(_between(self._anyhow_bytes.finditer(body.lower()), body))
        return body if self._exactly_bytes is None else self._exactly_bytes.sub(mark, body)


def _between(found: Iterable[re.Match[AnyStr]], text: AnyStr) -> Iterator[AnyStr]:
    behind = 0
    for one in found:
        yield text[behind : one.start()]
        behind = one.end()
    yield text[behind:]


def _any_of(forms: Iterable[str]) -> re.Pattern[str] | None:
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile("|".join(map(_however_escaped, longest_first))) if longest_first else None


def _of_bytes(pattern: re.Pattern[str] | None) -> re.Pattern[bytes] | None:
    return None if pattern is None else re.compile(encoded(pattern.pattern))


def encoded(text: str) -> bytes:
    """As it was on the wire; of what never was (half a character, spelt out in JSON) some bytes all the same."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _however_escaped(form: str) -> str:
    """JSON within JSON within JSON, or a page: each time there are twice as many backslashes. Bounded, so that none
    costs much."""
    runs = re.findall(r"\\+|[^\\]", form, re.DOTALL)
    return "".join(rf"\\{{{len(run)},{_DEEP * len(run)}}}" if run[0] == "\\" else _escaped(run) for run in runs)


def _escaped(character: str) -> str:
    if character in _SPELT:
        return rf"(?:\\{{0,{_DEEP}}}{character}{_SPELT[character]})"
    if character.isascii() and character.isprintable():
        return re.escape(character)
    units = character.encode("utf-16-be", "surrogatepass").hex()
    spelt = "".join(rf"{_BEFORE}u{units[at : at + 4]}" for at in range(0, len(units), 4))
    return f"(?:{re.escape(character)}|{spelt}{_NAMED.get(character, '')})"


def _in_any_case(form: str) -> bool:
    """Digits of an escape come in both cases."""
    return len(form) >= _TELLING or "%" in form or "\\" in form


def _forms(value: str) -> Iterator[str]:
    for spelt in _spellings(value):
        yield from _written(spelt)
    for standard in (encoded(value), value.encode("latin-1", "replace")):
        yield from _base64_forms(standard)


def _spellings(value: str) -> set[str]:
    """Itself, as headers carry it, and backwards; the case of ASCII letters is nothing to the pattern."""
    carried = {value, *(value.encode(code, "replace").decode(code) for code in ("latin-1", "ascii"))}
    carried |= {encoded(value).decode("latin-1")}  # UTF-8, read as what headers are made of
    if len(value) >= _TELLING:
        carried |= {one[::-1] for one in carried}
        carried |= {cased for one in carried if not one.isascii() for cased in (one.upper(), one.lower())}
    return {one for one in carried if len(one) >= SHORTEST}


def _written(value: str) -> Iterator[str]:
    yield value
    escaped = {quote(encoded(value), safe=""), quote(encoded(value)), quote_plus(encoded(value))}
    yield from escaped
    yield from (quote(one, safe="") for one in escaped)  # an address within an address


def _base64_forms(value: bytes) -> Iterator[str]:
    """What of it is the same whatever stands before and behind: three ways to begin, cut to whole characters."""
    for before in range(3):
        bits = base64.b64encode(b"\0" * before + value).decode()
        begin, end = -(-before * 8 // 6), (before + len(value)) * 8 // 6
        stable = bits[begin:end]
        if len(stable) >= SHORTEST:
            yield from (stable, stable.replace("+", "-").replace("/", "_"))
