"""Whether an answer came from the operation that was meant.

A path value is data for us and a part of a route for the service: "me" in /users/{id} may reach /users/me, an encoded
slash or dot may leave its segment, an empty one names the collection. The answer then belongs to another operation,
and judging it by this one's contract would be a false alarm.
"""

import re
from urllib.parse import unquote, urlsplit

from whet.skills.api.contract.model import Contract
from whet.skills.api.exchange import Exchange

_UNSAFE = re.compile(r"[/\\;?#\x00-\x1f\x7f]|^\s*\.{0,2}\s*$")  # what a server may split, cut, strip or refuse
_NAMED = re.compile(r"\{[^{}]*\}")


class Routing:
    def __init__(self, contract: Contract) -> None:
        self._base = contract.base_path
        self._templates = tuple(dict.fromkeys(operation.path for operation in contract.operations))
        self._rivals: dict[str, tuple[re.Pattern[str], ...]] = {}

    def sure(self, exchange: Exchange) -> bool:
        """Only this operation's path can have been meant."""
        draft = exchange.draft
        if any(isinstance(value, str) and _UNSAFE.search(value) for value in draft.path.values()):
            return False
        if "%2F" in (path := self.path(exchange)).upper() or "//" in path:
            return False
        rivals = self._rivals_of(draft.operation.path)
        plain = unquote(path) if rivals else ""
        return not any(rival.fullmatch(plain) for rival in rivals)

    def path(self, exchange: Exchange) -> str:
        """The path that was asked for, as written, without the contract's base."""
        return exchange.request.target.partition("?")[0].removeprefix(self._base)

    def own_redirect(self, exchange: Exchange) -> bool:
        """A redirect to the same place written differently, which routers make by themselves (a slash at the end)."""
        location = exchange.response.header("location")
        if location is None:
            return False
        try:
            there = urlsplit(location).path
        except ValueError:
            return False
        return _tidy(there) == _tidy(exchange.request.target.partition("?")[0])

    def _rivals_of(self, path: str) -> tuple[re.Pattern[str], ...]:
        found = self._rivals.get(path)
        if found is None:
            found = tuple(_pattern(other) for other in self._templates if _rivals(path, other))
            self._rivals[path] = found
        return found


def _rivals(own: str, other: str) -> bool:
    """Some path matches both templates, and `other` is the more literal one somewhere."""
    ours, theirs = _NAMED.sub("{}", own).split("/"), _NAMED.sub("{}", other).split("/")
    if len(ours) != len(theirs) or ours == theirs:
        return False
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    return all("{" in a or "{" in b for a, b in pairs) and any("{" in a for a, _ in pairs)


def _pattern(template: str) -> re.Pattern[str]:
    fixed = map(re.escape, _NAMED.split(template))
    return re.compile("[^/]+".join(fixed), re.IGNORECASE)  # some routers do not care about case


def _tidy(path: str) -> str:
    return re.sub(r"/+", "/", unquote(path)).rstrip("/").lower()
