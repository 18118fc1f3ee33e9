"""YAML as OpenAPI means it: the JSON of YAML 1.2, so that `no` and `2020-01-01` stay text and keys are always text.

The values are built from libyaml's events: that leaves out the node tree, the slower half of PyYAML's loading.
"""

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from whet.skills.api.contract.model import Json

# `<<: [*a, *a, …]` copies entries; a document that copies this many was made to burst.
MOST_MERGED_ENTRIES = 1_000_000
MOST_DIGITS = 4000
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Json] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_STARTS = frozenset("+-.0123456789")
_TEXT_TAG = "tag:yaml.org,2002:str"
Twice = Callable[[str], None]


class BadYaml(ValueError):
    """Why the text is no YAML that could be a contract."""


def load(text: bytes, twice: Twice) -> Json:
    """The first document of the text; `twice` is told the keys that one mapping has more than once."""
    try:
        return _Builder(yaml.parse(text, Loader=yaml.CSafeLoader), twice).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise BadYaml(f"{error.problem or error.context}{where}") from error
    except yaml.YAMLError as error:
        raise BadYaml(str(error).splitlines()[0]) from error


class _Builder:
    def __init__(self, events: Iterator[Any], twice: Twice) -> None:
        self._events, self._twice = events, twice
        self._anchors: dict[str, Json] = {}
        self._merged = 0

    def document(self) -> Json:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                return self._node(next(self._events))
        return None

    def _node(self, event: Any) -> Json:
        if isinstance(event, yaml.ScalarEvent):
            return self._named(event, scalar(event))
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(self._named(event, {}))
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(self._named(event, []))
        return self._alias(event)

    def _named(self, event: Any, value: Json) -> Json:
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _alias(self, event: Any) -> Json:
        if event.anchor not in self._anchors:
            raise BadYaml(f"the alias *{event.anchor} has no anchor at line {event.start_mark.line + 1}")
        return self._anchors[event.anchor]

    def _sequence(self, made: list[Json]) -> list[Json]:
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            made.append(self._node(event))
        return made

    def _mapping(self, made: dict[str, Json]) -> dict[str, Json]:
        below: list[Json] = []
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(event)
            value = self._node(next(self._events))
            if key == "<<" and isinstance(value, (dict, list)):
                below.append(value)
            else:
                if key in made:
                    self._twice(key)
                made[key] = value
        for value in below:
            self._merge(made, value)
        return made

    def _key(self, event: Any) -> str:
        """A key's text as written: `200:` and `yes:` are names like any other."""
        if isinstance(event, yaml.ScalarEvent):
            return str(self._named(event, event.value))
        if isinstance(event, yaml.AliasEvent) and isinstance(key := self._alias(event), str):
            return key
        raise BadYaml(f"a key is not text at line {event.start_mark.line + 1}")

    def _merge(self, made: dict[str, Json], value: Json) -> None:
        """The merge key `<<`: the first to name a key wins."""
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, dict):
                continue
            self._merged += len(one)
            if self._merged > MOST_MERGED_ENTRIES:
                raise BadYaml("its merge keys (<<) copy more than a million entries")
            for key in one:
                made.setdefault(key, one[key])


def scalar(event: Any) -> Json:
    text: str = event.value
    if not event.implicit[0]:
        return text if event.implicit[1] or event.tag == _TEXT_TAG else _plain(text)
    return _plain(text)


def _plain(text: str) -> Json:
    if text[:1] in _NUMBER_STARTS and text:
        return _number(text)
    return _WORDS.get(text, text)


def _number(text: str) -> Json:
    if len(text) > MOST_DIGITS:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else None
    return None if text.lower().lstrip("+-") in {".nan", ".inf"} else text
