"""The learned dependencies as a drawing: who answers a value on the left, who takes it on the right.

An operation that does both stands on both sides, so that every line runs the same way. Of hundreds of lines nothing
could be read: the strongest of every consumer are drawn, and how many are left out is said.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from whet.core.text import printable
from whet.reports.api.model import EdgeLine
from whet.reports.api.words import evidence
from whet.reports.words import percent

MOST_EDGES = 40
_ROW, _GROUP_GAP, _TOP = 22, 26, 26
_BETWEEN, _EDGE, _CHARACTER = 320, 8, 8.0
_LONGEST_NAME = 42
_TONES = 8


class Placed(NamedTuple):
    """One column: the height of every operation, the heights of the groups' titles, and how tall it is."""

    nodes: Mapping[str, float]
    titles: Sequence[tuple[float, str]]
    height: float

    @property
    def width(self) -> float:
        texts = [*map(_cut, self.nodes), *(group for _, group in self.titles)]
        return max(min(len(text), _LONGEST_NAME) for text in texts) * _CHARACTER + _EDGE


def strongest(edges: Iterable[EdgeLine], most: int = MOST_EDGES) -> list[EdgeLine]:
    """The best edge of each consumer's slot first, then the others."""
    ranked = sorted(edges, key=_strength)
    firsts: dict[tuple[str, str], EdgeLine] = {}
    for edge in ranked:
        firsts.setdefault((edge.consumer, edge.slot), edge)
    chosen = [*firsts.values(), *(edge for edge in ranked if firsts[edge.consumer, edge.slot] is not edge)]
    return chosen[:most]


def _strength(edge: EdgeLine) -> tuple[float, int, str, str]:
    return -(edge.probability or 0.0), -edge.worked, edge.consumer, edge.slot


def dependency_graph(edges: Sequence[EdgeLine], groups: Mapping[str, str]) -> Markup:
    """`groups` names the group of each operation (a tag or the beginning of its path)."""
    shown = strongest(edges)
    if not shown:
        return Markup("")
    left = _column(_sides(shown, "producer"), groups, {})
    right = _column(_sides(shown, "consumer"), groups, _pulls(shown, left.nodes))
    spare = (right.height - left.height) / len(left.titles)
    left = _column(list(left.nodes), groups, {}, gap=_GROUP_GAP + max(spare, 0.0))
    colours = dict.fromkeys(_group(edge.producer, groups) for edge in shown)
    tones = {group: number % _TONES for number, group in enumerate(colours)}
    start, end = left.width, left.width + _BETWEEN
    lines = [
        _line(
            edge,
            (start, left.nodes[edge.producer]),
            (end, right.nodes[edge.consumer]),
            tones[_group(edge.producer, groups)],
        )
        for edge in reversed(shown)
    ]
    told = f"{len(shown)} of {len(edges)} learned dependencies between operations; the table below names them."
    return Markup(
        '<svg class="graph" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" role="img" aria-label="{2}">{3}</svg>'
    ).format(
        end + right.width,
        max(left.height, right.height),
        told,
        Markup("").join([*lines, *_names(left, start, "end"), *_names(right, end, "start")]),
    )


def _sides(edges: Sequence[EdgeLine], side: str) -> list[str]:
    return list(dict.fromkeys(getattr(edge, side) for edge in edges))


def _group(operation: str, groups: Mapping[str, str]) -> str:
    """Its tag; without one, the first part of its path."""
    return groups.get(operation) or "/".join(operation.partition(" ")[2].split("/")[:2])


def _pulls(edges: Sequence[EdgeLine], left: Mapping[str, float]) -> dict[str, float]:
    """The mean height of what a consumer takes from: the order in which few lines cross."""
    heights: dict[str, list[float]] = {}
    for edge in edges:
        heights.setdefault(edge.consumer, []).append(left[edge.producer])
    return {operation: sum(each) / len(each) for operation, each in heights.items()}


def _column(
    operations: Sequence[str], groups: Mapping[str, str], pulls: Mapping[str, float], gap: float = _GROUP_GAP
) -> Placed:
    members: dict[str, list[str]] = {}
    for operation in sorted(operations, key=lambda each: (pulls.get(each, 0.0), each)):
        members.setdefault(_group(operation, groups), []).append(operation)
    means = {group: sum(pulls.get(each, 0.0) for each in own) / len(own) for group, own in members.items()}
    nodes: dict[str, float] = {}
    titles = []
    y = float(_TOP)
    for group in sorted(members, key=lambda each: (means[each], each)):
        titles.append((y, group))
        for operation in members[group]:
            y += _ROW
            nodes[operation] = y
        y += gap
    return Placed(nodes, titles, y - gap + _ROW)


def _line(edge: EdgeLine, start: tuple[float, float], end: tuple[float, float], tone: int) -> Markup:
    (x1, y1), (x2, y2) = (start[0] + _EDGE, start[1] - 4), (end[0] - _EDGE, end[1] - 4)
    path = f"M{x1:.0f} {y1:.0f}C{(x1 + x2) / 2:.0f} {y1:.0f} {(x1 + x2) / 2:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    return Markup('<path class="edge-{}" stroke-width="{:.1f}" d="{}"><title>{}</title></path>').format(
        tone, 1 + 2.5 * (edge.probability or 0.0), path, told(edge)
    )


def told(edge: EdgeLine) -> str:
    flow = f"{edge.producer} {edge.field} → {edge.consumer} {edge.slot}"
    return printable(f"{flow}: {percent(edge.probability)}, {evidence(edge)}")


def _names(column: Placed, x: float, anchor: str) -> Iterator[Markup]:
    title = Markup('<text class="group" x="{:.0f}" y="{:.0f}" text-anchor="{}">{}</text>')
    node = Markup('<text x="{:.0f}" y="{:.0f}" text-anchor="{}"><title>{}</title>{}</text>')
    for y, group in column.titles:
        yield title.format(x, y, anchor, printable(group, _LONGEST_NAME))
    for operation, y in column.nodes.items():
        yield node.format(x, y, anchor, printable(operation), _cut(operation))


def _cut(operation: str) -> str:
    """Without its middle when it is long: the end of a path tells more than its middle."""
    shown = printable(operation)
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[: _LONGEST_NAME - 13]}…{shown[-12:]}"
