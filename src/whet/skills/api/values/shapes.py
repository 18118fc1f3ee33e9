"""Schemas made simple enough to generate from: references followed, `allOf` merged, alternatives spelled out."""

from collections.abc import Mapping
from typing import Any

from whet.skills.api.contract.memo import Memo
from whet.skills.api.contract.merging import merge
from whet.skills.api.contract.model import Json, Schema
from whet.skills.api.contract.schemas import Schemas

Flat = Mapping[str, Json]  # a schema without $ref and, as far as it can be said in one, without allOf
ANYTHING: Schema = {}  # one object, so that what is remembered of it is found again
_DEEPEST = 24
_MOST = 1_000  # alternatives of alternatives multiply: of more, those that come first are drawn from


class Shapes:
    def __init__(self, schemas: Schemas) -> None:
        self.flat = schemas.merged
        self._branches: Memo[tuple[Flat, ...]] = Memo()

    def branches(self, schema: Schema) -> tuple[Flat, ...]:
        """Every alternative of `oneOf` and `anyOf` with what holds for all; the schema itself when it has none."""
        return self._branches.get(schema, lambda one: tuple(self._alternatives(self.flat(one), 0, _MOST)))

    def _alternatives(self, flat: Flat, depth: int, most: int) -> list[Flat]:
        key = next((key for key in ("oneOf", "anyOf") if flat.get(key)), None)
        if key is None or depth > _DEEPEST:
            return [flat]
        common = {name: value for name, value in flat.items() if name not in (key, "discriminator", "default")}
        found: list[Flat] = []
        several = [one for one in flat[key] if isinstance(one, Mapping)][:most]
        for branch in several:
            one = _discriminated(flat, branch, merge(common, self.flat(branch)))
            found += self._alternatives(one, depth + 1, max(1, most // len(several)))
        return found or [common]


def _discriminated(flat: Flat, branch: Schema, merged: Flat) -> Flat:
    """The branch with the value that names it in the discriminator's property, unless it says so itself."""
    discriminator, reference = flat.get("discriminator"), branch.get("$ref")
    if not isinstance(discriminator, Mapping) or not reference or "propertyName" not in discriminator:
        return merged
    name = discriminator["propertyName"]
    own = merged.get("properties", {}).get(name)
    if isinstance(own, Mapping) and ("const" in own or len(own.get("enum", ())) == 1):
        return merge(merged, {"required": [name]})  # by its own word it may be left out, and nobody knows what it is
    label = _label(discriminator.get("mapping") or {}, reference)
    return merge(merged, {"properties": {name: {"type": "string", "const": label}}, "required": [name]})


def _label(mapping: Mapping[str, str], reference: str) -> str:
    last = reference.rpartition("/")[2]
    return next((label for label, target in mapping.items() if target in (reference, last)), last)


def types(declared: Any) -> list[str]:
    if declared is None:
        return []
    return [declared] if isinstance(declared, str) else list(declared)
