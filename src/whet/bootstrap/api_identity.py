"""Whose knowledge it is: a service is known again by its title, its host and base path, and by what it can do.

Titles repeat ("FastAPI") and ports change, so neither says enough. Two documents speak of the same service when they
have a fair share of their operations in common: a contract may grow, shrink and change, and still be the same one.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from whet.core.ports import ServiceKnowledge
from whet.skills.api import knowledge as memory
from whet.skills.api.contract.model import Contract, Json
from whet.skills.api.learning.paths import nameless
from whet.tools.http.origin import Origin

_SAME = 0.3  # of the operations of the smaller document
_METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})


@dataclass(frozen=True, slots=True)
class Kept:
    """What the store has of this service: under which name, the text as it stood, and what to tell the user."""

    key: str
    text: str | None
    note: str | None = None


def kept_of(store: ServiceKnowledge, origin: Origin, base_path: str, contract: Contract) -> Kept:
    """By title, not by port: the same service is found again wherever it listens."""
    plain = f"{contract.title} {origin.host}{base_path}"
    ours = _operations(contract.given)
    first = store.load(plain)
    if first is None:
        return Kept(plain, None)
    shared = _shared(ours, first)
    if shared >= _SAME:
        return Kept(plain, first)
    own = f"{plain} #"
    others = {name: store.load(name) for name in store.services() if name.startswith(own)}
    alike = {name: _shared(ours, text) for name, text in others.items() if text is not None}
    best = max(alike, key=lambda name: alike[name], default=None)
    if best is not None and alike[best] >= _SAME:
        return Kept(best, others[best])
    return Kept(own + _digest(ours), None, _afresh(contract, origin, base_path, shared))


def _afresh(contract: Contract, origin: Origin, base_path: str, shared: float) -> str:
    return (
        f"What is kept for {contract.title!r} at {origin.host}{base_path} is of another service ({shared:.0%} of its "
        "operations in common): this run starts afresh, and is kept beside it."
    )


def _shared(ours: frozenset[str], text: str) -> float:
    """Of the smaller document's operations; 1 where one of them has none to compare."""
    theirs = _operations(memory.read(text).document or {})
    smaller = min(len(ours), len(theirs))
    return len(ours & theirs) / smaller if smaller else 1.0


def _operations(document: Mapping[str, Json]) -> frozenset[str]:
    """Method and path of each, whatever their parameters are called."""
    paths = document.get("paths")
    return frozenset(
        f"{method} {nameless(path)}"
        for path, item in (paths.items() if isinstance(paths, Mapping) else ())
        for method in (item if isinstance(item, Mapping) else ())
        if method in _METHODS
    )


def _digest(operations: frozenset[str]) -> str:
    return hashlib.sha256("\n".join(sorted(operations)).encode("utf-8", "surrogatepass")).hexdigest()[:8]
