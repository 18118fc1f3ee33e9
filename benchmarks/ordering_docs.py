"""The measured figures as Markdown, written into the document that shows them."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.ordering_report import (
    HINDSIGHT,
    MEASURES,
    Measure,
    Rows,
    best,
    deviations_told,
    figure,
    not_beaten,
    reranking_told,
    selection_told,
    sentences,
)


def markdown(told: Mapping[str, Any]) -> str:
    """Every data set side by side; a cell holds the four measures, the best of each in bold."""
    scored = [dataset for dataset in told["datasets"] if dataset["failing_cycles"]]
    parts = (
        ("Learning from everything", "methods", "failing_cycles"),
        ("First failures: no failing test had failed before", "first_failures", "first_failure_cycles"),
        ("Learning only from what ran within half the time", "budget_feedback", "failing_cycles"),
    )
    titles = " / ".join(measure.title for measure in MEASURES)
    lines = [f"Mean of {told['seeds']} replays; each cell: {titles} (the last as a share of the suite's time)."]
    for title, key, cycles in parts:
        having = [dataset for dataset in scored if dataset[key]]
        if having:
            lines += ["", f"### {title}", *_side_by_side(having, key, cycles)]
            lines += ["", "What we do not beat yet:", *_lacking(having, key)]
            lines += ["", "Standard deviation between replays:", *_deviations(having, key)]
    return "\n".join([*lines, "", "### Selection", *_selections(scored), "", "### Re-ranking", *_rerankings(scored)])


def _side_by_side(datasets: Sequence[Mapping[str, Any]], key: str, cycles: str) -> list[str]:
    head = ["method", *(f"{d['name']} ({d[cycles]} of {d['cycles']:,} cycles)" for d in datasets)]
    body = [[name, *(_cell(dataset[key], name) for dataset in datasets)] for name in datasets[0][key]]
    return _rows([head, ["---"] * len(head), *body])


def _cell(rows: Rows, name: str) -> str:
    return " / ".join(_bold(name, rows, measure) for measure in MEASURES)


def _bold(name: str, rows: Rows, measure: Measure) -> str:
    shown = figure(rows[name][measure.key])
    return f"**{shown}**" if name != HINDSIGHT and shown == best(rows, measure) else shown


def _lacking(datasets: Sequence[Mapping[str, Any]], key: str) -> list[str]:
    lines = [f"- {d['name']}, {text}" for d in datasets for text in sentences(d[key], not_beaten(d[key]))]
    return ["", *(lines or ["- nothing in this table."])]


def _deviations(datasets: Sequence[Mapping[str, Any]], key: str) -> list[str]:
    return ["", *(f"- {d['name']}: {deviations_told(d['deviations'][key])}" for d in datasets)]


def _selections(datasets: Sequence[Mapping[str, Any]]) -> list[str]:
    return _told(datasets, "selection", selection_told)


def _rerankings(datasets: Sequence[Mapping[str, Any]]) -> list[str]:
    return _told(datasets, "reranking", reranking_told)


def _told(datasets: Sequence[Mapping[str, Any]], key: str, tell: Callable[[Mapping[str, Any]], str]) -> list[str]:
    return ["", *(f"- {dataset['name']}: {tell(dataset[key]).partition(': ')[2]}." for dataset in datasets)]


def _rows(rows: Sequence[Sequence[str]]) -> list[str]:
    return ["", *("| " + " | ".join(cells) + " |" for cells in rows)]


def put(document: Path, text: str) -> None:
    """Between the marks, so that what the document says is what was measured."""
    marked = re.compile(r"<!-- scores -->.*?<!-- /scores -->", re.DOTALL)
    old = document.read_text()
    if not marked.search(old):
        raise SystemExit(f"{document} has no <!-- scores --> … <!-- /scores --> to write between.")
    document.write_text(marked.sub(lambda _: f"<!-- scores -->\n{text}\n<!-- /scores -->", old))
