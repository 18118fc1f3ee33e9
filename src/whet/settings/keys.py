"""The settings as a list of keys, for error messages, the template and the documentation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pydantic_core import PydanticUndefined

from whet.settings.model import Settings
from whet.settings.section import Section

# A key that would be committed with the code; it is read from the environment alone.
ENVIRONMENT_ONLY: Final = "audit_key"


@dataclass(frozen=True)
class Key:
    """One key: its table ("" is the top one), name, default, and what is allowed, in words."""

    table: str
    name: str
    default: object
    allowed: str
    description: str
    example: object | None
    used: bool

    @property
    def path(self) -> str:
        return f"{self.table}.{self.name}" if self.table else self.name


def sections() -> dict[str, type[Section]]:
    """Every table and its model, the top one first under the name ""."""
    found: dict[str, type[Section]] = {"": Settings}
    for name, field in Settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            found[name] = field.annotation
    return found


@cache
def keys() -> tuple[Key, ...]:
    """Every key that a file may set, table by table."""
    return tuple(_walk(sections()))


def _walk(tables: Mapping[str, type[Section]]) -> Iterator[Key]:
    for table, model in tables.items():
        schemas = model.model_json_schema()["properties"]
        for name in model.model_fields:
            if not (table == "" and (name in tables or name == ENVIRONMENT_ONLY)):
                yield _key(table, name, model, schemas[name])


def names(table: str) -> list[str]:
    """What may stand in a table of a file: its keys, and in the top one the other tables too."""
    return [name for name in sections()[table].model_fields if not (table == "" and name == ENVIRONMENT_ONLY)]


def unused_keys(settings: Settings) -> list[str]:
    """The keys that were set but that nothing reads yet, as table.key."""
    unused = {key.path for key in keys() if not key.used}
    return [path for path in _set_paths(settings) if path in unused]


def _set_paths(settings: Settings) -> Iterator[str]:
    for name in sorted(settings.model_fields_set):
        value = getattr(settings, name)
        if isinstance(value, Section):
            yield from (f"{name}.{inner}" for inner in sorted(value.model_fields_set))
        else:
            yield name


def _key(table: str, name: str, model: type[Section], schema: dict[str, Any]) -> Key:
    field = model.model_fields[name]
    return Key(
        table=table,
        name=name,
        default=None if field.default is PydanticUndefined else field.default,
        allowed=allowed(schema),
        description=field.description or "",
        example=field.examples[0] if field.examples else None,
        used=bool(schema.get("used", True)),
    )


def allowed(schema: dict[str, Any]) -> str:
    """What a JSON schema allows, in words."""
    if "anyOf" in schema:
        schema = next(each for each in schema["anyOf"] if each.get("type") != "null")
    if "const" in schema:
        return f'"{schema["const"]}"'
    if "enum" in schema:
        return " or ".join(f'"{each}"' for each in schema["enum"])
    kind = _KINDS[schema["type"]]
    if "minimum" in schema and "maximum" in schema:
        return f"{kind} from {_plain(schema['minimum'])} to {_plain(schema['maximum'])}"
    limits = [f"{word} {_plain(schema[limit])}" for limit, word in _LIMITS.items() if limit in schema]
    return f"{kind} {' and '.join(limits)}".strip()


def _plain(number: float) -> str:
    return f"{number:.0f}" if abs(number) >= 10_000 else f"{number:g}"


_KINDS: Final = {
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "string": "text",
    "array": "a list of names",
    "object": "a table of names and values",
}
_LIMITS: Final = {
    "exclusiveMinimum": "above",
    "minimum": "from",
    "exclusiveMaximum": "below",
    "maximum": "at most",
}
