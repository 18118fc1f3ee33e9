"""A document to a `Contract`: what can be used is read, what tools would repair is repaired and noted."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from whet.skills.api.contract import loading
from whet.skills.api.contract.answers import answers
from whet.skills.api.contract.bodies import bodies
from whet.skills.api.contract.dialects import dialect_of
from whet.skills.api.contract.model import Contract, Json, Operation, SecurityScheme
from whet.skills.api.contract.multiplying import bound
from whet.skills.api.contract.notes import Notes
from whet.skills.api.contract.parameters import declared, parameters
from whet.skills.api.contract.refusing import refuse
from whet.skills.api.contract.security import schemes, security
from whet.skills.api.contract.servers import base_path, note_own_servers
from whet.skills.api.contract.source import Source, entries, listed, worded

Node = Mapping[str, Json]
METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace")


@dataclass(frozen=True, slots=True)
class Place:
    """One operation's place in the document."""

    method: str
    path: str
    item: Node
    node: Node

    @property
    def id(self) -> str:
        return f"{self.method.upper()} {self.path}"


def read_contract(source: loading.Source, name: str | None = None) -> Contract:
    """Read bytes, a file's path or a mapping; `name` is what messages call it (an address, a file).

    Raises `NoContract` (a `WhetError`) for whatever promises no operation that could be tested.
    """
    notes = Notes()
    shown, document = loading.load(source, name, notes)
    reader = Source(document, dialect_of(document, shown, notes), notes)
    try:
        return _contract(reader, shown, notes)
    except RecursionError as error:
        raise refuse(shown, "is nested too deeply", "Give names to its parts and refer to them with $ref.") from error


def _contract(source: Source, name: str, notes: Notes) -> Contract:
    info = source.document.get("info")
    info = info if isinstance(info, dict) else {}
    known, base = schemes(source), base_path(source)
    places = list(_places(source))
    find = _finder(source, places)
    operations = tuple(_operation(source, place, known, base, find) for place in places)
    if not operations:
        raise refuse(name, "promises no operation", "Give a document with `paths` that have operations.")
    bound(source.normaliser.schemas, notes)
    if source.document.get("webhooks"):
        notes.add("Webhooks are ignored: they are requests that the service makes.")
    return Contract(
        title=str(info.get("title") or ""),
        version=str(info.get("version") or ""),
        dialect=source.dialect,
        base_path=base,
        operations=operations,
        document={"components": {"schemas": source.normaliser.schemas}},
        security_schemes=known,
        notes=notes.sentences(),
        given=source.document,
    )


def _places(source: Source) -> Iterator[Place]:
    seen: set[str] = set()
    for written, one in entries(source.document, "paths"):
        item = _path_item(source, one, written)
        path = written if written.startswith("/") else f"/{written}"
        for key, node in item.items():
            method = key.lower()
            if method not in METHODS:
                continue
            place = Place(method, path, item, node if isinstance(node, dict) else {})
            if not isinstance(node, dict) or place.id in seen:
                source.note(place.id, "it is there twice or is no object, and was left out.")
                continue
            seen.add(place.id)
            yield place


def _path_item(source: Source, node: Json, path: str) -> Node:
    target = source.follow(node, path)
    if target is None:
        source.note(path, "the path has nothing that could be read and was left out.")
        return {}
    return {**target, **node} if "$ref" in node else target


def _finder(source: Source, places: list[Place]) -> Callable[[Node], str | None]:
    """Which operation a link means, by its operationId or by its place."""
    by_name: dict[str, str] = {}
    for place in places:
        name = worded(place.node, "operationId")
        if name in by_name:
            source.note(place.id, f"its operationId {name!r} is that of {by_name[name]} too.")
        elif name:
            by_name[name] = place.id
    by_node = {id(place.node): place.id for place in places}

    def find(link: Node) -> str | None:
        if isinstance(link.get("operationRef"), str):
            return by_node.get(id(source.pointers.target(link["operationRef"], "link")))
        return by_name.get(worded(link, "operationId"))

    return find


def _operation(
    source: Source,
    place: Place,
    known: Mapping[str, SecurityScheme],
    base: str,
    find: Callable[[Node], str | None],
) -> Operation:
    node, where = place.node, place.id
    if node.get("callbacks"):
        source.note(where, "its callbacks are ignored: they are requests that the service makes.")
    note_own_servers(source, node if listed(node, "servers") else place.item, base, where)
    nodes = declared(source, place.item, node, place.path, where)
    return Operation(
        id=where,
        method=place.method.upper(),
        path=place.path,
        parameters=parameters(source, nodes, place.path, where),
        bodies=bodies(source, node, nodes, where),
        answers=answers(source, node, find, where),
        security=security(source, node, known, where),
        name=worded(node, "operationId") or None,
        summary=worded(node, "summary"),
        tags=tuple(one for one in listed(node, "tags") if isinstance(one, str)),
        deprecated=node.get("deprecated") is True,
    )
