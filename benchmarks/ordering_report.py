"""The measured figures as text for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Rows = Mapping[str, Mapping[str, float]]
OURS, HINDSIGHT = "whet", "optimal"
BUDGETED, WHOLE = "whet_within_budget", "whet_whole_run"  # the two orders that `whet` is made of
DEVIATING = (OURS, "decay")
NO_RIVAL = (OURS, BUDGETED, WHOLE, HINDSIGHT)


class Measure(NamedTuple):
    key: str
    title: str
    more_is_better: bool


MEASURES = (
    Measure("napfd", "NAPFD@50%", True),
    Measure("apfd", "APFD", True),
    Measure("apfdc", "APFDc", True),
    Measure("first_time", "1st failure", False),
)


def figure(value: float) -> str:
    """As it is shown: what does not show is no difference."""
    return f"{value:.4f}"


def best(rows: Rows, measure: Measure) -> str:
    """The best figure any method that cannot look ahead has."""
    shown = [figure(row[measure.key]) for name, row in rows.items() if name != HINDSIGHT]
    return max(shown) if measure.more_is_better else min(shown)


def not_beaten(rows: Rows) -> dict[str, list[str]]:
    """By measure, the methods that are better than ours, the best of them first."""
    found = {}
    for measure in MEASURES:
        ours = figure(rows[OURS][measure.key])
        rivals = {name: figure(row[measure.key]) for name, row in rows.items() if name not in NO_RIVAL}
        better = [name for name, shown in rivals.items() if _better(shown, ours, measure)]
        better.sort(key=lambda name: rows[name][measure.key], reverse=measure.more_is_better)
        if better:
            found[measure.key] = better
    return found


def _better(one: str, other: str, measure: Measure) -> bool:
    return one > other if measure.more_is_better else one < other


def told_plainly(dataset: Mapping[str, Any]) -> str:
    lines = [f"\n{dataset['name']}: {_extent(dataset)}"]
    if not dataset["failing_cycles"]:
        return "\n".join([*lines, "  no cycle failed: every order is as good as any other, nothing is scored"])
    for title, key in _parts(dataset):
        rows = dataset[key]
        lines += ["", f"  {title}", *_table(rows), *_left_to_beat(rows)]
        lines += [f"  between replays: {deviations_told(dataset['deviations'][key])}"]
    lines += ["", "  " + selection_told(dataset["selection"]), "  " + reranking_told(dataset["reranking"])]
    return "\n".join(lines)


def _extent(dataset: Mapping[str, Any]) -> str:
    return (
        f"{dataset['cycles']:,} cycles, {dataset['failing_cycles']:,} failing, {dataset['tests']:,} tests, "
        f"{dataset['executions']:,} executions"
    )


def _parts(dataset: Mapping[str, Any]) -> list[tuple[str, str]]:
    parts = (
        (f"learning from everything ({dataset['failing_cycles']} failing cycles; * best)", "methods"),
        (f"where no failing test had failed before ({dataset['first_failure_cycles']})", "first_failures"),
        ("learning only from what ran within half the time", "budget_feedback"),
    )
    return [(title, key) for title, key in parts if dataset[key]]


def _table(rows: Rows) -> list[str]:
    head = "  " + " " * 26 + "".join(f"{measure.title:>12}" for measure in MEASURES) + f"{'ms/cycle':>10}"
    top = {measure.key: best(rows, measure) for measure in MEASURES}
    return [head, *(_line(name, row, top) for name, row in rows.items())]


def _line(name: str, row: Mapping[str, float], top: Mapping[str, str]) -> str:
    cells = "".join(f"{_starred(name, figure(row[m.key]), top[m.key]):>12}" for m in MEASURES)
    return f"  {name:26}{cells}{row['ms_per_cycle']:10.2f}"


def _starred(name: str, shown: str, top: str) -> str:
    return f"*{shown}" if shown == top and name != HINDSIGHT else shown


def _left_to_beat(rows: Rows) -> list[str]:
    lacking = not_beaten(rows)
    if not lacking:
        return ["  not beaten yet: nothing"]
    return ["  not beaten yet:", *(f"    {line}" for line in sentences(rows, lacking))]


def sentences(rows: Rows, lacking: Mapping[str, Sequence[str]]) -> list[str]:
    return [
        f"{m.title}: ours {figure(rows[OURS][m.key])}; "
        + ", ".join(f"{name} {figure(rows[name][m.key])}" for name in lacking[m.key])
        for m in MEASURES
        if m.key in lacking
    ]


def selection_told(told: Mapping[str, Any]) -> str:
    return (
        f"selection: promised risk {told['promised_risk']:.0%}; missed {count(told['missed_cycles'])} of "
        f"{count(told['failing_cycles'])} failing cycles ({percent(told['miss_rate'])}; of the "
        f"{count(told['failing_cycles_selected'])} not run whole {percent(told['miss_rate_of_selections'])}), "
        f"{percent(told['missed_executions_share'])} of failing executions; {percent(told['time_saved'])} of the time "
        f"saved; {count(told['full_runs'])} of {count(told['cycles'])} cycles ran whole "
        f"({count(told['full_runs_without_promise'])} because nothing less kept the promise); by replay "
        f"{span(told['spread']['miss_rate'])} missed, {span(told['spread']['time_saved'])} saved"
    )


def count(mean: float) -> str:
    return f"{mean:,.1f}".removesuffix(".0")


def span(ends: Sequence[float] | None) -> str:
    return "unknown" if ends is None else f"{percent(ends[0])} to {percent(ends[1])}"


def deviations_told(rows: Mapping[str, Mapping[str, float | None]]) -> str:
    """How much a measure differs between replays: what is less than this says nothing."""
    return "; ".join(f"{name} " + " / ".join(_deviation(rows[name][m.key]) for m in MEASURES) for name in DEVIATING)


def _deviation(value: float | None) -> str:
    return "unknown" if value is None else f"± {figure(value)}"


def percent(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.1%}"


RERANKED = (
    ("napfd", "NAPFD@50%"),
    ("apfd", "APFD"),
    ("apfdc", "APFDc"),
    ("second_time", "2nd failure"),
    ("last_time", "last failure"),
)


def reranking_told(told: Mapping[str, Any]) -> str:
    if not told["cycles"]:
        return "re-ranking: no cycle has two failures"
    gains = ", ".join(f"{title} {_step(told, key)}" for key, title in RERANKED)
    return f"re-ranking after each failure ({told['cycles']} cycles with two or more): {gains}"


def _step(told: Mapping[str, Any], key: str) -> str:
    return f"{figure(told['static'][key])} → {figure(told['reranked'][key])}"
