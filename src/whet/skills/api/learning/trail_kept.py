"""A trail between runs, as JSON. What cannot be read any more, or was hidden because it held a secret, is left out."""

from collections.abc import Mapping
from typing import Any

from whet.skills.api.contract.model import Contract
from whet.skills.api.learning.portable import pack_draft, unpack_draft
from whet.skills.api.learning.trail import Given, Trail, TrailStep, Way
from whet.skills.api.values.slots import Source

_SOURCES = frozenset(Source)
_PLACES = frozenset({"path", "query", "header", "cookie", "body", "extra"})


def pack_trail(trail: Trail) -> dict[str, Any]:
    return {
        "steps": {key: _packed(step) for key, step in trail.walked().items()},
        "ways": [[way.operation, way.sign, way.step, way.at, way.missed] for way in trail.ways.values()],
    }


def restore_trail(trail: Trail, kept: Mapping[str, Any], contract: Contract) -> None:
    for key, packed in kept.get("steps", {}).items():
        step = _step(packed, contract)
        if step is not None:
            trail.steps[key] = step
    for operation, sign, step, at, missed in kept.get("ways", ()):
        if step in trail.steps and trail.steps[step].draft.operation.id == operation:
            trail.know(Way(operation, sign, step, at, missed))


def merge_trails(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both; of two ways to the same the one that was missed less, then the earlier."""
    ways: dict[tuple[str, str], list[Any]] = {}
    for way in (*one.get("ways", ()), *other.get("ways", ())):
        name = (way[0], way[1])
        ways[name] = min(ways.get(name, way), way, key=lambda one: (one[4], one[3], one[2]))
    steps = {**one.get("steps", {}), **other.get("steps", {})}
    return {"steps": dict(sorted(steps.items())), "ways": [ways[name] for name in sorted(ways)]}


def _packed(step: TrailStep) -> dict[str, Any]:
    return {
        "draft": pack_draft(step.draft),
        "sources": dict(step.sources),
        "given": [[list(one.place), one.source, list(one.leaf)] for one in step.given],
        "after": list(step.after),
    }


def _step(packed: Mapping[str, Any], contract: Contract) -> TrailStep | None:
    draft = unpack_draft(packed["draft"], contract)
    if draft is None:
        return None
    sources = {place: Source(name) for place, name in packed["sources"].items() if name in _SOURCES}
    given = [Given(tuple(place), source, tuple(leaf)) for place, source, leaf in packed["given"] if place[0] in _PLACES]
    return TrailStep(draft, sources, tuple(given), tuple(packed["after"]))
