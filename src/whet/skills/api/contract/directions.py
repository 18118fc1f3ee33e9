"""A schema as it holds for one direction, ready to be compiled.

- A `readOnly` property is neither needed nor allowed in a request, a `writeOnly` one neither in a response.
- `oneOf` with a discriminator is checked as `anyOf`: the discriminator chooses, and alternatives often overlap.
- `format` is an assertion only before 3.1, and only for what has one meaning (`ASSERTED`): 3.1 says that it describes.
- Only what decides validity is kept; descriptions and examples are not compiled.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from whet.skills.api.contract.model import Dialect, Json, Schema

Direction = Literal["request", "response"]
Follow = Callable[[Schema], Schema]
HOME = "urn:whet:contract"
ASSERTED = frozenset({"date", "date-time", "uuid", "ipv4", "ipv6"})
_HIDDEN = {"request": "readOnly", "response": "writeOnly"}
_LEFT_OUT = frozenset({
    "title", "description", "default", "example", "examples", "readOnly", "writeOnly", "deprecated", "discriminator",
    "xml", "externalDocs", "contentEncoding", "contentMediaType",
})  # fmt: skip
_ONE = frozenset({"not", "contains", "items", "additionalProperties", "propertyNames", "if", "then", "else",
                  "unevaluatedItems", "unevaluatedProperties"})  # fmt: skip
_SEVERAL = frozenset({"anyOf", "oneOf", "prefixItems"})
_BY_NAME = frozenset({"patternProperties", "dependentSchemas"})


class Directed:
    def __init__(self, dialect: Dialect, direction: Direction, resolve: Follow, merged: Follow) -> None:
        self._formats = frozenset() if dialect == "openapi-3.1" else ASSERTED
        self._hiding = _HIDDEN[direction]
        self._resolve = resolve
        self._merged = merged

    def schema(self, node: Json, hidden: frozenset[str] = frozenset()) -> Any:
        """`hidden` are the properties that another part of the same `allOf` hides."""
        if not isinstance(node, Mapping):
            return node
        hidden |= self._hidden(node)
        made = {key: self._keyword(key, value, hidden) for key, value in node.items() if self._decides(key, value)}
        if "discriminator" in node and "oneOf" in made and "anyOf" not in made:
            made["anyOf"] = made.pop("oneOf")
        return made

    def _decides(self, key: str, value: Json) -> bool:
        if key == "format":
            return value in self._formats
        return key not in _LEFT_OUT and not key.startswith("x-")

    def _hidden(self, node: Schema) -> frozenset[str]:
        if "properties" not in node and "allOf" not in node:
            return frozenset()
        properties = self._merged(node).get("properties", {})
        return frozenset(name for name, one in properties.items() if self._hides(one))

    def _hides(self, schema: Json) -> bool:
        if not isinstance(schema, Mapping):
            return False
        resolved = self._resolve(schema)
        return self._hiding in resolved or any(self._hiding in self._resolve(one) for one in resolved.get("allOf", ()))

    def _keyword(self, key: str, value: Json, hidden: frozenset[str]) -> Json:
        if key == "$ref":
            return f"{HOME}{value}"
        if key == "properties":
            return {name: False if name in hidden else self.schema(one) for name, one in value.items()}
        if key == "required":
            return [name for name in value if name not in hidden]
        if key == "allOf":
            return [self.schema(one, hidden) for one in value]
        if key in _ONE:
            return self.schema(value)
        if key in _SEVERAL:
            return [self.schema(one) for one in value]
        return {name: self.schema(one) for name, one in value.items()} if key in _BY_NAME else value
