"""A contract's schemas as they are used: followed, flattened, and held against values. One for each contract."""

from typing import Any

from whet.skills.api.contract.directions import Direction
from whet.skills.api.contract.keywords import ANNOTATIONS
from whet.skills.api.contract.memo import Memo
from whet.skills.api.contract.merging import merge
from whet.skills.api.contract.model import Contract, Json, Schema
from whet.skills.api.contract.notes import Notes
from whet.skills.api.contract.pointers import walk
from whet.skills.api.contract.validation import Validators, Violation

# A longer chain of `allOf` is not flattened to its end.
_DEEPEST = 60


class Schemas:
    def __init__(self, contract: Contract) -> None:
        self._document = contract.document
        self._notes = Notes()
        self._targets: dict[str, Schema] = {}
        self._resolved: Memo[Schema] = Memo()
        self._merged: Memo[Schema] = Memo()
        self._merging: set[int] = set()
        self._validators = {
            direction: Validators(contract, self.resolve, self.merged, direction, self._notes)
            for direction in ("request", "response")
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """Which schemas cannot be held against values; what uses them is never called wrong."""
        return self._notes.sentences()

    def resolve(self, schema: Schema) -> Schema:
        """The schema without a `$ref` at its top: what that points at, with what is said beside it."""
        if "$ref" not in schema:
            return schema
        if len(schema) == 1:
            return self._target(schema["$ref"])
        return self._resolved.get(schema, self._with_siblings)

    def _target(self, ref: str) -> Schema:
        if ref not in self._targets:
            found = walk(self._document, ref.removeprefix("#"))
            self._targets[ref] = {}  # a $ref that leads back to itself says nothing
            self._targets[ref] = self.resolve(found) if isinstance(found, dict) else {}
        return self._targets[ref]

    def _with_siblings(self, schema: Schema) -> Schema:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        target = self._target(schema["$ref"])
        if all(key in ANNOTATIONS or key.startswith("x-") for key in beside):
            return {**target, **beside}
        return merge(beside, target)

    def merged(self, schema: Schema) -> Schema:
        """The resolved schema with its `allOf` merged into it, as far as one flat schema can say it."""
        resolved = self.resolve(schema)
        if "allOf" not in resolved:
            return resolved
        flat = self._merged.get(resolved, self._flat)
        return self._merged.get(flat, lambda itself: itself)  # what could not be merged stays as it is

    def _flat(self, schema: Schema) -> Schema:
        made: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
        if id(schema) in self._merging or len(self._merging) > _DEEPEST:
            return made
        self._merging.add(id(schema))
        try:
            for part in schema["allOf"]:
                made = merge(made, self.merged(part))
        finally:
            self._merging.discard(id(schema))
        return made

    def errors(self, schema: Schema, instance: Json, *, direction: Direction) -> list[Violation]:
        """Where the instance breaks the schema; an empty list when it does not, or when that cannot be told."""
        return self._validators[direction].errors(schema, instance)

    def is_valid(self, schema: Schema, instance: Json, *, direction: Direction) -> bool:
        """As `errors`, only quicker: the first error ends it."""
        return self._validators[direction].is_valid(schema, instance)
