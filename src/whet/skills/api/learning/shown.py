"""What one exchange shows: the things in its answer and what leads to them, what was sent, what headers tell."""

import json
from collections.abc import Iterator, Mapping

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Exchange
from whet.skills.api.learning.origins import identities
from whet.skills.api.learning.paths import prefixes
from whet.skills.api.names import is_identity, words

ETAG = "etag"
MOST_FIELDS = 60
_DEEPEST = 3
_ENDED = frozenset({"deleted", "removed", "purged", "destroyed"})


def placed(exchange: Exchange) -> dict[str, Json]:
    """The request's path values by prefix: {"/orders/{id}": 7, "/orders/{id}/lines/{line}": 2}."""
    values = exchange.draft.path
    return {prefix: values[name] for prefix, name in prefixes(exchange.operation.path) if name in values}


def sent(exchange: Exchange) -> dict[str, Json]:
    """What we chose ourselves and the service accepted: a name or an id a PUT made up is as good as an answer's."""
    method, path = exchange.operation.method, exchange.operation.path
    if method not in {"POST", "PUT", "PATCH"}:
        return {}
    body, chosen = exchange.draft.body, chosen_name(exchange)
    told = {} if chosen is None else {f"sent.{prefixes(path)[-1][1]}": chosen}
    if isinstance(body, dict):
        told |= {f"sent.{name}": value for name, value in leaves(body)}
    return told


def chosen_name(exchange: Exchange) -> Json:
    """The last part of the path that a PUT named."""
    path = exchange.operation.path
    if exchange.operation.method != "PUT" or not path.rstrip("/").endswith("}"):
        return None
    return exchange.draft.path.get(prefixes(path)[-1][1])


def headed(exchange: Exchange) -> dict[str, Json]:
    """What headers tell of a thing: the last part of where it is, and its version."""
    where, version = exchange.response.header("location"), exchange.response.header("etag")
    last = where.split("?")[0].rstrip("/").rpartition("/")[2] if where else ""
    one = exchange.operation.method != "GET" or exchange.operation.path.rstrip("/").endswith("}")
    return ({"location": last} if last else {}) | ({ETAG: version} if version and one else {})


def parsed(exchange: Exchange) -> Json:
    response = exchange.response
    if not response.whole or response.body[:1] not in (b"{", b"[", b'"'):
        return None
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError):
        return None


def things(answer: Json) -> Iterator[dict[str, Json]]:
    """The objects an answer is about: itself, the elements of a list, or the one wrapped ("data", "items")."""
    if isinstance(answer, list):
        yield from (one for one in answer if isinstance(one, dict))
    elif isinstance(answer, str):
        yield {"value": answer}
    elif isinstance(answer, dict):
        lists = [value for value in answer.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
        if len(lists) == 1 and len(answer) <= 8:
            yield from (one for one in lists[0] if isinstance(one, dict))
        elif not _is_empty_page(answer):
            yield answer


def told_deleted(answer: Json) -> Iterator[Json]:
    """The identities in a list that is called so."""
    for name, value in answer.items() if isinstance(answer, dict) else ():
        if isinstance(value, list) and not _ENDED.isdisjoint(words(name)):
            for one in value:
                known = next((one[key] for key in identities("") if key in one), None) if isinstance(one, dict) else one
                if isinstance(known, str | int):
                    yield known


def _is_empty_page(answer: Mapping[str, Json]) -> bool:
    """A list of nothing, and numbers about it: `{"items": [], "total": 0}`. What has an id or a text is something."""
    others = [(name, value) for name, value in answer.items() if value != []]
    return len(answer) - len(others) == 1 and not any(
        isinstance(value, str) or is_identity(name.rpartition(".")[2]) for name, value in leaves(dict(others))
    )


def leaves(thing: Mapping[str, Json], depth: int = 0, before: str = "") -> Iterator[tuple[str, Json]]:
    for name, value in list(thing.items())[:MOST_FIELDS]:
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from leaves(value, depth + 1, f"{before}{name}.")
        elif isinstance(value, list) and value and not isinstance(value[0], dict | list):
            yield f"{before}{name}.*", value[0]
        elif isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
            yield f"{before}{name}", value
