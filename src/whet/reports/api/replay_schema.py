"""What a written test of an answer's shape needs besides. Its source is copied into the tests, as that of `replay`."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from whet.reports.api.replay import Answer, Schemas, declared, entry

TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}


# Alternatives overlap more often than their authors know; that is not what this test is about.
SEVERAL = "is valid under more than one of"
# Many services leave out the offset; that is not what this test is about.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?\s?([Zz]|[+-]\d\d(:?\d\d)?)?")


def assert_shape(answer: Answer, answers: Schemas, headers: Schemas, definitions: Mapping[str, Any]) -> None:
    """A JSON answer, and its headers, have the shape that the contract promises for their status and content type."""
    assert answer.status is not None, answer  # noqa: S101
    schema = declared(entry(answers, answer.status), answer.media())
    problems = [] if schema is None else found_problems(answer.json(), schema, definitions)
    for name, described in entry(headers, answer.status).items():
        if (text := answer.header(name.lower())) is not None:
            problems += found_problems(read(text, described), described, definitions)
    assert not problems, f"{problems[:5]} in {answer!r}"  # noqa: S101


def read(text: str, schema: Any) -> Any:
    """A header's text as the type its schema wants."""
    types = schema.get("type", "string")
    if "array" in types:
        return [part.strip() for part in text.split(",")]
    try:
        return json.loads(text) if {"integer", "number", "boolean"} & {types, *types} else text
    except ValueError:
        return text


def found_problems(document: Any, schema: Any, definitions: Mapping[str, Any]) -> list[str]:
    """By jsonschema-rs where it is installed; else what breaks types, members, choices and bounds."""
    try:
        import jsonschema_rs
    except ImportError:
        return list(simple_problems(document, schema, definitions))
    root: dict[str, Any] = {"allOf": [schema]}
    for reference, definition in definitions.items():
        *path, name = (part.replace("~1", "/").replace("~0", "~") for part in unquote(reference[2:]).split("/"))
        place = root
        for part in path:
            place = place.setdefault(part, {})
        place[name] = definition
    formats = {"date-time": lambda text: not isinstance(text, str) or MOMENT.fullmatch(text) is not None}
    validator = jsonschema_rs.Draft202012Validator(root, validate_formats=True, formats=formats, offline=True)
    found = [one for one in validator.iter_errors(document) if SEVERAL not in one.message]
    return [f"{'/'.join(map(str, one.instance_path))}: {one.message}" for one in found]


def simple_problems(value: Any, schema: Any, definitions: Mapping[str, Any], path: str = "") -> Iterator[str]:
    while isinstance(schema, dict) and "$ref" in schema:
        schema = definitions.get(schema["$ref"], True)
    if not isinstance(schema, dict):
        return
    named = schema.get("type", [])
    types = [named] if isinstance(named, str) else named
    if types and not any(is_type(value, name) for name in types):
        yield f"{path}: {value!r:.80} is not of type {' or '.join(types)}"
    if value not in schema.get("enum", [value]):
        yield f"{path}: {value!r:.80} is not one of {schema['enum']!r:.200}"
    if isinstance(value, dict):
        yield from member_problems(value, schema, definitions, path)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from simple_problems(item, schema.get("items", True), definitions, f"{path}/{place}")
    else:
        yield from bound_problems(value, schema, path)
    for part in schema.get("allOf", ()):
        yield from simple_problems(value, part, definitions, path)
    for choice in (schema.get("anyOf"), schema.get("oneOf")):
        if choice and all(any(simple_problems(value, one, definitions)) for one in choice):
            yield f"{path}: {value!r:.80} fits none of the choices"


def member_problems(value: dict[str, Any], schema: Any, definitions: Mapping[str, Any], path: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    yield from (f"{path}: {name!r} is missing" for name in schema.get("required", ()) if name not in value)
    for name in value:
        if name in properties:
            yield from simple_problems(value[name], properties[name], definitions, f"{path}/{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{path}: {name!r} is not allowed"


def bound_problems(value: Any, schema: Any, path: str) -> Iterator[str]:
    if isinstance(value, str):
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
            yield f"{path}: {value!r:.80} is too short or too long"
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{path}: {value!r:.80} does not match {schema['pattern']}"
    elif isinstance(value, int | float) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{path}: {value} is out of bounds"


def is_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES.get(name, object)) or (
        name == "integer" and isinstance(value, float) and value % 1 == 0
    )
