"""Values held against schemas. What cannot be judged is never called wrong."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import jsonschema_rs

from whet.core.text import printable, whole_words
from whet.skills.api.contract.compiling import Compiled, Compiler
from whet.skills.api.contract.directions import Directed, Direction, Follow
from whet.skills.api.contract.model import Contract, Json, Schema
from whet.skills.api.contract.notes import Notes

MOST_VIOLATIONS = 50
LONGEST_MESSAGE = 300
_BRIEF = 200
# The engine gave up on a pattern: that says nothing about the value.
_GAVE_UP = (
    jsonschema_rs.ValidationErrorKind.BacktrackLimitExceeded,
    jsonschema_rs.ValidationErrorKind.RegexEngineFailure,
)


class Violation(NamedTuple):
    schema: str  # where in the contract, "components/schemas/Pet/required"; the same between runs
    instance: str  # where in the value, "owner/name"; "" for the whole
    message: str


class Validators:
    def __init__(self, contract: Contract, resolve: Follow, merged: Follow, direction: Direction, notes: Notes) -> None:
        directed = Directed(contract.dialect, direction, resolve, merged)
        self._compiler = Compiler(contract, directed, direction, notes)
        self._notes = notes

    def errors(self, schema: Schema, instance: Json) -> list[Violation]:
        compiled = self._compiler.compiled(schema)
        if compiled is None:
            return []
        try:
            return _some(compiled, instance)
        except ValueError:
            return self._second_try(compiled, instance)

    def is_valid(self, schema: Schema, instance: Json) -> bool:
        compiled = self._compiler.compiled(schema)
        if compiled is None:
            return True
        try:
            if compiled.validator.is_valid(instance if compiled.key is None else {compiled.key: instance}):
                return True
        except ValueError:
            return not self._second_try(compiled, instance)
        return not self.errors(schema, instance)

    def _second_try(self, compiled: Compiled, instance: Json) -> list[Violation]:
        """Bytes stand for text; what is nested too deeply for the validator cannot be judged."""
        try:
            return _some(compiled, _plain(instance))
        except (ValueError, RecursionError) as error:
            self._notes.add(f"A value could not be held against its schema: {error}.")
            return []


def _some(compiled: Compiled, instance: Json) -> list[Violation]:
    return list(islice(_violations(compiled, instance), MOST_VIOLATIONS))


def _violations(compiled: Compiled, instance: Json) -> Iterator[Violation]:
    """The key under which the value was put is left out of the places."""
    put = instance if compiled.key is None else {compiled.key: instance}
    for error in compiled.validator.iter_errors(put):
        if not isinstance(error.kind, _GAVE_UP):
            yield _violation(error, compiled.key)


def _violation(error: jsonschema_rs.ValidationError, key: str | None) -> Violation:
    schema, instance = error.schema_path, error.instance_path
    if key is not None:
        instance = instance[1:]
        schema = schema[2:] if schema[:2] == ["properties", key] else schema
    return Violation(_joined(schema), _joined(instance), _shown(_brief(error.message)))


def _brief(message: str) -> str:
    """The value comes first and may be long, what is wrong with it at the end."""
    if len(message) <= _BRIEF:
        return message
    return f"{whole_words(message, _BRIEF // 3)}…{whole_words(message[::-1], _BRIEF // 2)[::-1]}"


def _joined(path: list[str | int]) -> str:
    return _shown("/".join(map(str, path)))


def _shown(text: str) -> str:
    """Most of what validators say is plain, and many thousands of them are made."""
    plain = len(text) <= LONGEST_MESSAGE and text.isascii() and text.isprintable()
    return text if plain else printable(text, LONGEST_MESSAGE)


def _plain(value: Json) -> Json:
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value.decode("latin-1") if isinstance(value, (bytes, bytearray)) else value
