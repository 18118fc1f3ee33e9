"""The course of a training as one page: no script, no request, light and dark."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from whet.core.text import printable

Row = Mapping[str, float]
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 420, 210, 58, 12, 12, 30
_TICKS = 4
_STYLE = """
:root{color-scheme:light dark;--ink:#1f2937;--faint:#6b7280;--page:#fff;--grid:#e5e7eb;--one:#2563eb;--two:#b45309}
@media(prefers-color-scheme:dark){
:root{--ink:#e5e7eb;--faint:#9ca3af;--page:#111827;--grid:#374151;--one:#60a5fa;--two:#fbbf24}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page)}
body{margin:2rem auto;max-width:86rem;padding:0 1rem}h1{font-size:1.4rem;margin:0}
main{display:grid;grid-template-columns:repeat(auto-fill,minmax(22rem,1fr));gap:1.5rem;margin-top:1.5rem}
figure{margin:0}figcaption{font-weight:600}figcaption small{font-weight:400}small,p{color:var(--faint)}
svg{width:100%}text{fill:var(--faint);font-size:11px}.grid{stroke:var(--grid)}
.raw,.mean{fill:none;stroke-linejoin:round}.raw{opacity:.3}.mean{stroke-width:2}
.one{stroke:var(--one)}.two{stroke:var(--two)}.one-ink{color:var(--one)}.two-ink{color:var(--two)}
.none{border:1px dashed var(--grid);padding:2rem;text-align:center}
"""

_ALONE = (
    "text{fill:#6b7280;font:11px system-ui,sans-serif}.grid{stroke:#e5e7eb}.raw,.mean{fill:none;stroke:#2563eb}"
    ".raw{opacity:.3}.mean{stroke-width:2}"
)


class Panel(NamedTuple):
    """`measures` are tried in this order; those that were measured are drawn, at most two."""

    title: str
    unit: str
    measures: tuple[str, ...]
    always: bool = True


PANELS = (
    Panel("Episode reward", "credited points, mean of the episodes since the last point", ("episode_reward",)),
    Panel("Episode length", "decisions", ("episode_length",)),
    Panel("Loss", "of the updates", ("loss", "policy_loss", "value_loss")),
    Panel("Value", "what actions taken (Q) or states (V) are thought to be worth", ("q_value", "value")),
    Panel("ε", "share of decisions made at random", ("epsilon",)),
    Panel("Learning rate", "", ("learning_rate",)),
    Panel("How far off", "TD error in points, or the share of variance the critic explains",
          ("td_error", "explained_variance"), always=False),
    Panel("How open it is", "entropy of the policy in nats", ("entropy",), always=False),
)  # fmt: skip


def render_training(title: str, told: str, rows: Sequence[Row]) -> str:
    figures = "".join(_figure(panel, rows) for panel in PANELS)
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>{escape(printable(title))}</title><style>{_STYLE}</style><h1>{escape(printable(title))}</h1>"
        f"<p>{escape(printable(told, 1000))} Thin: as measured. Thick: a moving mean.</p><main>{figures}</main></html>"
    )


def render_curve(title: str, rows: Sequence[Row], measure: str = "episode_reward") -> str:
    """One measure as a picture that stands alone, for whoever shows files."""
    points = [(row["step"], row[measure]) for row in rows if measure in row]
    drawn = _drawing([points]) if points else f"<text x='{_LEFT}' y='{_HEIGHT // 2}'>not measured</text>"
    told = escape(f"{printable(title)}: {measure.replace('_', ' ')}")
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {_HEIGHT}' role='img' aria-label='{told}'>"
        f"<style>{_ALONE}</style><rect width='100%' height='100%' fill='#fff'/>{drawn}"
        f"<text x='{_LEFT}' y='{_TOP}'>{told}</text></svg>\n"
    )


def _figure(panel: Panel, rows: Sequence[Row]) -> str:
    found = [name for name in panel.measures if any(name in row for row in rows)][:2]
    caption = f"<figcaption>{panel.title} <small>{panel.unit}</small></figcaption>"
    if not found and not panel.always:
        return ""
    if not found:
        return f"<figure>{caption}<p class='none'>not measured: this learner has none</p></figure>"
    series = [[(row["step"], row[name]) for row in rows if name in row] for name in found]
    label = "; ".join(
        f"{name} from {each[0][1]:.3g} to {each[-1][1]:.3g}" for name, each in zip(found, series, strict=True)
    )
    return (
        f"<figure>{caption}<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' role='img' aria-label='{escape(label)}'>"
        f"{_drawing(series)}</svg><div>{_legend(found, series)}</div></figure>"
    )


def _legend(names: Sequence[str], series: Sequence[Sequence[tuple[float, float]]]) -> str:
    tones = ("one", "two")
    return " ".join(
        f"<span class='{tone}-ink'>■</span> {escape(name.replace('_', ' '))} <small>last {each[-1][1]:.3g}</small>"
        for name, each, tone in zip(names, series, tones, strict=False)
    )


def _drawing(series: Sequence[Sequence[tuple[float, float]]]) -> str:
    ticks = _ticks([value for each in series for _, value in each])
    last = max(step for each in series for step, _ in each)
    lines = "".join(_line(each, tone, last, ticks) for each, tone in zip(series, ("one", "two"), strict=False))
    return _axes(ticks, last) + lines


def _line(points: Sequence[tuple[float, float]], tone: str, last: float, ticks: Sequence[float]) -> str:
    drawn = [
        " ".join(f"{_x(step, last):.1f},{_y(value, ticks):.1f}" for step, value in each)
        for each in (points, _moving(points))
    ]
    return f"<polyline class='raw {tone}' points='{drawn[0]}'/><polyline class='mean {tone}' points='{drawn[1]}'/>"


def _moving(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The mean of a twentieth of all points, up to each."""
    width = max(1, len(points) // 20)
    told = []
    for place, (step, _) in enumerate(points):
        window = [value for _, value in points[max(0, place - width + 1) : place + 1]]
        told.append((step, math.fsum(window) / len(window)))
    return told


def _ticks(values: Sequence[float]) -> list[float]:
    """Round numbers around everything that is drawn."""
    low, high = min(values), max(values)
    span = high - low or abs(high) or 1.0
    step = 10.0 ** math.floor(math.log10(span / _TICKS))
    step *= next(factor for factor in (1, 2, 5, 10) if factor * step >= span / _TICKS)
    first = math.floor(low / step)
    return [number * step for number in range(first, max(math.ceil(high / step), first + 1) + 1)]


def _axes(ticks: Sequence[float], last: float) -> str:
    lines = "".join(
        f"<line class='grid' x1='{_LEFT}' x2='{_WIDTH - _RIGHT}' y1='{y:.1f}' y2='{y:.1f}'/>"
        f"<text x='{_LEFT - 6}' y='{y + 4:.1f}' text-anchor='end'>{tick:.4g}</text>"
        for tick, y in ((tick, _y(tick, ticks)) for tick in ticks)
    )
    bottom = _HEIGHT - 8
    return (
        f"{lines}<text x='{_LEFT}' y='{bottom}'>0</text>"
        f"<text x='{_WIDTH - _RIGHT}' y='{bottom}' text-anchor='end'>{last:,.0f} steps</text>"
    )


def _x(step: float, last: float) -> float:
    return _LEFT + (_WIDTH - _RIGHT - _LEFT) * step / last


def _y(value: float, ticks: Sequence[float]) -> float:
    inside = (value - ticks[0]) / (ticks[-1] - ticks[0])
    return (_HEIGHT - _BOTTOM) - (_HEIGHT - _BOTTOM - _TOP) * inside
