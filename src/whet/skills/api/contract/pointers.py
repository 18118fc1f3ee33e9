"""Following `$ref` inside one document. Nothing outside it is ever fetched: a document must not choose addresses."""

from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from whet.skills.api.contract.model import Json
from whet.skills.api.contract.notes import Notes

_NOWHERE = object()


class Pointers:
    def __init__(self, document: Mapping[str, Json], notes: Notes) -> None:
        self.document = document
        self.notes = notes
        self._anchors: dict[str, Json] | None = None

    def follow(self, node: Json, where: str) -> Mapping[str, Json] | None:
        """The object that `node` is or refers to; None, with a note, when there is none."""
        seen: set[str] = set()
        while isinstance(node, dict) and isinstance(ref := node.get("$ref"), str):
            if ref in seen:
                self.notes.add(f"{where}: {ref} refers to itself and was left out.")
                return None
            seen.add(ref)
            node = self.target(ref, where)
        return node if isinstance(node, dict) else None

    def target(self, ref: str, where: str) -> Json:
        """What `ref` points at; None, with a note, when that is outside the document or not there."""
        found = self._find(ref)
        if found is not _NOWHERE:
            return found
        if ref.startswith("#"):
            self.notes.add(f"{where}: {ref} points at nothing; anything is taken to be allowed there.")
        else:
            self.notes.add(f"{where}: {ref} is outside this document and was not fetched; anything is allowed there.")
        return None

    def _find(self, ref: str) -> Json:
        outside, _, fragment = ref.partition("#")
        if not outside and (not fragment or fragment.startswith("/")):
            return walk(self.document, fragment)
        if "/" not in ref and "#" not in ref and "." not in ref:
            return walk(self.document, f"/definitions/{ref}")  # "Pet", as in Swagger 1
        return self._anchored(outside, fragment)

    def _anchored(self, outside: str, fragment: str) -> Json:
        if self._anchors is None:
            self._anchors = dict(_anchors(self.document))
        if not fragment.startswith("/"):
            return self._anchors.get(f"#{fragment}" if fragment else outside, _NOWHERE)
        start = self._anchors.get(outside, _NOWHERE)
        return _NOWHERE if start is _NOWHERE else walk(start, fragment)


def walk(start: Json, pointer: str) -> Json:
    node = start
    for token in pointer.split("/")[1:]:
        node = _step(node, token)
        if node is _NOWHERE:
            break
    return node


def _step(node: Json, token: str) -> Json:
    name = unquote(token).replace("~1", "/").replace("~0", "~")
    if isinstance(node, dict):
        return node[name] if name in node else node.get(token, _NOWHERE)
    if isinstance(node, list) and name.isdecimal() and name.isascii() and len(name) < 10 and int(name) < len(node):
        return node[int(name)]
    return _NOWHERE


def _anchors(document: Json) -> Iterator[tuple[str, Json]]:
    """Every `$id`, `$anchor` and `$dynamicAnchor` (the last ones read as the first)."""
    waiting = [document]
    while waiting:
        node = waiting.pop()
        children = node.values() if isinstance(node, dict) else node
        waiting.extend(child for child in children if isinstance(child, (dict, list)))
        if isinstance(node, dict):
            for key, sign in (("$id", ""), ("$anchor", "#"), ("$dynamicAnchor", "#")):
                if isinstance(name := node.get(key), str):
                    yield f"{sign}{name}", node
