"""XML bodies: elements and attributes by the `xml` names of the schema written beside them.

Only what the body's own schema says inline is honoured: behind a `$ref`, elements have the names of their properties.
Namespaces are not written.
"""

import re
from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

from whet.skills.api.contract.model import Json, Schema
from whet.skills.api.writing_styles import text_of

_NOT_NAME = re.compile(r"[^\w.-]")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff￾￿]")


def xml(value: Json, schema: Schema) -> str:
    return '<?xml version="1.0" encoding="UTF-8"?>' + _element(_root(schema), value, schema)


def _root(schema: Schema) -> str:
    reference = str(schema.get("$ref", "")).rpartition("/")[2]
    return str(_hints(schema).get("name") or reference or schema.get("title") or "root")


def _element(name: str, value: Json, schema: Schema) -> str:
    tag = _tag(name)
    if isinstance(value, Mapping):
        return _object(tag, value, _inner(schema, "properties"))
    if isinstance(value, list):
        items = _inner(schema, "items")
        inner = "".join(_element(str(_hints(items).get("name", name)), one, items) for one in value)
        return f"<{tag}>{inner}</{tag}>" if _hints(schema).get("wrapped") else inner
    return f"<{tag}/>" if value is None else f"<{tag}>{escape(_text(value))}</{tag}>"


def _object(tag: str, value: Mapping[str, Json], properties: Schema) -> str:
    attributes, children = "", ""
    for key, one in value.items():
        schema = _inner(properties, key)
        name = str(_hints(schema).get("name", key))
        if _hints(schema).get("attribute"):
            attributes += f" {_tag(name)}={quoteattr(_text(one))}"
        else:
            children += _element(name, one, schema)
    return f"<{tag}{attributes}>{children}</{tag}>"


def _hints(schema: Schema) -> Schema:
    return _inner(schema, "xml")


def _inner(schema: Schema, key: str) -> Schema:
    inner = schema.get(key)
    return inner if isinstance(inner, Mapping) else {}


def _tag(name: str) -> str:
    tag = _NOT_NAME.sub("_", name)
    return tag if tag[:1].isalpha() or tag[:1] == "_" else f"_{tag}"


def _text(value: Json) -> str:
    """XML has no way at all to write some characters: they are left out."""
    return _NOT_XML.sub("", text_of(value))
