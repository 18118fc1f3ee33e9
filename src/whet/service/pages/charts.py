"""Pictures as SVG. Everything is a percentage of the width, so that they fit any screen and text keeps its size.

Colours come from the style sheet by class; every picture says in words what it shows.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from markupsafe import Markup

from whet.core.text import printable

_TOP, _FLOOR = 10.0, 86.0  # per cent of the height, for the plot; dates are below
_CROWDED = 9.0  # per cent of the height: numbers nearer to each other than this overlap
_NOTHING = Markup("")


class Point(NamedTuple):
    """`value` None: nothing was measured that day."""

    day: date
    value: float | None
    low: float | None = None
    high: float | None = None


class Line(NamedTuple):
    name: str
    points: Sequence[Point]
    tone: int = 0


class Scale(NamedTuple):
    low: float
    high: float

    def height(self, value: float) -> float:
        span = self.high - self.low
        share = (value - self.low) / span if span else 0.5
        return _FLOOR - (_FLOOR - _TOP) * min(max(share, 0.0), 1.0)


def lines(label: str, drawn: Sequence[Line], form: str = "{:.1f}", height: int = 180) -> Markup:
    """Lines over days with their bands; nothing at all below two known points."""
    known = [p for line in drawn for p in line.points if p.value is not None]
    if len(known) < 2:
        return _NOTHING
    scale = _fitting([v for p in known for v in (p.value, p.low, p.high) if v is not None])
    marks = _NOTHING.join(_line(line, scale) for line in drawn)
    return Markup(
        '<svg class="plot" width="100%" height="{}" role="img" aria-label="{}">{}'
        '<svg x="12%" width="86%" height="100%" viewBox="0 0 100 100" preserveAspectRatio="none">{}</svg>{}{}</svg>'
    ).format(
        height,
        printable(_told(label, drawn, form), 2000),
        _grid(scale, form),
        marks,
        _spots(drawn, scale),
        _dates([point for line in drawn for point in line.points]),
    )


def _fitting(values: Sequence[float]) -> Scale:
    low, high = min(values), max(values)
    room = (high - low) * 0.08 or abs(high) * 0.1 or 1.0
    return Scale(low - room, high + room)


def _told(label: str, drawn: Sequence[Line], form: str) -> str:
    """The first and the last known value of each line; the table has the rest."""
    told = []
    for line in drawn:
        known = [p for p in line.points if p.value is not None]
        if known:
            first, last = known[0], known[-1]
            told.append(
                f"{line.name} from {form.format(first.value)} on {first.day} to {form.format(last.value)} on {last.day}"
            )
    return f"{label}: {'; '.join(told)}"


def _grid(scale: Scale, form: str) -> Markup:
    ticks = [scale.low + (scale.high - scale.low) * share for share in (0.05, 0.5, 0.95)]
    if scale.low < 0 < scale.high:
        ends = [tick for tick in (ticks[0], ticks[2]) if abs(scale.height(tick) - scale.height(0.0)) > _CROWDED]
        ticks = [0.0, *ends]
    return _NOTHING.join(
        Markup(
            '<line class="grid{}" x1="12%" x2="98%" y1="{y:.2f}%" y2="{y:.2f}%"/>'
            '<text class="tick end" x="11%" y="{y:.2f}%" dy="4">{}</text>'
        ).format(" zero" if tick == 0 else "", told, y=scale.height(tick))
        for tick, told in zip(ticks, _numbers(ticks, form), strict=True)
    )


def _numbers(ticks: Sequence[float], form: str) -> list[str]:
    """Told apart, also where the usual form would round them to the same."""
    told = [form.format(tick) for tick in ticks]
    return told if len({*told}) == len(told) else [f"{tick:.3g}" for tick in ticks]


def _across(place: int, days: int) -> float:
    return 50.0 if days < 2 else 100.0 * place / (days - 1)


def _line(line: Line, scale: Scale) -> Markup:
    spots = [None if p.value is None else (_across(i, len(line.points)), p) for i, p in enumerate(line.points)]
    return _NOTHING.join(_band(part, line.tone, scale) + _path(part, line.tone, scale) for part in _stretches(spots))


_Spot = tuple[float, Point]


def _stretches(spots: Sequence[_Spot | None]) -> list[list[_Spot]]:
    """Days without a value are bridged when they are few: a weekend is no gap."""
    found: list[list[_Spot]] = [[]]
    missing = 0
    for spot in spots:
        if spot is None:
            missing += 1
            continue
        if missing > 4 and found[-1]:
            found.append([])
        missing = 0
        found[-1].append(spot)
    return [part for part in found if len(part) > 1]


def _path(part: Sequence[_Spot], tone: int, scale: Scale) -> Markup:
    points = " ".join(f"{x:.2f},{scale.height(p.value or 0.0):.2f}" for x, p in part)
    return Markup('<polyline class="stroke-{}" points="{}"/>').format(tone, points)


def _band(part: Sequence[_Spot], tone: int, scale: Scale) -> Markup:
    known = [(x, p.low, p.high) for x, p in part if p.low is not None and p.high is not None]
    if len(known) < 2:
        return _NOTHING
    upper = [f"{x:.2f},{scale.height(high):.2f}" for x, _, high in known]
    lower = [f"{x:.2f},{scale.height(low):.2f}" for x, low, _ in reversed(known)]
    return Markup('<polygon class="band fill-{}" points="{}"/>').format(tone, " ".join(upper + lower))


def _spots(drawn: Sequence[Line], scale: Scale) -> Markup:
    """The last known point of each line, which is what people look for."""
    made = []
    for line in drawn:
        known = [(i, p) for i, p in enumerate(line.points) if p.value is not None]
        if known:
            place, point = known[-1]
            x = 12.0 + 0.86 * _across(place, len(line.points))
            made.append(
                Markup('<circle class="fill-{}" cx="{:.2f}%" cy="{:.2f}%" r="4"/>').format(
                    line.tone, x, scale.height(point.value or 0.0)
                )
            )
    return _NOTHING.join(made)


def _dates(points: Sequence[Point]) -> Markup:
    days = sorted({p.day for p in points})
    return Markup(
        '<text class="tick" x="12%" y="98%">{}</text><text class="tick end" x="98%" y="98%">{}</text>'
    ).format(f"{days[0]:%-d %b}", f"{days[-1]:%-d %b}")


def spark(label: str, points: Sequence[Point]) -> Markup:
    """A line without words, beside a number that has them."""
    known = [p for p in points if p.value is not None]
    if len(known) < 2:
        return _NOTHING
    scale = _fitting([v for p in known for v in (p.value, p.low, p.high) if v is not None])
    return Markup(
        '<svg class="spark" width="100%" height="44" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" '
        'aria-label="{}">{}</svg>'
    ).format(printable(label), _line(Line("", points), scale))


def columns(
    label: str, days: Sequence[date], stacks: Mapping[date, Sequence[tuple[str, int]]], height: int = 180
) -> Markup:
    """Stacked columns by day; nothing at all where there is nothing to stack."""
    most = max((sum(n for _, n in stacks.get(day, ())) for day in days), default=0)
    if not most:
        return _NOTHING
    scale, width = Scale(0.0, float(most)), 86.0 / len(days)
    marks = []
    for place, day in enumerate(days):
        below = 0
        for tone, number in stacks.get(day, ()):
            top, bottom = scale.height(below + number), scale.height(below)
            marks.append(
                Markup(
                    '<rect class="{}" x="{:.2f}%" y="{:.2f}%" width="{:.2f}%" height="{:.2f}%"><title>{}</title></rect>'
                ).format(
                    f"tone-{tone}",
                    12 + place * width + width * 0.12,
                    top,
                    width * 0.76,
                    bottom - top,
                    f"{day}: {number} {tone}",
                )
            )
            below += number
    ticks = Markup(
        '<line class="grid zero" x1="12%" x2="98%" y1="{f}%" y2="{f}%"/>'
        '<text class="tick end" x="11%" y="{f}%" dy="4">0</text>'
        '<text class="tick end" x="11%" y="{t}%" dy="4">{}</text>'
    ).format(most, f=_FLOOR, t=_TOP)
    ends = _dates([Point(days[0], 0.0), Point(days[-1], 0.0)])
    return Markup('<svg class="plot" width="100%" height="{}" role="img" aria-label="{}">{}{}{}</svg>').format(
        height, printable(label), ticks, _NOTHING.join(marks), ends
    )


def bar(share: float | None, label: str, tone: str = "accent") -> Markup:
    """Unknown leaves no bar at all, not an empty one."""
    if share is None:
        return _NOTHING
    width = min(max(share, 0.0), 1.0) * 100
    fill = (
        Markup('<rect class="tone-{}" width="{:.2f}%" height="8" rx="4"/>').format(tone, width) if width else _NOTHING
    )
    return Markup(
        '<svg class="bar" width="100%" height="8" role="img" aria-label="{}">'
        '<rect class="track" width="100%" height="8" rx="4"/>{}</svg>'
    ).format(printable(label), fill)


def interval(low: float, value: float, high: float, scale: Scale, label: str) -> Markup:
    """A value with the interval it lies in, and where nothing would be."""
    span = (scale.high - scale.low) or 1.0

    def across(number: float) -> float:
        return min(max((number - scale.low) / span, 0.0), 1.0) * 100

    sure = "good" if low > 0 else "bad" if high < 0 else "muted"
    return Markup(
        '<svg class="interval" width="100%" height="26" role="img" aria-label="{}">'
        '<line class="grid" x1="0" x2="100%" y1="13" y2="13"/>'
        '<line class="nought" x1="{zero:.2f}%" x2="{zero:.2f}%" y1="1" y2="25"/>'
        '<rect class="tone-{tone} soft" x="{low:.2f}%" width="{width:.2f}%" y="8" height="10" rx="5"/>'
        '<circle class="tone-{tone}" cx="{value:.2f}%" cy="13" r="5"/></svg>'
    ).format(
        printable(label),
        zero=across(0.0),
        tone=sure,
        low=across(low),
        width=max(across(high) - across(low), 0.5),
        value=across(value),
    )
