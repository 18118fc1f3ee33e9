"""The example values that a document gives beside a schema."""

from collections.abc import Iterator, Mapping

from whet.skills.api.contract.model import Json
from whet.skills.api.contract.source import Source

MOST_EXAMPLES = 50


def examples(source: Source, node: Mapping[str, Json], where: str) -> tuple[Json, ...]:
    """`example`, `examples` (named, or a plain list) and Swagger's extensions, each value once."""
    found: list[Json] = []
    for value in _values(source, node, where):
        if value not in found:
            found.append(value)
        if len(found) == MOST_EXAMPLES:
            break
    return tuple(found)


def _values(source: Source, node: Mapping[str, Json], where: str) -> Iterator[Json]:
    for key in ("example", "x-example"):
        if key in node:
            yield node[key]
    for key in ("examples", "x-examples"):
        several = node.get(key)
        if isinstance(several, list):
            yield from several
        elif isinstance(several, dict):
            for one in several.values():
                yield from _named(source, one, where)


def _named(source: Source, node: Json, where: str) -> Iterator[Json]:
    if not isinstance(node, dict):
        yield node
        return
    example = source.follow(node, where) or {}
    if "value" in example:
        yield example["value"]
