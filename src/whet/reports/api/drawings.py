"""The curve of a run as a small SVG, in the manner of `whet.reports.charts`."""

from collections.abc import Callable, Sequence

from markupsafe import Markup

from whet.reports.api.model import CurvePoint

# In percent of the drawing: what is left of, and below, the lines is for the numbers at their ends.
_LEFT, _RIGHT, _TOP, _BOTTOM = 2.0, 88.0, 8.0, 84.0
_LABEL = 9.0


def curve(points: Sequence[CurvePoint], operations: int) -> Markup:
    """Operations reached and faults found over requests, each on its own height. Empty below two points."""
    if len(points) < 2:
        return Markup("")
    last = points[-1]
    told = (
        f"After {last.requests} requests {last.operations} of {operations} operations had answered 2xx "
        f"and {last.faults} faults had been found."
    )
    most_faults = max(point.faults for point in points)
    lines = [
        _line(points, lambda point: point.operations, max(operations, 1), "reached"),
        _line(points, lambda point: point.faults, max(most_faults, 1), "faults"),
    ]
    return Markup(
        '<svg class="curve" width="100%" height="220" role="img" aria-label="{}">'
        '<svg width="100%" height="100%" viewBox="0 0 100 100" preserveAspectRatio="none">'
        '<line class="axis" x1="{}" x2="{}" y1="{bottom}" y2="{bottom}"/>{}</svg>{}{}</svg>'
    ).format(
        told, _LEFT, _RIGHT, Markup("").join(lines), _ends(last, operations, most_faults), _ticks(last), bottom=_BOTTOM
    )


def _line(points: Sequence[CurvePoint], of: Callable[[CurvePoint], int], top: int, name: str) -> Markup:
    """Steps: what was found by a request stays found."""
    most = max(points[-1].requests, 1)
    spots: list[str] = []
    height = _BOTTOM
    for point in points:
        across = _LEFT + (_RIGHT - _LEFT) * point.requests / most
        spots.append(f"{across:.2f},{height:.2f}")
        height = _height(of(point), top)
        spots.append(f"{across:.2f},{height:.2f}")
    return Markup('<polyline class="{}" points="{}"/>').format(name, " ".join(spots))


def _height(value: int, top: int) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * value / top


def _ends(last: CurvePoint, operations: int, most_faults: int) -> Markup:
    """Both numbers at the right end, moved apart where they would cover each other."""
    reached = _height(last.operations, max(operations, 1))
    faults = _height(last.faults, max(most_faults, 1))
    if reached < faults:
        faults = max(faults, reached + _LABEL)
    else:
        reached = max(reached, faults + _LABEL)
    mark = Markup('<text class="{}" x="{}%" y="{:.2f}%" dx="8" dy="4">{} {}</text>')
    words = ("operation", "operations"), ("fault", "faults")
    shown = [mark.format("reached", _RIGHT, reached, last.operations, words[0][last.operations != 1])]
    shown.append(mark.format("faults", _RIGHT, faults, last.faults, words[1][last.faults != 1]))
    return Markup("").join(shown)


def _ticks(last: CurvePoint) -> Markup:
    spots = [(_LEFT, "0", "start"), ((_LEFT + _RIGHT) / 2, f"{last.requests // 2:,}", "middle")]
    spots.append((_RIGHT, f"{last.requests:,} requests", "end"))
    return Markup("").join(
        Markup('<text class="tick" x="{:.2f}%" y="96%" text-anchor="{}">{}</text>').format(x, anchor, text)
        for x, text, anchor in spots
    )
