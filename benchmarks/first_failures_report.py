"""What the comparison shows, per project and over all of them."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.first_failures_history import History
from benchmarks.first_failures_methods import Method, baselines, never_failed_before, walk
from benchmarks.first_failures_recording import Recording
from benchmarks.first_failures_testmon import chosen
from benchmarks.first_failures_whet import Whet

METHODS = ("whet", "testmon", "decay", "ff", "own", "random", "optimal")
# Whet knows of each test how long it took in one run: which of two quick ones it takes for the quicker is luck.
FIRST_RUNS = 3
# Whet's mean time to the first failure may be at most this share of theirs.
TARGETS = {"decay": 0.5, "ff": 0.5, "random": 0.5, "testmon": 0.8}
SLICES = {
    "first_failures": "history goes on; no failing test failed for an earlier mutation",
    "first_failures_fresh": "all that was ever seen is one green run, so every failure is a first one",
    "all_failures": "history goes on; every failing commit",
}


def compared(work: Path, history: History, recording: Recording) -> dict[str, Any]:
    whet = Whet(work, history)
    once = [Whet(work, history, f"whet-{number}") for number in range(FIRST_RUNS)]
    at_first = {p.pair.number: p.testmon.collected for p in recording.pairs if p.testmon is not None}
    followed = chosen(history)
    going_on = _walked(history, recording, {**baselines({**at_first, **followed}), "whet": [whet]}, continuing=True)
    fresh = _walked(history, recording, {**baselines(at_first), "whet": once}, continuing=False)
    first = set(never_failed_before(recording))
    return {
        "project": history.project.name,
        "version": history.project.version,
        **_counts(recording),
        "testmon_followed": len(followed),  # for the other failing commits: what it chooses that knows only the base
        "slices": {
            "first_failures": _summary(going_on, first),
            "first_failures_fresh": _summary(fresh, fresh["own"]),
            "all_failures": _summary(going_on, going_on["own"]),
        },
        "whet_asking_seconds": whet.mean_asking_seconds(),
        "whet_notes": sorted(whet.notes.union(*(one.notes for one in once))),
        "seconds": {"going_on": going_on, "fresh": fresh, "first": sorted(first)},
    }


def _walked(
    history: History, recording: Recording, methods: Mapping[str, Sequence[Method]], continuing: bool
) -> dict[str, dict[int, float]]:
    return {name: walk(history, recording, several, continuing) for name, several in methods.items()}


def _counts(recording: Recording) -> dict[str, Any]:
    pairs, base = recording.pairs, recording.base
    ended = [p for p in pairs if p.plain is not None]
    scored = [p for p in pairs if p.scored]
    missed = sum(p.testmon is not None and not _finds(p.testmon.collected, p.plain) for p in scored)
    return {
        "tests": len(base.ran),
        "suite_seconds": sum(verdict.seconds for verdict in base.ran.values()),
        "mutations": len(pairs),
        "hung": len(pairs) - len(ended),
        "not_collected": sum(bool(p.plain and p.plain.broken) for p in ended),
        "survived": sum(bool(p.plain and not p.plain.broken) and not p.scored for p in ended),
        "failing": len(scored),
        "testmon_missed": missed,
    }


def _finds(tests: Sequence[str], told: Any) -> bool:
    return any(told.ran[test].failed for test in tests if test in told.ran)


def _summary(seconds: Mapping[str, Mapping[int, float]], wanted: Iterable[int]) -> dict[str, Any]:
    numbers = sorted(wanted)
    times = {name: [by_number[number] for number in numbers] for name, by_number in seconds.items()}
    return {"commits": len(numbers), **_figures(times)}


def _figures(times: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Unknown where no commit belongs to the slice."""
    means = {name: statistics.fmean(values) if values else None for name, values in times.items()}
    ratios = {name: _ratio(means["whet"], means[name]) for name in TARGETS}
    return {
        "mean_seconds": means,
        "median_seconds": {name: statistics.median(values) if values else None for name, values in times.items()},
        "whet_ratio": ratios,
        "met": {name: None if ratio is None else ratio <= TARGETS[name] for name, ratio in ratios.items()},
    }


def _ratio(one: float | None, other: float | None) -> float | None:
    return None if one is None or not other else one / other


def totals(projects: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Over the commits of all projects, and over projects, so that a slow suite does not speak for the others."""
    together: dict[str, Any] = {}
    for name in SLICES:
        times: dict[str, list[float]] = {method: [] for method in METHODS}
        for project in projects:
            for method in METHODS:
                times[method] += _times(project, name, method)
        ratios = [p["slices"][name]["whet_ratio"] for p in projects]
        together[name] = {"commits": len(times["whet"]), **_figures(times), "mean_of_ratios": _averaged(ratios)}
    return together


def _times(project: dict[str, Any], name: str, method: str) -> list[float]:
    seconds = project["seconds"]
    by_number: dict[int, float] = seconds["fresh" if name == "first_failures_fresh" else "going_on"][method]
    wanted = seconds["first"] if name == "first_failures" else by_number
    return [by_number[number] for number in wanted]


def _averaged(ratios: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    known = {name: [r[name] for r in ratios if r[name] is not None] for name in TARGETS}
    return {name: statistics.fmean(v for v in values if v is not None) if values else None
            for name, values in known.items()}  # fmt: skip


def table(told: dict[str, Any]) -> str:
    """Markdown."""
    lines = []
    for name, meaning in SLICES.items():
        lines += ["", f"**{name}**: {meaning}. Mean (median) milliseconds of test time to the first failure.", ""]
        lines += ["| project | commits |" + "".join(f" {m} |" for m in METHODS) + _heads()]
        lines += ["|---|---:|" + "---:|" * (len(METHODS) + len(TARGETS))]
        for project in told["projects"]:
            lines.append(_row(project["project"], project["slices"][name]))
        lines.append(_row("all commits", told["all"][name]))
        mean = told["all"][name]["mean_of_ratios"]
        lines.append("| mean of the projects' ratios | |" + " |" * len(METHODS) + _ratio_cells(mean))
    return "\n".join([*lines, "", *map(_told_counts, told["projects"]), *_told_wall(told["projects"])])


def _heads() -> str:
    return "".join(f" whet/{name} (≤ {limit}) |" for name, limit in TARGETS.items())


def _row(name: str, figures: dict[str, Any]) -> str:
    mean, median = figures["mean_seconds"], figures["median_seconds"]
    cells = "".join(f" {_milli(mean[m])} ({_milli(median[m])}) |" for m in METHODS)
    return f"| {name} | {figures['commits']} |{cells}{_ratio_cells(figures['whet_ratio'])}"


def _ratio_cells(ratios: Mapping[str, float | None]) -> str:
    return "".join(" unknown |" if (r := ratios[n]) is None else f" {r:.2f} |" for n in TARGETS)


def _milli(seconds: float | None) -> str:
    return "unknown" if seconds is None else f"{1000 * seconds:.1f}"


def _told_counts(project: dict[str, Any]) -> str:
    return (
        "{project} {version}: {tests} tests, {suite_seconds:.1f} s; {mutations} mutations, of which {failing} made "
        "tests fail, {survived} survived, {not_collected} broke the collection, {hung} hung; testmon chose no failing "
        "test for {testmon_missed}."
    ).format(**project)


def _told_wall(projects: Sequence[dict[str, Any]]) -> list[str]:
    walls = [(p["project"], p["wall_clock"]) for p in projects if "wall_clock" in p]
    if not walls:
        return []
    names = list(walls[0][1]["mean_seconds"])
    lines = ["", "Wall clock of `pytest -x`, whole process: mean (median) seconds.", ""]
    lines += ["| project | commits |" + "".join(f" {n} |" for n in names), "|---|---:|" + "---:|" * len(names)]
    for project, wall in walls:
        cells = "".join(f" {wall['mean_seconds'][n]:.2f} ({wall['median_seconds'][n]:.2f}) |" for n in names)
        lines.append(f"| {project} | {wall['commits']} |{cells}")
    return lines
