"""Production's reward day by day, with what happened marked."""

from collections.abc import Sequence
from html import escape
from itertools import accumulate
from textwrap import wrap
from typing import NamedTuple

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _LINE = 960, 300, 56, 16, 24, 18
_LETTERS = 120  # that fit into a line below the picture, whatever the system's font
_COLOURS = {
    "production": "#15803d",
    "canary": "#2563eb",
    "rejected": "#b45309",
    "rolled-back": "#b91c1c",
    "drift": "#7c3aed",
}


class Day(NamedTuple):
    number: int
    reward: float


class Event(NamedTuple):
    day: int
    told: str
    kind: str


def chart(days: Sequence[Day], events: Sequence[Event]) -> str:
    """A picture that stands alone; events are numbered in it and told below, each in as many lines as it takes."""
    shown = [event for event in events if event.kind in _COLOURS]
    told = [wrap(f"day {event.day}: {event.told}", _LETTERS) for event in shown]
    before = list(accumulate(map(len, told), initial=0))
    low, high = min(day.reward for day in days), max(day.reward for day in days)
    room = (high - low) * 0.1 or 1.0
    scale = _Scale(len(days), low - room, high + room)
    height = _HEIGHT + _LINE * (before[-1] + 1)
    marks = "".join(_mark(place, event, scale) for place, event in enumerate(shown, start=1))
    legend = "".join(_entry(place, *each) for place, each in enumerate(zip(shown, told, before, strict=False), start=1))
    line = " ".join(f"{scale.x(day.number):.1f},{scale.y(day.reward):.1f}" for day in days)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {height}' role='img' "
        f"aria-label='Mean reward of a day&apos;s decisions over {len(days)} days'>"
        "<style>text{font:12px system-ui,sans-serif;fill:#374151}.faint{fill:#6b7280}</style>"
        f"<rect width='100%' height='100%' fill='#fff'/>{_axes(scale, low, high)}"
        f"<polyline points='{line}' fill='none' stroke='#111827' stroke-width='2'/>"
        f"{marks}{legend}</svg>\n"
    )


class _Scale(NamedTuple):
    days: int
    low: float
    high: float

    def x(self, day: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (day + 0.5) / self.days

    def y(self, reward: float) -> float:
        return _HEIGHT - 40 - (_HEIGHT - 40 - _TOP) * (reward - self.low) / (self.high - self.low)


def _axes(scale: _Scale, low: float, high: float) -> str:
    levels = "".join(
        f"<line x1='{_LEFT}' x2='{_WIDTH - _RIGHT}' y1='{scale.y(v):.1f}' y2='{scale.y(v):.1f}' stroke='#e5e7eb'/>"
        f"<text class='faint' x='{_LEFT - 6}' y='{scale.y(v) + 4:.1f}' text-anchor='end'>{v:.1f}</text>"
        for v in (low, (low + high) / 2, high)
    )
    weeks = "".join(
        f"<text class='faint' x='{scale.x(day):.1f}' y='{_HEIGHT - 18}' text-anchor='middle'>day {day}</text>"
        for day in range(0, scale.days, 7)
    )
    return f"{levels}{weeks}<text x='{_LEFT}' y='14'>mean credited reward of all decisions of a day</text>"


def _mark(place: int, event: Event, scale: _Scale) -> str:
    colour, x, y = _COLOURS[event.kind], scale.x(event.day + 0.5), _TOP + _LINE * (place % 4)
    return (
        f"<line x1='{x:.1f}' x2='{x:.1f}' y1='{_TOP}' y2='{_HEIGHT - 40}' stroke='{colour}' stroke-dasharray='3 3'/>"
        f"{_number(place, colour, x, y)}"
    )


def _entry(place: int, event: Event, lines: Sequence[str], before: int) -> str:
    """So many lines stand above it."""
    y = _HEIGHT + _LINE * (before + 1) - 4
    told = "".join(
        f"<text x='{_LEFT - 14}' y='{y + _LINE * number}'>{escape(line)}</text>" for number, line in enumerate(lines)
    )
    return _number(place, _COLOURS[event.kind], _LEFT - 30, y - 4) + told


def _number(place: int, colour: str, x: float, y: float) -> str:
    return (
        f"<circle cx='{x:.1f}' cy='{y}' r='8' fill='{colour}'/>"
        f"<text x='{x:.1f}' y='{y + 4}' text-anchor='middle' style='fill:#fff'>{place}</text>"
    )
