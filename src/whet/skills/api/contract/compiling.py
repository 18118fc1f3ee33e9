"""Schemas compiled: all that a contract uses at once, those that callers make one by one.

A compiled schema holds its own copy of all that it refers to, so that hundreds of them, one for each operation of a
large contract, would take gigabytes. In one compilation they share it: the value is put under its schema's key of one
object, whose properties are all the schemas there are.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import jsonschema_rs

from whet.core.text import printable
from whet.skills.api.contract.directions import HOME, Directed, Direction
from whet.skills.api.contract.formats import CHECKS
from whet.skills.api.contract.memo import Memo
from whet.skills.api.contract.model import Contract, Schema
from whet.skills.api.contract.notes import Notes
from whet.skills.api.contract.patterns import ENGINE

Validator = jsonschema_rs.Draft202012Validator
# Those that refer to the contract's schemas are large, the others are not.
MOST_REFERRING = 64
MOST_PLAIN = 4000
_UNUSABLE = (ValueError, RecursionError, jsonschema_rs.ReferencingError)


class Compiled(NamedTuple):
    validator: Validator
    key: str | None  # under which the value is put; None: it is taken as it is


class Compiler:
    def __init__(self, contract: Contract, directed: Directed, direction: Direction, notes: Notes) -> None:
        self._directed = directed
        self._notes = notes
        self._known = {id(schema): schema for schema in _used(contract, direction)}
        named = contract.document.get("components", {}).get("schemas", {})
        self._named: Mapping[str, Schema] = {f"#/components/schemas/{name}": one for name, one in named.items()}
        self._together: Validator | None = None
        self._registry: jsonschema_rs.Registry | None = None
        self._refers: Memo[bool] = Memo()
        self._referring: Memo[Compiled | None] = Memo(MOST_REFERRING)
        self._plain: Memo[Compiled | None] = Memo(MOST_PLAIN)

    def compiled(self, schema: Schema) -> Compiled | None:
        """None, with a note, for a schema that cannot be compiled."""
        key = self._key(schema)
        if key is not None and (together := self._all()) is not None:
            return Compiled(together, key)
        refers = self._refers.get(schema, _refers)
        return (self._referring if refers else self._plain).get(schema, self._alone)

    def _key(self, schema: Schema) -> str | None:
        if id(schema) in self._known:
            return _own_key(id(schema))
        ref = schema.get("$ref")
        return ref if len(schema) == 1 and ref in self._named else None

    def _all(self) -> Validator | None:
        if self._registry is None:
            self._registry = self._registered()
            properties = {ref: {"$ref": f"{HOME}{ref}"} for ref in self._named}
            used = {_own_key(key): self._directed.schema(one) for key, one in self._known.items()}
            self._together = self._compile({"properties": {**properties, **used}})
        return self._together

    def _registered(self) -> jsonschema_rs.Registry:
        named = {ref.rpartition("/")[2]: self._directed.schema(one) for ref, one in self._named.items()}
        try:
            return jsonschema_rs.Registry([(HOME, {"components": {"schemas": named}})], jsonschema_rs.Draft202012)
        except _UNUSABLE as error:
            self._note(error)
            return jsonschema_rs.Registry([(HOME, {})], jsonschema_rs.Draft202012)

    def _alone(self, schema: Schema) -> Compiled | None:
        self._all()
        validator = self._compile(self._directed.schema(schema))
        return None if validator is None else Compiled(validator, None)

    def _compile(self, schema: Any) -> Validator | None:
        try:
            return Validator(
                schema,
                registry=self._registry,
                offline=True,
                validate_formats=True,
                formats=CHECKS,
                pattern_options=ENGINE,
            )
        except _UNUSABLE as error:
            self._note(error)
            return None

    def _note(self, error: Exception) -> None:
        reason = printable(str(error).partition("\n")[0], 150)
        self._notes.add(f"A schema cannot be compiled, so that nothing is held against it: {reason}.")


def _own_key(number: int) -> str:
    return f"schema-{number}"  # the validator would tell a bare number as the place in a list


def _used(contract: Contract, direction: Direction) -> Iterator[Schema]:
    for operation in contract.operations:
        if direction == "request":
            yield from (one.schema for one in operation.parameters)
            yield from (one.schema for one in operation.bodies)
        else:
            for answer in operation.answers:
                yield from (one for one in (*answer.contents.values(), *answer.headers.values()) if one is not None)


def _refers(schema: Any) -> bool:
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            if "$ref" in node:
                return True
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    return False
