"""Path templates as a tree: /orders/{id}/lines/{line} lies below /orders/{id}, which is one of /orders."""

import re
from functools import lru_cache

from whet.skills.api.names import says_how

_PARAMETER = re.compile(r"\{([^}/]*)\}")


@lru_cache(maxsize=20_000)
def prefixes(path: str) -> tuple[tuple[str, str], ...]:
    """(prefix, parameter name) for every parameter, from the left.

    Prefixes have no names in them: /orders/{id} and /orders/{order_id}/lines speak of the same orders.
    """
    return tuple((nameless(path[: match.end()]), match.group(1)) for match in _PARAMETER.finditer(path))


@lru_cache(maxsize=20_000)
def nameless(path: str) -> str:
    return _PARAMETER.sub("{}", path.rstrip("/"))


@lru_cache(maxsize=20_000)
def collection_of(path: str) -> str:
    """/orders/{id} is one of /orders; a path that ends in no parameter is its own collection."""
    return nameless(path).removesuffix("/{}") or "/"


@lru_cache(maxsize=20_000)
def noun(path: str) -> str:
    """The last word of a path that is not a parameter: what the thing there is called."""
    named = [part for part in path.split("/") if part and not part.startswith("{")]
    return next((part for part in reversed(named) if not says_how(part)), named[-1] if named else "")


@lru_cache(maxsize=20_000)
def spoken(path: str) -> str:
    """A path without its parameters."""
    return _PARAMETER.sub(" ", path)


def prefix_of(path: str, name: str) -> str:
    """The path up to and with a parameter; the whole path when it has none of that name."""
    return next((prefix for prefix, parameter in prefixes(path) if parameter == name), nameless(path))
