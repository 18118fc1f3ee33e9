"""The scores as a picture: what stands above our bar is not beaten yet."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.evaluation import CHROMIUM
from benchmarks.ordering_report import BUDGETED, HINDSIGHT, OURS, WHOLE, figure

_ROW, _LEFT, _WIDTH = 19, 175, 460
_SHOWN = (("napfd", "NAPFD in half the time"), ("apfdc", "APFDc of a whole run"))
_HIDDEN = (HINDSIGHT, BUDGETED, WHOLE)
_LEARNERS = ("retecs_tableau", "retecs_network", "coleman_ucb", "coleman_frrmab")
_STYLE = """
:root{color-scheme:light dark;--ink:#1f2937;--faint:#9ca3af;--page:#fff;--ours:#2563eb;--rule:#a8b5c4;--learner:#d99a3c}
@media(prefers-color-scheme:dark){:root{--ink:#e5e7eb;--faint:#6b7280;--page:#111827;--rule:#4b5a6b}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page)}
body{margin:1.5rem auto;max-width:60rem;padding:0 1rem}h1{font-size:1.4rem;margin:0}p{margin:.3rem 0 1rem}
main{display:grid;grid-template-columns:1fr 1fr;gap:1.2rem}figure{margin:0}figcaption{font-weight:600}
text{fill:var(--ink);font-size:12px}.n{text-anchor:end}small{font-weight:400}.b{font-weight:700}svg{max-width:100%}
.ours{fill:var(--ours)}.rule{fill:var(--rule)}.learner{fill:var(--learner)}.top{stroke:var(--ink);stroke-dasharray:4 3}
"""


def draw(told: Mapping[str, Any], page: Path, picture: Path) -> None:
    """The page always; the picture of it where a browser can be had."""
    page.parent.mkdir(exist_ok=True)
    page.write_text(render(told))
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print(f"no chromium here: {picture.name} was not renewed", file=sys.stderr)
        return
    panels = [dataset for dataset in told["datasets"] if dataset["methods"]]
    height = 110 + sum(60 + _ROW * (len(dataset["methods"]) - len(_HIDDEN)) for dataset in panels)
    command = [chromium, *CHROMIUM, f"--screenshot={picture}", f"--window-size=1000,{height}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def render(told: Mapping[str, Any]) -> str:
    panels = "".join(_panel(d, key, title) for d in told["datasets"] if d["methods"] for key, title in _SHOWN)
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>Whet: order</title><style>{_STYLE}</style><h1>How good is the order?</h1>"
        f"<p>Mean over failing cycles, {told['seeds']} replays. <span style='color:var(--ours)'>■</span> ours "
        f"<span style='color:var(--rule)'>■</span> rules of thumb <span style='color:var(--learner)'>■</span> "
        f"published learners; dashed: optimal in hindsight. What stands above ours is not beaten yet.</p>"
        f"<main>{panels}</main></html>"
    )


def _panel(dataset: Mapping[str, Any], key: str, title: str) -> str:
    rows = {name: row[key] for name, row in dataset["methods"].items() if name not in _HIDDEN}
    # Among equals ours stands first: nothing that is no better may look so.
    names = sorted(rows, key=lambda name: (-float(figure(rows[name])), name != OURS))
    bars = "".join(_bar(place, name, rows[name]) for place, name in enumerate(names))
    optimal, height = dataset["methods"][HINDSIGHT][key], _ROW * len(names) + 6
    top = _x(optimal)
    label = escape(f"{title} on {dataset['name']}: " + ", ".join(f"{n} {figure(rows[n])}" for n in names), quote=True)
    return (
        f"<figure><figcaption>{escape(dataset['name'])}: {title} <small>(optimal {optimal:.3f})</small></figcaption>"
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{label}">{bars}'
        f'<line class="top" x1="{top:.1f}" x2="{top:.1f}" y1="0" y2="{height}"/></svg></figure>'
    )


def _bar(place: int, name: str, value: float) -> str:
    y = _ROW * place + 3
    kind = "ours" if name == OURS else "learner" if name in _LEARNERS else "rule"
    weight = " b" if name == OURS else ""
    return (
        f'<text class="n{weight}" x="{_LEFT - 8}" y="{y + 12}">{escape(name)}</text>'
        f'<rect class="{kind}" x="{_LEFT}" y="{y}" width="{max(_x(value) - _LEFT, 0):.1f}" height="{_ROW - 4}" rx="2"/>'
        f'<text class="n{weight}" x="{_WIDTH - 2}" y="{y + 12}">{value:.3f}</text>'
    )


def _x(value: float) -> float:
    return _LEFT + (_WIDTH - 50 - _LEFT) * value
