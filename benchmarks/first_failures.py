"""How soon a change turns the suite red when the tests that fail for it never failed before.

    python benchmarks/first_failures.py [--projects NAME…] [--commits 300] [--json OUT] [--work DIR] [--wall 15]

Takes real projects from the package registry, makes git histories of them by applying and reverting real mutations
(Cosmic Ray), records one plain run of every mutated commit and what pytest-testmon would run of it, and compares
orders on these records. Records are kept in the work folder: what was interrupted goes on where it stopped.
`--recorded` judges what is there and records no more. `--wall N` also runs N commits per project end to end.
"""

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.first_failures_history import (  # noqa: E402
    PROJECTS,
    Project,
    history,
    mutation_python,
    suites_python,
    whet_python,
)
from benchmarks.first_failures_recording import load, record  # noqa: E402
from benchmarks.first_failures_report import compared, table, totals  # noqa: E402
from benchmarks.first_failures_testmon import follow  # noqa: E402
from benchmarks.first_failures_wall import wall_clock  # noqa: E402

WORKERS = 2


def main() -> None:
    arguments = _arguments()
    work: Path = arguments.work.absolute()
    work.mkdir(parents=True, exist_ok=True)
    chosen = [PROJECTS[name] for name in arguments.projects]
    if not arguments.recorded:
        _record_all(work, chosen, arguments.commits)
    projects = _judge_all(work, chosen, arguments)
    told = {"projects": projects, "all": totals(projects)}
    print(table(told))
    if arguments.json:
        arguments.json.write_text(json.dumps(told, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--projects", nargs="+", choices=sorted(PROJECTS), default=list(PROJECTS))
    parser.add_argument("--commits", type=int, default=300, help="mutations per project; each is reverted again")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "first_failures")
    parser.add_argument("--wall", type=int, default=0, help="commits per project to run end to end")
    parser.add_argument("--recorded", action="store_true", help="judge what is recorded already")
    return parser.parse_args()


def _record_all(work: Path, projects: list[Project], commits: int) -> None:
    mutation_python(work), suites_python(work)  # before the workers, who would both make them
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda project: _record(work, project, commits), projects))


def _record(work: Path, project: Project, commits: int) -> None:
    made = history(work, project, commits)
    record(work, made)
    follow(work, made)


def _judge_all(work: Path, projects: list[Project], arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Judging goes by what was recorded, so all projects are judged at once; the clock needs the machine for itself."""
    whet_python(work)
    with ProcessPoolExecutor(len(projects)) as pool:
        judged = list(pool.map(partial(_judged, work, commits=arguments.commits), projects))
    for project, figures in zip(projects, judged, strict=True) if arguments.wall else ():
        made = history(work, project, arguments.commits)
        figures["wall_clock"] = wall_clock(work, made, load(made), arguments.wall)
    return judged


def _judged(work: Path, project: Project, commits: int) -> dict[str, Any]:
    made = history(work, project, commits)
    return compared(work, made, load(made))


if __name__ == "__main__":
    main()
