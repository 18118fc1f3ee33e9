"""Canonical keys: equal states have equal keys, different states never share one.

Every atom carries its type, so that 1, 1.0, True and "1" stay apart, and positions are kept:
sorting a state would fail on mixed types and make different states collide.
"""

import hashlib
import json
import math
from collections.abc import Sequence

from whet.core.errors import RefusedInput

Atom = bool | int | float | str | None


def canonical(atoms: Sequence[Atom]) -> str:
    """The readable canonical text of a discrete state."""
    return json.dumps([_tagged(atom) for atom in atoms], ensure_ascii=False, separators=(",", ":"))


def state_key(atoms: Sequence[Atom]) -> str:
    """The 64 hex digits under which a discrete state is stored."""
    return hashlib.sha256(canonical(atoms).encode("utf-8", "surrogatepass")).hexdigest()


def _tagged(atom: Atom) -> list[str]:
    match atom:
        case None:
            return ["n"]
        case bool():
            return ["b", "1" if atom else "0"]
        case int():
            return ["i", str(atom)]
        case float() if math.isfinite(atom):
            return ["f", (atom + 0.0).hex()]  # + 0.0 makes -0.0 and 0.0 one state
        case str():
            return ["s", atom]
    raise RefusedInput(
        f"A state may hold booleans, integers, finite floats, text or None, not {atom!r}.",
        "Bin or name the value in the state's `discrete` method.",
    )
