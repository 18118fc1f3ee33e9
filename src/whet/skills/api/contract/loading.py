"""Bytes to plain JSON values, within bounds: a document decides neither memory nor time."""

import json
import math
import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from whet.skills.api.contract.model import Json
from whet.skills.api.contract.notes import Notes
from whet.skills.api.contract.refusing import refuse
from whet.skills.api.contract.yaml_text import BadYaml, Twice
from whet.skills.api.contract.yaml_text import load as load_yaml

MIB = 1 << 20
LARGEST_BYTES = 32 * MIB
# YAML is read some fifty times slower than JSON.
LARGEST_YAML_BYTES = 12 * MIB
# JSON that does not parse is tried as YAML (comments, commas at the end) only while that is quick.
LARGEST_SECOND_TRY_BYTES = MIB
DEEPEST = 150
MOST_NODES = 3_000_000
_GIVE_DOCUMENT = "Give an OpenAPI or Swagger document, as a file or as the address where the service shows it."
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
Source = bytes | str | os.PathLike[str] | Mapping[str, Json]


def load(source: Source, name: str | None, notes: Notes) -> tuple[str, Mapping[str, Json]]:
    """The document's name for messages, and its values."""
    if isinstance(source, Mapping):
        return _checked(name or "The document", _as_json(source, name or "The document"))
    if isinstance(source, bytes):
        return _checked(name or "The document", _parsed(source, name or "The document", notes))
    shown = name or str(source)
    return _checked(shown, _parsed(_file(Path(source), shown), shown, notes))


def _file(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise refuse(name, f"cannot be read: {reason}", "Check the path.") from error


def _as_json(source: Mapping[str, Json], name: str) -> Json:
    """A mapping made by a program: its keys become text, its values what JSON can say."""
    try:
        return _parsed(json.dumps(source, default=_plain).encode(), name, Notes())
    except (ValueError, TypeError, RecursionError) as error:
        raise refuse(name, f"is not made of JSON values: {error}", _GIVE_DOCUMENT) from error


def _plain(value: object) -> Json:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _parsed(text: bytes, name: str, notes: Notes) -> Json:
    if len(text) > LARGEST_BYTES:
        remedy = "Cut it into parts, for example by tag, and test them one by one."
        raise refuse(name, f"has more than {LARGEST_BYTES // MIB} MiB", remedy)
    start = text[:4096].lstrip(b"\xef\xbb\xbf \t\r\n\x00\xff\xfe")[:1]
    if not start:
        raise refuse(name, "is empty", _GIVE_DOCUMENT)
    if start == b"<":
        remedy = "Give the address of the document itself, often /openapi.json, /v3/api-docs or /swagger.json."
        raise refuse(name, "is a web page or XML, not a contract", remedy)
    return _json_or_yaml(text, name, notes) if start in b"{[" else _yaml(text, name, notes)


def _json_or_yaml(text: bytes, name: str, notes: Notes) -> Json:
    try:
        return _json(text, name, notes)
    except json.JSONDecodeError as error:
        trouble = f"is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        if len(text) <= LARGEST_SECOND_TRY_BYTES:
            try:
                return load_yaml(text, _noting(notes))
            except (BadYaml, RecursionError):
                pass
        raise refuse(name, trouble, "Mend it there, or write it anew: it may be cut off.") from error


def _noting(notes: Notes) -> Twice:
    return lambda key: notes.add(f"{key!r} is there twice in one object; the last one counts.")


def _json(text: bytes, name: str, notes: Notes) -> Json:
    twice = _noting(notes)

    def made(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice(Counter(key for key, _ in pairs).most_common(1)[0][0])
        return found

    try:
        read = json.loads(text, parse_float=_finite, parse_constant=lambda _: None, object_pairs_hook=made)
    except RecursionError as error:
        raise _too_deep(name) from error
    except UnicodeDecodeError as error:
        raise refuse(name, "is not UTF-8 text", "Save it as UTF-8.") from error
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise refuse(name, "holds a number with thousands of digits", "Write a smaller number.") from error
    return _without_surrogates(read) if b"\\ud" in text.lower() else read


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _without_surrogates(value: Json) -> Json:
    """Half a character cannot be written as UTF-8, neither to a service nor to a report."""
    as_text = json.dumps(value, ensure_ascii=False)
    return json.loads(_LONE_SURROGATE.sub("\ufffd", as_text))


def _yaml(text: bytes, name: str, notes: Notes) -> Json:
    if len(text) > LARGEST_YAML_BYTES:
        raise refuse(name, f"has more than {LARGEST_YAML_BYTES // MIB} MiB of YAML", "Convert it to JSON.")
    try:
        return load_yaml(text, _noting(notes))
    except BadYaml as error:
        raise refuse(name, f"is neither JSON nor valid YAML: {error}", "Mend it there.") from error
    except RecursionError as error:
        raise _too_deep(name) from error


def _checked(name: str, tree: Json) -> tuple[str, Mapping[str, Json]]:
    if not isinstance(tree, dict):
        raise refuse(name, "is not an object with `openapi` or `swagger`", _GIVE_DOCUMENT)
    _check_bounds(name, tree)
    return name, tree


def _check_bounds(name: str, tree: Json) -> None:
    """Level by level, each alias counted where it is used: a bomb shows by its number, a cycle by its depth."""
    level = [tree]
    nodes = 0
    for _ in range(DEEPEST):
        below: list[Json] = []
        for node in level:
            children = node.values() if isinstance(node, dict) else node
            below.extend(child for child in children if isinstance(child, (dict, list)))
            nodes += len(node)
            if nodes > MOST_NODES:
                remedy = "Write it without aliases that repeat aliases, or cut it into parts."
                raise refuse(name, f"has more than {MOST_NODES} values", remedy)
        if not below:
            return
        level = below
    raise _too_deep(name)


def _too_deep(name: str) -> Exception:
    remedy = "Give names to its parts and refer to them with $ref."
    return refuse(name, f"is nested more than {DEEPEST} levels deep or contains itself", remedy)
