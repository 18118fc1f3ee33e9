"""Schemas of every dialect as JSON Schema 2020-12. What `$ref` reaches is gathered under #/components/schemas."""

from collections import deque
from collections.abc import Mapping
from typing import Any

from whet.skills.api.contract import keywords
from whet.skills.api.contract.keywords import ANNOTATIONS, DROPPED, PLAIN
from whet.skills.api.contract.model import Json, Schema
from whet.skills.api.contract.patterns import Patterns
from whet.skills.api.contract.pointers import Pointers

HOME = "#/components/schemas/"
_ONE = frozenset({"not", "contains", "additionalProperties", "propertyNames", "if", "then", "else",
                  "unevaluatedItems", "unevaluatedProperties"})  # fmt: skip
_SEVERAL = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_BY_NAME = frozenset({"properties", "patternProperties", "dependentSchemas"})
_CHOOSING = ("$ref", "allOf", "anyOf", "oneOf", "not", "const")  # what a `type` beside it does not make nullable


class Normaliser:
    def __init__(self, pointers: Pointers, merges_siblings: bool) -> None:
        self._pointers = pointers
        self._merges_siblings = merges_siblings  # of $ref: 3.1 does, earlier dialects ignore them
        self._patterns = Patterns()
        self._names: dict[str, str] = {}
        self._taken: dict[str, int] = {}  # by name, how many asked for it
        self._waiting: deque[tuple[str, str]] = deque()
        self._where = "the document"
        self.schemas: dict[str, Schema] = {}

    def schema(self, node: Json, where: str) -> Schema:
        """`node` in the one form, and with it everything that it refers to."""
        self._where = where
        made = self._schema(node)
        while self._waiting:
            ref, name = self._waiting.popleft()
            self._where = f"schema {name}"
            self.schemas[name] = self._schema(self._pointers.target(ref, self._where))
        return made

    def _note(self, sentence: str) -> None:
        self._pointers.notes.add(f"{self._where}: {sentence}")

    def _schema(self, node: Json) -> dict[str, Any]:
        if node is False:
            return {"not": {}}
        if not isinstance(node, dict):
            return {}
        if isinstance(node.get("$ref", node.get("$dynamicRef")), str):
            return self._reference(node)
        made = self._keywords(node)
        _mend_limits(made, node)
        self._mend_choices(made)
        return _nullable(made) if _says_nullable(node) else made

    def _reference(self, node: Mapping[str, Json]) -> dict[str, Any]:
        ref = node.get("$ref", node.get("$dynamicRef"))
        beside = {key: value for key, value in node.items() if key not in ("$ref", "$dynamicRef")}
        if not self._merges_siblings:
            beside = {key: value for key, value in beside.items() if key in ANNOTATIONS or key.startswith("x-")}
        made = {"$ref": self._named(str(ref)), **self._keywords(beside)}
        return _nullable(made) if _says_nullable(node) else made

    def _named(self, ref: str) -> str:
        """The place where the schema that `ref` means will be."""
        if ref not in self._names:
            name = self._free_name(ref)
            self._names[ref] = name
            self._waiting.append((ref, name))
        return f"{HOME}{self._names[ref]}"

    def _free_name(self, ref: str) -> str:
        """Its last word, without what pointers are made of."""
        last = ref.replace("~1", "_").replace("%2F", "_").rpartition("/")[2]
        stem = "".join(c if c.isalnum() or c in "._-" else "_" for c in last)[:80] or "schema"
        name = stem
        while name in self._taken:
            self._taken[stem] += 1
            name = f"{stem}_{self._taken[stem]}"
        self._taken[name] = 1
        return name

    def _keywords(self, node: Mapping[str, Json]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in node.items():
            kept = self._keyword(key, value)
            if kept is not DROPPED:
                made[key] = kept
        if isinstance(made.get("items"), list):
            made["prefixItems"] = made.pop("items")
        return _choices_of_items(made)

    def _keyword(self, key: str, value: Json) -> Json:
        if key in PLAIN:
            return self._plain(key, value)
        if key == "pattern":
            return self._pattern(value)
        if key == "type":
            return self._type(value)
        if key in _ONE or key == "items":
            return self._sub(key, value)
        if key in _SEVERAL:
            parts = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
            return [self._schema(one) for one in parts] or DROPPED
        if key in _BY_NAME:
            return self._by_name(key, value)
        if key == "discriminator":
            return self._discriminator(value)
        return value if key.startswith("x-") else DROPPED

    def _plain(self, key: str, value: Json) -> Json:
        kept = PLAIN[key](value)
        silent = isinstance(value, bool) or value is None or value == [] or value == ""
        if kept is DROPPED and not silent:
            self._note(f"`{key}: {value}` cannot be used and was left out.")
        return kept

    def _pattern(self, value: Json) -> Json:
        meant = self._patterns.meant(value) if isinstance(value, str) else None
        if meant is None:
            self._note(f"the pattern {value!r} is no regular expression that can be used, and was left out.")
        return DROPPED if meant is None else meant

    def _type(self, value: Json) -> Json:
        found = keywords.types(value)
        if found is DROPPED:
            if value and value is not True and str(value).lower() not in keywords.ANYTHING:
                self._note(f"the type {value} is unknown; any is taken to be allowed.")
            return DROPPED
        for written in value if isinstance(value, list) else [value]:
            if isinstance(written, str) and written not in keywords.TYPES and written not in keywords.OF_SWAGGER:
                self._note(f"there is no type {written}; it was taken as {keywords.meant(written)}.")
        return found[0] if len(found) == 1 else found

    def _sub(self, key: str, value: Json) -> Json:
        if isinstance(value, list):
            return [self._schema(one) for one in value] or DROPPED if key == "items" else DROPPED
        if isinstance(value, bool):
            return value
        return self._schema(value) if isinstance(value, dict) else DROPPED

    def _by_name(self, key: str, value: Json) -> Json:
        if not isinstance(value, dict):
            return DROPPED
        made = {name: self._schema(one) for name, one in value.items()}
        if key == "patternProperties":
            return {name: one for name, one in made.items() if self._patterns.meant(name) is not None}
        return made

    def _discriminator(self, value: Json) -> Json:
        if isinstance(value, str):
            return {"propertyName": value}  # Swagger 2
        if not isinstance(value, dict) or not isinstance(value.get("propertyName"), str):
            return DROPPED
        mapping = value.get("mapping")
        named = mapping.items() if isinstance(mapping, dict) else ()
        refs = {key: self._mapped(ref) for key, ref in named if isinstance(ref, str)}
        return {"propertyName": value["propertyName"], **({"mapping": refs} if refs else {})}

    def _mapped(self, ref: str) -> str:
        return self._named(ref if "/" in ref or ref.startswith("#") else f"{HOME}{ref}")

    def _mend_choices(self, made: dict[str, Any]) -> None:
        """`enum: [1, 2]` of a string means the texts "1" and "2"; unquoted YAML makes numbers of them."""
        choices, kind = made.get("enum"), made.get("type")
        if choices is None or kind != "string" or any(isinstance(one, (str, list, dict)) for one in choices):
            return
        texts = [_as_text(one) for one in choices if one is not None]
        if texts:
            made["enum"] = texts
            self._note("the choices of a string are not texts; they were taken as texts.")


def _as_text(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _choices_of_items(made: dict[str, Any]) -> dict[str, Any]:
    """`enum` beside `type: array`, with no array in it, means what the items may be: frameworks write it so."""
    choices, items = made.get("enum"), made.get("items")
    if made.get("type") != "array" or not choices or any(isinstance(one, list) for one in choices):
        return made
    rest = {key: value for key, value in made.items() if key not in ("enum", "items")}
    return {**rest, "items": {**(items if isinstance(items, dict) else {}), "enum": choices}}


def _mend_limits(made: dict[str, Any], node: Mapping[str, Json]) -> None:
    """`exclusiveMinimum: true` belongs to `minimum` in earlier dialects."""
    for exclusive, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if node.get(exclusive) is True and limit in made:
            made[exclusive] = made.pop(limit)
    if made.get("type") == "string" and str(node.get("type")).lower() == "file":
        made["format"] = "binary"


def _says_nullable(node: Mapping[str, Json]) -> bool:
    return node.get("nullable") is True or node.get("x-nullable") is True


def _nullable(made: dict[str, Any]) -> dict[str, Any]:
    if any(key in made for key in _CHOOSING):
        outside = {key: made.pop(key) for key in list(made) if key in ANNOTATIONS}
        return {**outside, "anyOf": [made, {"type": "null"}]}
    if "type" in made:
        kinds = made["type"] if isinstance(made["type"], list) else [made["type"]]
        made["type"] = list(dict.fromkeys([*kinds, "null"]))
    if "enum" in made and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    return made
