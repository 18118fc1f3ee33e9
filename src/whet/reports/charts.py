"""Small SVG drawings. Widths are percentages, so that they fit any screen and text keeps its size.

Colours come from the page's style sheet by class; every drawing says in words what it shows.
"""

from collections.abc import Sequence

from markupsafe import Markup

from whet.core.records import Part
from whet.core.text import printable
from whet.reports.model import StepLine, VisitLine
from whet.reports.words import UNKNOWN, percent, points, seconds

_BAR = Markup(
    '<svg class="bar" width="100%" height="10" role="img" aria-label="{label}">'
    '<rect class="track" width="100%" height="10" rx="5"/>{marks}</svg>'
)
_TONES = 8


def bar(fraction: float | None, label: str, colour: str = "accent") -> Markup:
    """A horizontal bar filled to `fraction` of its width; unknown leaves no bar at all, not an empty one."""
    if fraction is None:
        return Markup("")
    width = _clamped(fraction) * 100
    fill = Markup('<rect class="{}" width="{:.2f}%" height="10" rx="5"/>').format(f"tone-{colour}", width)
    return _BAR.format(label=printable(label), marks=fill if width else "")


def interval(value: float | None, low: float | None, high: float | None, label: str) -> Markup:
    """A share with the interval it lies in; without an interval, a bar."""
    if value is None or low is None or high is None:
        return bar(value, label, "flaky")
    marks = Markup(
        '<rect class="range" x="{:.2f}%" width="{:.2f}%" y="2" height="6" rx="3"/>'
        '<circle class="tone-flaky" cx="{:.2f}%" cy="5" r="5"/>'
    ).format(low * 100, max(high - low, 0) * 100, value * 100)
    told = f"{label}, between {percent(low)} and {percent(high)}"
    return _BAR.format(label=printable(told), marks=marks)


def reward_parts(parts: Sequence[Part], largest: float) -> Markup:
    """Gains stacked to the right of the axis, costs to the left; `largest` fills one side."""
    known = [part for part in parts if part.points is not None]
    if not known or largest <= 0:
        return Markup("")
    marks = Markup("").join(_stacked(parts, largest))
    told = ", ".join(f"{part.name} {points(part.weighted())}" for part in known)
    return Markup(
        '<svg class="parts" width="100%" height="14" role="img" aria-label="{}">{}'
        '<rect class="axis" x="50%" width="2" height="14"/></svg>'
    ).format(printable(f"Reward by part: {told}"), marks)


def _stacked(parts: Sequence[Part], largest: float) -> list[Markup]:
    right = left = 50.0
    marks = []
    for position, part in enumerate(parts):
        if not part.weighted():
            continue
        width = abs(part.weighted()) / largest * 50
        left -= width if part.weighted() < 0 else 0
        marks.append(_segment(left if part.weighted() < 0 else right, width, tone(position), part))
        right += width if part.weighted() > 0 else 0
    return marks


def tone(position: int) -> int:
    """The colour of a step's part, the same in its drawing and beside its number."""
    return position % _TONES


def _segment(x: float, width: float, colour: int, part: Part) -> Markup:
    return Markup(
        '<rect class="series-{}" x="{:.2f}%" y="2" width="{:.2f}%" height="10"><title>{} {}</title></rect>'
    ).format(colour, x, width, printable(part.name), points(part.weighted()))


def largest_side(steps: Sequence[StepLine]) -> float:
    """The largest sum of gains or of costs among all steps: the common scale of their drawings."""
    sides = [
        abs(sum(part.weighted() for part in step.parts if (part.weighted() > 0) is gain))
        for step in steps
        for gain in (True, False)
    ]
    return max(sides, default=0.0)


def in_time(step: StepLine, whole_seconds: float) -> Markup:
    """When within the run a step worked."""
    if step.started_seconds is None or step.duration_seconds is None or whole_seconds <= 0:
        return Markup('<span class="unknown">{}</span>').format(UNKNOWN)
    start, width = step.started_seconds / whole_seconds * 100, step.duration_seconds / whole_seconds * 100
    label = f"from {seconds(step.started_seconds)} on, for {seconds(step.duration_seconds)}"
    mark = Markup('<rect class="tone-accent" x="{:.2f}%" width="{:.2f}%" height="10" rx="2"/>').format(
        start, max(width, 0.4)
    )
    return _BAR.format(label=printable(label), marks=mark)


def learning_line(visits: Sequence[VisitLine]) -> Markup:
    """What each visit earned, as a line; visits of unknown worth leave a gap. Empty below two known ones."""
    known = [visit.credited for visit in visits if visit.credited is not None]
    if len(known) < 2:
        return Markup("")
    bottom, top = min(0.0, *known), max(0.0, *known)
    spots = [_spot(position, visit, len(visits), bottom, top) for position, visit in enumerate(visits)]
    return Markup(
        '<svg class="line" width="100%" height="180" role="img" aria-label="{}">'
        '<svg width="100%" height="100%" viewBox="0 0 100 100" preserveAspectRatio="none">'
        '<line class="axis" x1="0" x2="100" y1="{zero:.2f}" y2="{zero:.2f}"/>{}</svg>{}</svg>'
    ).format(
        "Credited reward per visit: " + ", ".join(points(visit.credited) for visit in visits),
        Markup("").join(_polyline(stretch) for stretch in _stretches(spots)),
        Markup("").join(_dot(spot, visit) for spot, visit in zip(spots, visits, strict=True))
        + Markup("").join(_tick(position, visit, len(visits)) for position, visit in enumerate(visits)),
        zero=_height(0.0, bottom, top),
    )


Spot = tuple[float, float] | None


def _spot(position: int, visit: VisitLine, visits: int, bottom: float, top: float) -> Spot:
    if visit.credited is None:
        return None
    return _across(position, visits), _height(visit.credited, bottom, top)


def _across(position: int, visits: int) -> float:
    return 5 + 90 * position / (visits - 1)


def _height(value: float, bottom: float, top: float) -> float:
    span = top - bottom
    return 82 - 64 * ((value - bottom) / span if span else 0.0)


def _stretches(spots: Sequence[Spot]) -> list[list[tuple[float, float]]]:
    stretches: list[list[tuple[float, float]]] = [[]]
    for spot in spots:
        if spot is None:
            stretches.append([])
        else:
            stretches[-1].append(spot)
    return [stretch for stretch in stretches if len(stretch) > 1]


def _polyline(stretch: Sequence[tuple[float, float]]) -> Markup:
    return Markup('<polyline points="{}"/>').format(" ".join(f"{x:.2f},{y:.2f}" for x, y in stretch))


def _dot(spot: Spot, visit: VisitLine) -> Markup:
    if spot is None:
        return Markup("")
    return Markup(
        '<circle cx="{x:.2f}%" cy="{y:.2f}%" r="4"/><text x="{x:.2f}%" y="{y:.2f}%" dy="-10">{}</text>'
    ).format(points(visit.credited), x=spot[0], y=spot[1])


def _tick(position: int, visit: VisitLine, visits: int) -> Markup:
    label = f"visit {visit.number}" if visit.credited is not None else f"visit {visit.number}: {UNKNOWN}"
    return Markup('<text class="tick" x="{:.2f}%" y="97%">{}</text>').format(_across(position, visits), label)


def _clamped(fraction: float) -> float:
    return min(max(fraction, 0.0), 1.0)
