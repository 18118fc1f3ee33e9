"""What an operation may answer: statuses, media types, headers, and the links to other operations."""

import re
from collections.abc import Callable, Iterator, Mapping

from whet.skills.api.contract.model import Answer, Json, Link, Schema
from whet.skills.api.contract.source import Source, entries, listed

Node = Mapping[str, Json]
Find = Callable[[Node], str | None]  # the id of the operation that a link names
_STATUS = re.compile(r"[1-5](\d\d|XX)", re.ASCII)


def answers(source: Source, operation: Node, find: Find, where: str) -> tuple[Answer, ...]:
    made = list(_answers(source, operation, find, where))
    if not made:
        source.note(where, "it names no answers; any is taken to be allowed.")
    return tuple(made)


def _answers(source: Source, operation: Node, find: Find, where: str) -> Iterator[Answer]:
    seen: set[str] = set()
    for key, one in entries(operation, "responses"):
        status = _status(key)
        node = source.follow(one, f"{where}, answer {key}")
        if status is None or status in seen:
            source.note(where, f"the answer {key!r} is no status and was left out.")
            continue
        seen.add(status)
        yield _answer(source, operation, status, {} if node is None else node, find, f"{where}, answer {key}")


def _status(key: str) -> str | None:
    wanted = key.strip().upper()
    if wanted == "DEFAULT":
        return "default"
    return wanted if _STATUS.fullmatch(wanted) else None


def _answer(source: Source, operation: Node, status: str, node: Node, find: Find, where: str) -> Answer:
    contents = _swagger_contents(source, operation, node, where) if source.is_swagger else {}
    if not contents:
        contents = dict(_contents(source, node, where))
    headers = dict(_headers(source, node, where))
    return Answer(status, contents, headers, tuple(_links(source, node, find, where)))


def _contents(source: Source, node: Node, where: str) -> Iterator[tuple[str, Schema | None]]:
    for media, one in entries(node, "content"):
        inner = source.follow(one, where) or {}
        yield media, source.schema(inner["schema"], where) if "schema" in inner else None


def _swagger_contents(source: Source, operation: Node, node: Node, where: str) -> dict[str, Schema | None]:
    """One schema for all media types; where none is named, any (`*/*`) may come."""
    if "schema" not in node:
        return {}
    schema = source.schema(node["schema"], where)
    own = listed(operation, "produces") or listed(source.document, "produces")
    media = [one for one in own if isinstance(one, str) and one]
    return dict.fromkeys(media or ["*/*"], schema)


def _headers(source: Source, node: Node, where: str) -> Iterator[tuple[str, Schema]]:
    for name, one in entries(node, "headers"):
        header = source.follow(one, where)
        if header is not None and name.lower() != "content-type":
            yield name, source.schema(_header_schema(header), f"{where}, header {name}")


def _header_schema(header: Node) -> Json:
    if "schema" in header:
        return header["schema"]
    if isinstance(header.get("content"), dict):
        return {}  # written in a media type of its own
    return {key: value for key, value in header.items() if key != "required"}


def _links(source: Source, node: Node, find: Find, where: str) -> Iterator[Link]:
    for name, one in entries(node, "links"):
        link = source.follow(one, where)
        target = find(link) if link is not None else None
        if link is None or target is None:
            source.note(where, f"the link {name!r} names no operation of this document and was left out.")
        else:
            yield Link(name, target, dict(entries(link, "parameters")), link.get("requestBody"))
