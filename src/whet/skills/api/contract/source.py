"""The document while it is read: its dialect, what `$ref` points at, its schemas, and what had to be noted."""

from collections.abc import Iterator, Mapping

from whet.skills.api.contract.model import Dialect, Json, Schema
from whet.skills.api.contract.normal import Normaliser
from whet.skills.api.contract.notes import Notes
from whet.skills.api.contract.pointers import Pointers


class Source:
    def __init__(self, document: Mapping[str, Json], dialect: Dialect, notes: Notes) -> None:
        self.document = document
        self.dialect = dialect
        self.pointers = Pointers(document, notes)
        self.normaliser = Normaliser(self.pointers, merges_siblings=dialect == "openapi-3.1")
        self._notes = notes

    @property
    def is_swagger(self) -> bool:
        return self.dialect == "swagger-2.0"

    def note(self, where: str, sentence: str) -> None:
        self._notes.add(f"{where}: {sentence}")

    def follow(self, node: Json, where: str) -> Mapping[str, Json] | None:
        return self.pointers.follow(node, where)

    def schema(self, node: Json, where: str) -> Schema:
        return self.normaliser.schema(node, where)


def entries(node: Json, key: str) -> Iterator[tuple[str, Json]]:
    """The entries of the object under `key`, without extensions; nothing when there is no object."""
    inner = node.get(key) if isinstance(node, Mapping) else None
    if isinstance(inner, dict):
        yield from ((name, value) for name, value in inner.items() if not name.startswith("x-"))


def listed(node: Json, key: str) -> list[Json]:
    inner = node.get(key) if isinstance(node, Mapping) else None
    return inner if isinstance(inner, list) else []


def worded(node: Mapping[str, Json], key: str) -> str:
    """The text under `key`; "" for none, and for what is no text."""
    value = node.get(key)
    return value if isinstance(value, str) else ""
