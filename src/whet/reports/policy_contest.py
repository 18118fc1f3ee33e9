"""The contest of policies as one page: all worlds together, how honest stated confidence is, and each world."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from whet.reports.curves import COLOURS, HEIGHT, STYLE, WIDTH, axes, band, world_figure

_LEFT, _TOP, _SIDE = 40, 8, 164
_MORE = "table{border-collapse:collapse;margin:1rem 0}td,th{padding:.2rem .8rem;text-align:left}th{font-weight:600}"


def render_contest(told: Mapping[str, Any]) -> str:
    """One self-contained page for the JSON that `whet bench policies --format json` prints."""
    says = "".join(f"<li>{escape(line)}</li>" for line in told["says"])
    figures = _together(told["policies"]) + _honesty(told["policies"]) + "".join(map(world_figure, told["worlds"]))
    kind = "not used for tuning" if told["held_out"] else "of which some were used for tuning: no proof"
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>Whet: which policy</title><style>{STYLE}{_MORE}</style><h1>Which policy is worth using where?</h1>"
        f"<p>{told['decisions']} decisions in each of {len(told['worlds'])} worlds ({kind}), {told['seeds']} seeds; "
        f"deep policies were trained on other worlds for {told['training_steps']:,} steps. Bands: 95 %.</p>"
        f"{_table(told)}<ul>{says}</ul><main>{figures}</main></html>"
    )


def _table(told: Mapping[str, Any]) -> str:
    heads = (
        "policy", "right, of all", f"against {told['default']}", "at first", "at last", "calibration error",
        "by chance", "decisions",
    )  # fmt: skip
    rows = [
        (
            p["policy"], _share(p["whole"]), _share(p["against_default"]), _share(p["at_first"]),
            _share(p["at_last"]), f"{p['calibration_error']:.3f}", f"{p['chance_error']:.3f}", f"{p['decisions']:,}",
        )
        for p in told["policies"]
    ]  # fmt: skip
    rows += [(b["policy"], _share(b["whole"]), *[""] * 6) for b in told["baselines"]]
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _share(told: Mapping[str, Any] | None) -> str:
    if told is None:
        return ""
    return f"{told['share']:.1%}" + ("" if told["half_width"] is None else f" ± {told['half_width']:.1%}")


def _together(policies: Sequence[Mapping[str, Any]]) -> str:
    lines = "".join(band(p["curve"], colour) for p, colour in zip(policies, COLOURS, strict=False))
    return _figure("All worlds: share of right decisions", axes(policies[0]["curve"]) + lines, policies)


def _honesty(policies: Sequence[Mapping[str, Any]]) -> str:
    """Stated confidence against the share that was right: on the diagonal it is what it says."""
    marks = "".join(
        f"<circle cx='{_x(r['confidence']):.1f}' cy='{_y(r['right']):.1f}' r='{_radius(r, p):.1f}' fill='{colour}' "
        f"opacity='0.6'><title>{escape(p['policy'])}: {r['decisions']} decisions, stated {r['confidence']:.0%}, "
        f"right {r['right']:.0%}</title></circle>"
        for p, colour in zip(policies, COLOURS, strict=False)
        for r in p["reliability"]
    )
    frame = (
        f"<line class='base' x1='{_x(0)}' y1='{_y(0)}' x2='{_x(1)}' y2='{_y(1)}'/>"
        f"<line class='axis' x1='{_x(0)}' y1='{_y(0)}' x2='{_x(1)}' y2='{_y(0)}'/>"
        f"<line class='axis' x1='{_x(0)}' y1='{_y(0)}' x2='{_x(0)}' y2='{_y(1)}'/>"
        f"<text x='4' y='{_y(1) + 4}'>100%</text><text x='4' y='{_y(0) + 4}'>0%</text>"
        f"<text x='{_x(0)}' y='{_y(0) + 16}'>stated confidence 0%</text>"
        f"<text x='{_x(1) - 30}' y='{_y(0) + 16}'>100%</text>"
    )
    return _figure("Stated confidence (across) and share that was right (up)", frame + marks, policies)


def _figure(title: str, drawing: str, policies: Sequence[Mapping[str, Any]]) -> str:
    legend = " ".join(
        f"<span style='color:{colour}'>■</span> {escape(p['policy'])}"
        for p, colour in zip(policies, COLOURS, strict=False)
    )
    return (
        f"<figure><figcaption>{escape(title)}</figcaption>"
        f"<svg viewBox='0 0 {WIDTH} {HEIGHT}' role='img' aria-label='{escape(title)}'>{drawing}</svg>"
        f"<div>{legend}</div></figure>"
    )


def _radius(told: Mapping[str, Any], policy: Mapping[str, Any]) -> float:
    total = sum(each["decisions"] for each in policy["reliability"])
    return float(2.0 + 10.0 * (told["decisions"] / total) ** 0.5)


def _x(share: float) -> float:
    return _LEFT + (WIDTH - 8 - _LEFT) * share


def _y(share: float) -> float:
    return _TOP + _SIDE * (1.0 - share)
