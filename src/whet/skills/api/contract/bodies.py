"""The ways to write an operation's request body."""

from collections.abc import Iterator, Mapping

from whet.skills.api.contract.examples import examples
from whet.skills.api.contract.model import Body, Json
from whet.skills.api.contract.parameters import collection, inline_schema
from whet.skills.api.contract.source import Source, entries, listed

Node = Mapping[str, Json]
_URLENCODED = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"


def bodies(source: Source, operation: Node, parameters: list[Node], where: str) -> tuple[Body, ...]:
    if "requestBody" in operation and not source.is_swagger:
        return tuple(_contents(source, operation["requestBody"], where))
    whole = [node for node in parameters if node["in"] == "body"]
    if whole:
        return tuple(_whole(source, operation, whole[0], where))
    fields = [node for node in parameters if node["in"] == "formData"]
    return tuple(_form(source, operation, fields, where)) if fields else ()


def _contents(source: Source, node: Json, where: str) -> Iterator[Body]:
    body = source.follow(node, where)
    if body is None or not isinstance(body.get("content"), dict):
        source.note(where, "the request body has no content and was left out.")
        return
    for media, one in entries(body, "content"):
        inner = source.follow(one, where) or {}
        schema = source.schema(inner.get("schema", {}), f"{where}, body")
        encoding = {name: value for name, value in entries(inner, "encoding") if isinstance(value, dict)}
        yield Body(media, schema, body.get("required") is True, examples(source, inner, where), encoding)


def consumes(source: Source, operation: Node) -> list[str]:
    own = listed(operation, "consumes") or listed(source.document, "consumes")
    return [one for one in own if isinstance(one, str) and one]


def _whole(source: Source, operation: Node, node: Node, where: str) -> Iterator[Body]:
    """Swagger's body parameter, which may not be a form."""
    schema = source.schema(node.get("schema", inline_schema(node)), f"{where}, body")
    shown = examples(source, node, where)
    written = [one for one in consumes(source, operation) if one not in (_URLENCODED, _MULTIPART)]
    for media in written or ["application/json"]:
        yield Body(media, schema, node.get("required") is True, shown)


def _form(source: Source, operation: Node, fields: list[Node], where: str) -> Iterator[Body]:
    """Swagger's form fields, as the properties of an object."""
    needed = [node["name"] for node in fields if node.get("required") is True]
    properties = {node["name"]: _field(node) for node in fields}
    made = {"type": "object", "properties": properties, **({"required": needed} if needed else {})}
    schema = source.schema(made, f"{where}, form")
    for media in _form_media(source, operation, fields):
        yield Body(media, schema, bool(needed), (), _encoding(fields))


def _field(node: Node) -> Node:
    example = node.get("example", node.get("x-example"))
    return {**inline_schema(node), **({"example": example} if example is not None else {})}


def _form_media(source: Source, operation: Node, fields: list[Node]) -> list[str]:
    if any(node.get("type") == "file" for node in fields):
        return [_MULTIPART]
    named = [one for one in consumes(source, operation) if one in (_URLENCODED, _MULTIPART)]
    return named or [_URLENCODED]


def _encoding(fields: list[Node]) -> Mapping[str, Json]:
    lists = {node["name"]: collection(node) for node in fields if node.get("type") == "array"}
    return {name: {"style": style, "explode": explode} for name, (style, explode) in lists.items()}
