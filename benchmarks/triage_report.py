"""How good answers were: precision, with what chance could have done, and what no ranker could do better."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from benchmarks.triage_cases import FIRST, Recording

from whet.memory.failures import Turn

RESAMPLES = 2000
SEED = 11
Floats = npt.NDArray[np.float64]


Shown = tuple[str, str, frozenset[str] | None, Turn | None]


class Answer(NamedTuple):
    query: int
    first: tuple[int, ...]


def figures(recording: Recording, answers: Sequence[Answer]) -> dict[str, Any]:
    """`precision` is the mean over all failures that can be asked about: those drawn stand for all of their mutant.
    `per_mutant` counts every mutant once, however many tests noticed it; `in_function` takes any failure of a mutant
    in the same function for right."""
    cases = recording.cases
    sizes = Counter(case.mutant for case in cases)
    hits: dict[int, list[float]] = defaultdict(list)
    near: dict[int, list[float]] = defaultdict(list)
    for answer in answers:
        asked = cases[answer.query]
        hits[asked.mutant].append(sum(cases[i].mutant == asked.mutant for i in answer.first) / FIRST)
        near[asked.mutant].append(sum(cases[i].function == asked.function for i in answer.first) / FIRST)
    by_mutant = [(sizes[mutant], fmean(found)) for mutant, found in hits.items()]
    return {
        "precision": _weighted(hits, sizes),
        "interval": _interval(_resampled(by_mutant, np.random.default_rng(SEED))),
        "by_mutant": by_mutant,
        "per_mutant": fmean(map(fmean, hits.values())),
        "in_function": _weighted(near, sizes),
        "by_mutants_in_function": _by_sharing(recording, hits, sizes),
    }


def ceiling(recording: Recording, *, lines: bool = False, turns: bool = False) -> float:
    """The best that is possible for whoever sees test and text, and also lines or turns: where two mutants
    make a test say the same, the answer must be a guess, and so must be which of two equal answers is meant."""
    shown = [
        (case.test, case.text, case.diverged if lines else None, case.turned if turns else None)
        for case in recording.cases
    ]
    seen: dict[Shown, list[int]] = defaultdict(list)
    said_under: dict[int, set[Shown]] = defaultdict(set)
    for case, one in zip(recording.cases, shown, strict=True):
        seen[one].append(case.mutant)
        said_under[case.mutant].add(one)
    return fmean(_best_expected(shown[query], seen, said_under) for query in recording.queries())


def _best_expected(asked: Shown, seen: dict[Shown, list[int]], said_under: dict[int, set[Shown]]) -> float:
    meant = Counter(seen[asked])
    expected: list[float] = []
    for other in {other for mutant in meant for other in said_under[mutant]} - {asked}:
        had = seen[other]
        chance = sum(meant[mutant] / meant.total() * had.count(mutant) / len(had) for mutant in meant)
        expected += [chance] * len(had)
    return sum(sorted(expected, reverse=True)[:FIRST]) / FIRST


def _weighted(hits: dict[int, list[float]], sizes: Counter[int]) -> float:
    return sum(sizes[mutant] * fmean(found) for mutant, found in hits.items()) / sum(sizes[mutant] for mutant in hits)


def _by_sharing(recording: Recording, hits: dict[int, list[float]], sizes: Counter[int]) -> dict[str, dict[str, float]]:
    functions = {case.mutant: case.function for case in recording.cases}
    groups: dict[str, dict[int, list[float]]] = defaultdict(dict)
    for mutant, found in hits.items():
        mutants = recording.mutants_in()[functions[mutant]]
        groups[str(mutants) if mutants < 3 else "3+"][mutant] = found
    return {
        label: {"mutants": len(found), "precision": _weighted(found, sizes)} for label, found in sorted(groups.items())
    }


def _resampled(by_mutant: Sequence[tuple[int, float]], rng: np.random.Generator) -> Floats:
    """Means after drawing mutants anew: failures of one mutant are no independent evidence."""
    counts, precisions = np.array(by_mutant, float).T
    drawn = rng.integers(0, len(by_mutant), (RESAMPLES, len(by_mutant)))
    means: Floats = (counts * precisions)[drawn].sum(1) / counts[drawn].sum(1)
    return means


def _interval(means: Floats) -> tuple[float, float]:
    """95 %."""
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def table(projects: Sequence[dict[str, Any]]) -> str:
    labels = list(projects[0]["methods"])
    lines = ["precision among the first five (95 % interval over mutants) / every mutant counted once", ""]
    for label in labels:
        lines.append(label)
        lines += [f"  {_line(project, label)}" for project in projects]
        lines += [f"  {name:22} {_mean(chosen, label)}" for name, chosen in _groups(projects).items() if chosen]
    return "\n".join([*lines, "", *(_about(project) for project in projects)])


def _groups(projects: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {
        "mean, development": [project for project in projects if not project["held_out"]],
        "mean, held out": [project for project in projects if project["held_out"]],
    }


def _line(project: dict[str, Any], label: str) -> str:
    told = project["methods"][label]
    low, high = told["interval"]
    name = project["project"] + (" (held out)" if project["held_out"] else "")
    return f"{name:22} {told['precision']:.3f} ({low:.2f}–{high:.2f}) / {told['per_mutant']:.3f}"


def _mean(projects: Sequence[dict[str, Any]], label: str) -> str:
    told = [project["methods"][label] for project in projects]
    rng = np.random.default_rng(SEED)
    low, high = _interval(np.mean([_resampled(one["by_mutant"], rng) for one in told], axis=0))
    precision, per_mutant = (fmean(one[figure] for one in told) for figure in ("precision", "per_mutant"))
    return f"{precision:.3f} ({low:.2f}–{high:.2f}) / {per_mutant:.3f}"


def _about(project: dict[str, Any]) -> str:
    return (
        f"{project['project']}: {project['mutants_drawn']} mutants, {project['mutants_noticed']} noticed, "
        f"{project['failures']} failures, {project['queries']} queries of {project['mutants_asked_about']} mutants, "
        f"at best {project['ceiling_by_text']:.3f} by text, {project['ceiling_by_lines']:.3f} with lines, "
        f"{project['ceiling_by_turns']:.3f} with turns as well, "
        f"in the same function {project['methods']['Whet']['in_function']:.3f}"
    )
