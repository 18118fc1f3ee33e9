"""An operation's parameters: the path's own, overridden by the operation's, mended by the path's template."""

import re
from collections.abc import Iterator, Mapping
from typing import cast

from whet.skills.api.contract.examples import examples
from whet.skills.api.contract.model import Json, Parameter, Schema, Where
from whet.skills.api.contract.source import Source, listed, worded

Node = Mapping[str, Json]
IN_TEMPLATE = re.compile(r"\{([^{}]+)\}")
PLACES = ("path", "query", "header", "cookie")
_BODIES = {"body": "body", "formdata": "formData", "form": "formData"}
# The media types are the business of the bodies and the answers.
_NOT_PARAMETERS = frozenset({"accept", "content-type"})
_STYLES: dict[str, tuple[str, ...]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}
# Swagger's `collectionFormat` as a style and whether it explodes.
COLLECTIONS = {"csv": ("form", False), "ssv": ("spaceDelimited", False), "pipes": ("pipeDelimited", False),
               "multi": ("form", True), "tsv": ("form", False)}  # fmt: skip


def declared(source: Source, item: Node, operation: Node, path: str, where: str) -> list[Node]:
    """The parameter objects that hold for the operation, each place and name once, with a usable `in`."""
    found: dict[tuple[str, str], Node] = {}
    for one in [*listed(item, "parameters"), *listed(operation, "parameters")]:
        node = _usable(source, one, path, where)
        if node is not None:
            found[(node["in"], node["name"])] = node
    return list(found.values())


def _usable(source: Source, one: Json, path: str, where: str) -> Node | None:
    node = source.follow(one, where)
    if node is None:
        if not isinstance(one, dict):
            source.note(where, "a parameter is no object and was left out.")
        return None
    place = _place(node, path)
    name = node.get("name", "body" if place == "body" else None)
    if not isinstance(name, str) or not name or place is None:
        source.note(where, f"the parameter {name!r} in {node.get('in')!r} was left out.")
        return None
    return {**node, "in": place, "name": name}


def _place(node: Node, path: str) -> str | None:
    place = node.get("in")
    if place is None:
        return "path" if f"{{{node.get('name')}}}" in path else "query"
    if not isinstance(place, str):
        return None
    lower = place.lower()
    return lower if lower in PLACES else _BODIES.get(lower)


def parameters(source: Source, nodes: list[Node], path: str, where: str) -> tuple[Parameter, ...]:
    in_path = set(IN_TEMPLATE.findall(path))
    kept = [node for node in nodes if _belongs(source, node, in_path, where)]
    made = [_parameter(source, node, f"{where}, parameter {node['name']}") for node in kept]
    named = {one.name for one in made if one.where == "path"}
    return (*made, *_undeclared(source, (one for one in IN_TEMPLATE.findall(path) if one not in named), where))


def _belongs(source: Source, node: Node, in_path: set[str], where: str) -> bool:
    if node["in"] not in PLACES or (node["in"] == "header" and node["name"].lower() in _NOT_PARAMETERS):
        return False
    if node["in"] == "path" and node["name"] not in in_path:
        source.note(where, f"the path has no {{{node['name']}}}; the parameter was left out.")
        return False
    return True


def _undeclared(source: Source, missing: Iterator[str], where: str) -> Iterator[Parameter]:
    for name in dict.fromkeys(missing):
        source.note(where, f"the path's {{{name}}} is not declared; it was taken as a text.")
        yield Parameter(name, "path", True, {"type": "string"}, "simple", False)


def _parameter(source: Source, node: Node, where: str) -> Parameter:
    media, inner = _content(source, node, where)
    style, explode = _swagger_style(node) if source.is_swagger else _style(source, node, where)
    return Parameter(
        name=node["name"],
        where=cast("Where", node["in"]),
        required=node["in"] == "path" or node.get("required") in (True, "true"),
        schema=_schema(source, node, inner, where),
        style=style,
        explode=explode,
        media=media,
        examples=examples(source, {**inner, **node} if media else node, where),
        description=worded(node, "description"),
    )


def _content(source: Source, node: Node, where: str) -> tuple[str | None, Node]:
    content = node.get("content")
    if isinstance(content, dict) and content and "schema" not in node:
        media = next(iter(content))
        return media, source.follow(content[media], where) or {}
    return None, {}


def _schema(source: Source, node: Node, inner: Node, where: str) -> Schema:
    if "schema" in node or "schema" in inner:
        return source.schema(node.get("schema", inner.get("schema")), where)
    if "type" in node or "$ref" in node or "enum" in node:  # Swagger's form, seen in OpenAPI too
        return source.schema(inline_schema(node), where)
    source.note(where, "it has no schema; it was taken as a text.")
    return {"type": "string"}


def inline_schema(node: Node) -> Node:
    """A Swagger parameter's own keywords; `required` says something else there."""
    apart = ("in", "name", "required", "example", "examples", "x-example", "x-examples")
    return {key: value for key, value in node.items() if key not in apart}


def _style(source: Source, node: Node, where: str) -> tuple[str, bool]:
    possible = _STYLES[node["in"]]
    style = node.get("style", possible[0])
    if style not in possible:
        source.note(where, f"the style {style} is not one of {', '.join(possible)}; {possible[0]} was taken.")
        style = possible[0]
    explode = node.get("explode")
    return style, explode if isinstance(explode, bool) else style == "form"


def _swagger_style(node: Node) -> tuple[str, bool]:
    style, explode = collection(node)
    return (style, explode) if node["in"] == "query" else (_STYLES[node["in"]][0], False)


def collection(node: Node) -> tuple[str, bool]:
    wanted = node.get("collectionFormat", "csv")
    return COLLECTIONS.get(wanted if isinstance(wanted, str) else "csv", COLLECTIONS["csv"])
