"""Where an answer says that a thing is: a job that a report is made by, an order among all orders."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from whet.skills.api.contract.model import Json, Operation
from whet.skills.api.exchange import Exchange
from whet.skills.api.learning.paths import collection_of, prefixes

_HEADERS = ("location", "operation-location", "content-location")
_LONGEST = 2_000
_PARAMETER = re.compile(r"\{[^{}/]*\}")


@dataclass(frozen=True, slots=True)
class Located:
    kind: str
    place: dict[str, Json]
    named: dict[str, Json]  # by which the path calls it


class Locations:
    """The paths of a contract that lead to one thing."""

    def __init__(self, operations: Iterable[Operation] = (), base_path: str = "") -> None:
        paths = {one.path for one in operations if one.path.rstrip("/").endswith("}")}
        plain_first = sorted(paths, key=lambda path: (path.count("{"), path))
        self._base = base_path
        self._known = [(re.compile("([^/]+)".join(map(re.escape, _PARAMETER.split(one)))), one) for one in plain_first]

    def elsewhere(self, exchange: Exchange) -> Located | None:
        """What the answer names that is not one of the collection it was asked of."""
        if exchange.operation.method not in {"POST", "PUT"}:
            return None
        path = self._path(next(filter(None, map(exchange.response.header, _HEADERS)), ""))
        for pattern, template in self._known:
            found = pattern.fullmatch(path)
            if found is not None and collection_of(template) != collection_of(exchange.operation.path):
                values = [int(one) if one.isdecimal() else unquote(one) for one in found.groups()]
                place = {prefix: value for (prefix, _), value in zip(prefixes(template), values, strict=True)}
                name = prefixes(template)[-1][1]
                return Located(collection_of(template), place, {"id": values[-1], name: values[-1]})
        return None

    def _path(self, location: str) -> str:
        try:
            return urlsplit(location[:_LONGEST]).path.removeprefix(self._base)
        except ValueError:
            return ""
