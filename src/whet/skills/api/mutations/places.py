"""A place in a draft: where a mutation changes it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Draft


class Place(NamedTuple):
    """`where` is path, query, header, cookie, body or request (the draft as a whole)."""

    where: str
    keys: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        """As slots are called: "query.limit", "body.tags[].name"."""
        return self.where + "".join("[]" if isinstance(key, int) else f".{key}" for key in self.keys)

    @property
    def name(self) -> str:
        """The last name on the way: `tags` for "body.tags[]"."""
        return next((key for key in reversed(self.keys) if isinstance(key, str)), "")


REQUEST = Place("request")
BODY = Place("body")


def put(draft: Draft, place: Place, value: Json) -> Draft:
    if place.where == "body":
        return replace(draft, body=_with(draft.body, place.keys, value))
    return _given(draft, place.where, {**_values(draft, place.where), str(place.keys[0]): value})


def without(draft: Draft, place: Place) -> Draft:
    if place.where == "body":
        return replace(draft, body=_less(draft.body, place.keys))
    kept = {name: value for name, value in _values(draft, place.where).items() if name != place.keys[0]}
    return _given(draft, place.where, kept)


def at(draft: Draft, place: Place) -> Json:
    value: Json = draft.body if place.where == "body" else _values(draft, place.where)
    for key in place.keys:
        value = value[key]
    return value


def _values(draft: Draft, where: str) -> Mapping[str, Json]:
    if where == "path":
        return draft.path
    if where == "query":
        return draft.query
    return draft.headers if where == "header" else draft.cookies


def _given(draft: Draft, where: str, values: Mapping[str, Json]) -> Draft:
    if where == "path":
        return replace(draft, path=values)
    if where == "query":
        return replace(draft, query=values)
    return replace(draft, headers=values) if where == "header" else replace(draft, cookies=values)


def _with(whole: Json, keys: tuple[str | int, ...], value: Json) -> Json:
    """Only the way down is copied; the rest is shared with the draft it came from."""
    if not keys:
        return value
    copy: Any = dict(whole) if isinstance(whole, Mapping) else list(whole)
    copy[keys[0]] = _with(copy[keys[0]] if _has(copy, keys[0]) else {}, keys[1:], value)
    return copy


def _less(whole: Json, keys: tuple[str | int, ...]) -> Json:
    copy: Any = dict(whole) if isinstance(whole, Mapping) else list(whole)
    if len(keys) == 1:
        del copy[keys[0]]
    else:
        copy[keys[0]] = _less(copy[keys[0]], keys[1:])
    return copy


def _has(container: Any, key: str | int) -> bool:
    return key in container if isinstance(container, dict) else isinstance(key, int) and key < len(container)
