"""What a create made, and where the contract says that it can be read.

Only what leaves no doubt is followed: a link of the contract, a Location that is the path of the reading operation, or
a property that is called like that path's parameter. An id guessed wrongly would make every create look broken.
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from whet.skills.api.contract.model import Contract, Json, Operation, Parameter, Where
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.oracles.reading import parsed

_LAST_PARAMETER = re.compile(r"/\{([^{}/]+)\}$")
_SAFE = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~:@-]{0,127}")  # what no server reads as anything but itself
_OTHER_PLACES: tuple[Where, ...] = ("query", "header", "cookie")
_IDENTITY = re.compile(r"(?:^|_)(?:id|uuid)$|[a-z](?:Id|ID)$")


class Reading:
    """Which operation reads what another one writes."""

    def __init__(self, contract: Contract) -> None:
        self._base = contract.base_path
        self._by_path = {one.path: one for one in contract.operations if one.method == "GET"}
        self._items: dict[str, Operation] = {}
        for path, operation in self._by_path.items():
            if _LAST_PARAMETER.search(path):
                self._items.setdefault(_LAST_PARAMETER.sub("", path), operation)

    def same(self, operation: Operation) -> Operation | None:
        """The operation that reads the path this one writes; only where the path names one of many.

        What has no name of its own (/settings) comes back with its defaults when it is deleted.
        """
        return self._by_path.get(operation.path) if _LAST_PARAMETER.search(operation.path) else None

    def created(self, exchange: Exchange) -> tuple[Operation, Mapping[str, Json]] | None:
        """The operation that reads what was just created, with its path's values."""
        item = self._items.get(exchange.operation.path.rstrip("/"))
        if item is None or exchange.operation.method != "POST" or exchange.response.status not in (200, 201):
            return None
        values = self._linked(exchange, item) or self._located(exchange, item) or _named(exchange, item)
        return (item, values) if values and all(map(_safe, values.values())) else None

    def _linked(self, exchange: Exchange, item: Operation) -> Mapping[str, Json] | None:
        answer = exchange.operation.answer(exchange.response.status or 0)
        for link in answer.links if answer else ():
            if link.operation == item.id:
                given = {name.removeprefix("path."): _told(exchange, text) for name, text in link.parameters.items()}
                return _complete(item, {**exchange.draft.path, **given})
        return None

    def _located(self, exchange: Exchange, item: Operation) -> Mapping[str, Json] | None:
        location = exchange.response.header("location")
        if not location or len(location) > 2000:
            return None
        try:
            path = urlsplit(location).path.removeprefix(self._base).rstrip("/")
        except ValueError:
            return None
        pieces = re.split(r"\{([^{}]*)\}", item.path)
        found = re.fullmatch("([^/]+)".join(map(re.escape, pieces[::2])), path)
        return dict(zip(pieces[1::2], map(unquote, found.groups()), strict=True)) if found else None


def last_parameter(path: str) -> str:
    """The name of the one it ends with."""
    return str(_LAST_PARAMETER.findall(path)[-1])


def _named(exchange: Exchange, item: Operation) -> Mapping[str, Json] | None:
    body = parsed(exchange.response.body)
    parameter = last_parameter(item.path)
    if not isinstance(body, dict):
        return None
    inner = body.get("data")
    for holder in (body, inner if isinstance(inner, dict) else {}):
        for key, value in holder.items():
            if _plain(key) == _plain(parameter) or (key in ("id", "uuid") and _IDENTITY.search(parameter)):
                return _complete(item, {**exchange.draft.path, parameter: value})
    return None


def _told(exchange: Exchange, expression: Json) -> Json:
    """The value of a link's runtime expression into the answer's body; other expressions are left alone."""
    if not isinstance(expression, str) or not expression.startswith("$response.body#/"):
        return None if isinstance(expression, str) and expression.startswith("$") else expression
    value = parsed(exchange.response.body)
    for name in expression.removeprefix("$response.body#/").split("/"):
        value = value.get(name.replace("~1", "/").replace("~0", "~")) if isinstance(value, dict) else None
    return value


def _complete(item: Operation, values: Mapping[str, Json]) -> Mapping[str, Json] | None:
    names = re.findall(r"\{([^{}]*)\}", item.path)
    return {name: values[name] for name in names} if all(name in values for name in names) else None


def _safe(value: Json) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool) and _SAFE.fullmatch(str(value)) is not None


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def reading_draft(item: Operation, path: Mapping[str, Json], known: Draft | None) -> Draft | None:
    """The plainest request that reads a path; what else it needs is taken from one that has worked before."""
    needed = [one for one in item.parameters if one.required and one.where != "path"]
    if not needed:
        return Draft(item, path=path)
    if known is None:
        return None
    query, headers, cookies = (_kept(known, needed, where) for where in _OTHER_PLACES)
    return Draft(item, path=path, query=query, headers=headers, cookies=cookies)


def _kept(known: Draft, needed: list[Parameter], where: Where) -> dict[str, Json]:
    values = known.values(where)
    return {one.name: values[one.name] for one in needed if one.where == where and one.name in values}
