"""One table for two learners of CartPole-v1: each seed in turn, each run in a process of its own with one thread.

A run is a script that takes a seed and prints, last, what `cartpole_trial.Trial` tells.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

HERE, PEER = Path(__file__).parent, "stable_baselines3"
DRAWS = 4000
FIGURES = ("steps", "seconds", "processor_seconds")
Runs = dict[str, list[dict[str, Any]]]


def race(description: str, ours: Mapping[str, Sequence[str]], peer: str) -> None:
    """`ours` by name, `whet` first: the script and what it is told besides the seed. `peer` is the other's script."""
    arguments = _arguments(description)
    commands = {name: [sys.executable, str(HERE / script), *told] for name, (script, *told) in ours.items()}
    commands |= _peer(arguments.sb3_python, peer)
    runs: Runs = {name: [] for name in commands}
    for seed in range(1, arguments.seeds + 1):
        for name, command in commands.items():
            runs[name].append({"seed": seed, **_run([*command, str(seed)])})
            _show_run(name, runs[name][-1])
    figures = _figures(runs)
    _show(figures)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


def _arguments(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=20, help="five are too few: seeds differ more than learners do")
    parser.add_argument("--sb3-python", default=os.environ.get("WHET_SB3_PYTHON", sys.executable))
    return parser.parse_args()


def _peer(python: str, script: str) -> dict[str, list[str]]:
    if subprocess.run([python, "-c", "import stable_baselines3"], capture_output=True).returncode:
        print(f"stable-baselines3 is not installed for {python}; see --help")
        return {}
    return {PEER: [python, str(HERE / script)]}


def _run(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def _show_run(name: str, run: dict[str, Any]) -> None:
    verdict = "" if run["solved"] else ", not solved"
    print(f"{name}, seed {run['seed']}: {run['steps']:,} steps, {run['seconds']:.1f} s{verdict}", flush=True)


def _figures(runs: Runs) -> dict[str, Any]:
    """What was not solved counts with the steps it was given: less than it would have needed."""
    told: dict[str, Any] = {"runs": runs}
    for figure in FIGURES:
        told[figure] = {name: median(run[figure] for run in of_one) for name, of_one in runs.items()}
        told[f"{figure}_ratio"] = told[figure]["whet"] / told[figure][PEER] if PEER in runs else None
        told[f"{figure}_ratio_95"] = _interval(runs, figure) if PEER in runs else None
    return told


def _interval(runs: Runs, figure: str) -> list[float]:
    """Where 95 of 100 ratios lie when the runs of each are drawn anew (bootstrap)."""
    random = np.random.default_rng(1)
    ours, theirs = ([run[figure] for run in runs[name]] for name in ("whet", PEER))
    drawn = [np.median(random.choice(each, (DRAWS, len(each))), axis=1) for each in (ours, theirs)]
    return [float(each) for each in np.quantile(drawn[0] / drawn[1], (0.025, 0.975))]


def _show(figures: dict[str, Any]) -> None:
    print(f"\n{'median':24}{'steps':>10}{'seconds':>10}{'processor':>11}{'solved':>9}")
    for name, runs in figures["runs"].items():
        steps, seconds, processor = (figures[key][name] for key in FIGURES)
        solved = f"{sum(run['solved'] for run in runs)} of {len(runs)}"
        print(f"{name:24}{steps:>10,.0f}{seconds:>10.2f}{processor:>11.2f}{solved:>9}")
    if figures["steps_ratio"] is not None:
        for key in FIGURES:
            low, high = figures[f"{key}_ratio_95"]
            print(f"whet / stable_baselines3, {key}: {figures[f'{key}_ratio']:.2f} (95 %: {low:.2f} to {high:.2f})")
