"""Learning curves as a page: share of right decisions over time, with confidence bands, against the baselines."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

WIDTH, HEIGHT = 420, 200
_LEFT, _BOTTOM = 40, 28
COLOURS = ("#2563eb", "#d97706", "#059669", "#7c3aed")
STYLE = """
:root{color-scheme:light dark;--ink:#1f2937;--faint:#9ca3af;--page:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e5e7eb;--faint:#6b7280;--page:#111827}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page)}
body{margin:2rem auto;max-width:72rem;padding:0 1rem}
main{display:grid;grid-template-columns:repeat(auto-fill,minmax(26rem,1fr));gap:1.5rem}
figure{margin:0}figcaption{font-weight:600}text{fill:var(--ink);font-size:11px}svg{max-width:100%}
.axis{stroke:var(--faint)}.base{stroke:var(--faint);stroke-dasharray:4 3}small{color:var(--faint)}
"""


def render_curves(told: Mapping[str, Any]) -> str:
    """One self-contained page for the JSON that `whet eval --format json` prints."""
    figures = "".join(world_figure(world) for world in told["worlds"])
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>Whet: learning curves</title><style>{STYLE}</style><h1>Does learning pay?</h1>"
        f"<p>Share of right decisions (within 5 % of the best action's true mean reward) over "
        f"{told['decisions']} decisions, mean of {told['seeds']} seeds with 95 % bands. Dashed: random choice, and the "
        f"best static action in hindsight. On worlds not used for tuning: {told['decision_accuracy']:.1%} right.</p>"
        f"<main>{figures}</main></html>"
    )


def world_figure(world: Mapping[str, Any]) -> str:
    lines = "".join(band(p["curve"], colour) for p, colour in zip(world["learned"], COLOURS, strict=False))
    lines += _level(world["random"]["accuracy"], "random") + _level(world["best_static"]["accuracy"], "best static")
    legend = " ".join(
        f"<span style='color:{colour}'>■</span> {escape(p['policy'])} {p['accuracy']:.0%}"
        for p, colour in zip(world["learned"], COLOURS, strict=False)
    )
    tuning = " <small>(used for tuning)</small>" if world["used_for_tuning"] else ""
    frame = axes(world["learned"][0]["curve"])
    label = escape(f"Learning curves on {world['world']}")
    return (
        f"<figure><figcaption>{escape(world['world'])}{tuning}</figcaption>"
        f"<svg viewBox='0 0 {WIDTH} {HEIGHT}' role='img' aria-label='{label}'>{frame}{lines}</svg>"
        f"<div>{legend}</div></figure>"
    )


def axes(curve: Mapping[str, Sequence[Any]]) -> str:
    last = curve["decisions"][-1]
    ticks = "".join(f"<text x='4' y='{_y(share) + 4:.1f}'>{share:.0%}</text>" for share in (0.0, 0.5, 1.0))
    return (
        f"<line class='axis' x1='{_LEFT}' x2='{_LEFT}' y1='{_y(0):.1f}' y2='{_y(1):.1f}'/>"
        f"<line class='axis' x1='{_LEFT}' x2='{WIDTH - 8}' y1='{_y(0):.1f}' y2='{_y(0):.1f}'/>{ticks}"
        f"<text x='{_LEFT}' y='{HEIGHT - 8}'>0</text><text x='{WIDTH - 90}' y='{HEIGHT - 8}'>{last} decisions</text>"
    )


def band(curve: Mapping[str, Sequence[Any]], colour: str) -> str:
    last = curve["decisions"][-1]
    widths = [width or 0.0 for width in curve["half_width"]]
    rows = list(zip(curve["decisions"], curve["accuracy"], widths, strict=True))
    upper = [f"{_x(d, last):.1f},{_y(a + h):.1f}" for d, a, h in rows]
    lower = [f"{_x(d, last):.1f},{_y(a - h):.1f}" for d, a, h in reversed(rows)]
    middle = " ".join(f"{_x(d, last):.1f},{_y(a):.1f}" for d, a, _ in rows)
    return (
        f"<polygon points='{' '.join(upper + lower)}' fill='{colour}' opacity='0.15'/>"
        f"<polyline points='{middle}' fill='none' stroke='{colour}' stroke-width='2'/>"
    )


def _level(accuracy: float, name: str) -> str:
    y = _y(accuracy)
    text_y = y + 12 if accuracy > 0.9 else y - 3  # above the line there is no room at the top
    return (
        f"<line class='base' x1='{_LEFT}' x2='{WIDTH - 8}' y1='{y:.1f}' y2='{y:.1f}'/>"
        f"<text x='{WIDTH - 70}' y='{text_y:.1f}'>{name}</text>"
    )


def _x(decision: float, last: float) -> float:
    return _LEFT + (WIDTH - 8 - _LEFT) * decision / last


def _y(share: float) -> float:
    inside = min(max(share, 0.0), 1.0)
    return (HEIGHT - _BOTTOM) - (HEIGHT - _BOTTOM - 8) * inside
