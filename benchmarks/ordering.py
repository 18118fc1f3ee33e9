"""How good is our order, beside every rule of thumb and published learner? On any recorded CI history.

    python benchmarks/ordering.py [HISTORY.csv.gz …] [--json OUT] [--seeds N] [--feedback full|budget|both] [--docs]

Without a file: the histories in ../shared/data/ci_history beside this project, or in $WHET_CI_HISTORY. Every method
meets the same protocol (`ordering_replay.py`). With --docs the tables and the chart go into docs/ordering.md.
"""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import stdev
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # started as a script, only the folder of the script is on the path

from benchmarks.ordering_chart import draw  # noqa: E402
from benchmarks.ordering_coleman import Frrmab, Ucb  # noqa: E402
from benchmarks.ordering_docs import markdown, put  # noqa: E402
from benchmarks.ordering_heuristics import HEURISTICS  # noqa: E402
from benchmarks.ordering_history import History, read_history  # noqa: E402
from benchmarks.ordering_replay import BUDGET_SHARE, Feedback, MakeMethod, Optimal, Replay, average, replay  # noqa: E402
from benchmarks.ordering_report import BUDGETED, OURS, WHOLE, told_plainly  # noqa: E402
from benchmarks.ordering_reranking import reranking  # noqa: E402
from benchmarks.ordering_retecs import Network, Tableau  # noqa: E402
from benchmarks.ordering_selection import selection  # noqa: E402
from benchmarks.ordering_whet import Ours, OursForWholeRuns  # noqa: E402

from whet.core.errors import RefusedInput  # noqa: E402

METHODS: Mapping[str, MakeMethod] = {
    BUDGETED: Ours,
    WHOLE: OursForWholeRuns,
    **HEURISTICS,
    "retecs_tableau": Tableau,
    "retecs_network": Network,
    "coleman_ucb": Ucb,
    "coleman_frrmab": Frrmab,
    "optimal": Optimal,
}
# An order is asked for with a goal. What counts ranks, and what runs at all, is for the one within a budget; what
# counts seconds until everything ran is for the one of a whole run. Both are shown with all their figures beside.
SECONDS_COUNT = ("apfdc", "first_time")
FEEDBACK: Mapping[str, tuple[Feedback, ...]] = {"full": ("full",), "budget": ("budget",), "both": ("full", "budget")}


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parser().parse_args(arguments)
    try:
        histories = [read_history(path) for path in asked.histories or histories_at_hand()]
    except RefusedInput as refused:
        sys.exit(f"ordering: {refused}")
    told = {"seeds": asked.seeds, "budget_share": BUDGET_SHARE, "datasets": list[dict[str, Any]]()}
    for history in histories:
        dataset = score(history, asked.seeds, FEEDBACK[asked.feedback])
        print(told_plainly(dataset), flush=True)
        told["datasets"].append(dataset)
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=2) + "\n")
    if asked.docs:
        put(ROOT / "docs" / "ordering.md", markdown(told))
        draw(told, ROOT / "build" / "ordering.html", ROOT / "docs" / "images" / "ordering.png")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", type=Path, nargs="*", metavar="HISTORY.csv.gz")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write every figure here")
    parser.add_argument("--seeds", type=_positive, default=6, help="how often each history is replayed (6)")
    parser.add_argument("--feedback", choices=tuple(FEEDBACK), default="both", help="what is learned from (both)")
    parser.add_argument("--docs", action="store_true", help="renew docs/ordering.md and its chart")
    return parser


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text}: give 1 or more")
    return number


def histories_at_hand() -> list[Path]:
    """What is scored when no file is named."""
    folder = Path(os.environ.get("WHET_CI_HISTORY") or ROOT.parent / "shared" / "data" / "ci_history")
    found = sorted([*folder.glob("*.csv.gz"), *folder.glob("*.csv")])
    if not found:
        remedy = "Name files (HISTORY.csv.gz …) or set WHET_CI_HISTORY to a folder of them."
        raise RefusedInput(f"there are no histories in {folder}.", remedy)
    return found


def score(history: History, seeds: int, feedback: Sequence[Feedback]) -> dict[str, Any]:
    """Everything measured on one history."""
    first = history.first_failures()
    told: dict[str, Any] = {
        "name": history.name,
        "tests": len(history.tests),
        "executions": sum(len(cycle.tests) for cycle in history.cycles),
        "cycles": len(history.cycles),
        "failing_cycles": len(history.failing),
        "first_failure_cycles": len(first),
        "methods": {},
        "first_failures": {},
        "budget_feedback": {},
        "deviations": {},
    }
    if not history.failing:
        return told | {"selection": None, "reranking": None}
    if "full" in feedback:
        replays = _replayed(history, seeds, "full")
        _tell(told, "methods", replays)
        if first:
            _tell(told, "first_failures", replays, first)
    if "budget" in feedback:
        _tell(told, "budget_feedback", _replayed(history, seeds, "budget"))
    _progress(history, "selection and re-ranking")
    return told | {"selection": selection(history, seeds), "reranking": reranking(history)}


def _replayed(history: History, seeds: int, feedback: Feedback) -> dict[str, list[Replay]]:
    replays = {}
    for name, make in METHODS.items():
        _progress(history, f"{feedback} feedback: {name}")
        # Hindsight leaves nothing to chance.
        replays[name] = [replay(history, make, feedback, s) for s in range(1 if make is Optimal else seeds)]
    return replays


def _tell(
    told: dict[str, Any], part: str, replays: Mapping[str, Sequence[Replay]], cycles: frozenset[int] | None = None
) -> None:
    told[part] = _with_ours({name: _means(runs, cycles) for name, runs in replays.items()})
    told["deviations"][part] = _with_ours({name: _deviations(runs, cycles) for name, runs in replays.items()})


def _with_ours(rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {OURS: rows[BUDGETED] | {key: rows[WHOLE][key] for key in SECONDS_COUNT}, **rows}


def _means(replays: Sequence[Replay], cycles: frozenset[int] | None) -> dict[str, float]:
    means = average([mean for run in replays if (mean := run.mean(cycles)) is not None]) or {}
    return means | {"ms_per_cycle": sum(run.ms_per_cycle for run in replays) / len(replays)}


def _deviations(replays: Sequence[Replay], cycles: frozenset[int] | None) -> dict[str, float | None]:
    """Of one replay; None where there is only one."""
    means = [mean for run in replays if (mean := run.mean(cycles)) is not None]
    return {key: stdev(mean[key] for mean in means) if len(means) > 1 else None for key in means[0]}


def _progress(history: History, what: str) -> None:
    print(f"{history.name}: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
