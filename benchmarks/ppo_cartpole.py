"""How soon CartPole-v1 is solved: `python benchmarks/ppo_cartpole.py [--sb3-python PYTHON] [--json OUT]`.

Whet's PPO against Stable-Baselines3's with the settings of rl-zoo, each seed in turn and each run in a process of its
own with one thread. A run is evaluated every 1,024 steps on the same 20 episodes, without exploring, and is over when
their mean return is 475 or more. Seconds are those of training, without starting and without evaluations.

Stable-Baselines3 is looked for in the Python that --sb3-python or WHET_SB3_PYTHON names: a virtual environment with
`pip install torch==2.13.0 stable-baselines3==2.9.2 gymnasium`.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent
Runs = dict[str, list[dict[str, Any]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sb3-python", default=os.environ.get("WHET_SB3_PYTHON", sys.executable))
    parser.add_argument("--same-settings", action="store_true", help="also Whet with the settings of rl-zoo")
    arguments = parser.parse_args()
    commands = _commands(arguments.sb3_python, arguments.same_settings)
    runs: Runs = {name: [] for name in commands}
    for seed in range(1, arguments.seeds + 1):
        for name, command in commands.items():
            runs[name].append({"seed": seed, **_run([*command, str(seed)])})
            _show_run(name, runs[name][-1])
    figures = _figures(runs)
    _show(figures)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


def _commands(sb3_python: str, same_settings: bool) -> dict[str, list[str]]:
    ours = [sys.executable, str(HERE / "ppo_cartpole_whet.py")]
    commands = {"whet": [*ours, "own"]}
    if same_settings:
        commands["whet_same_settings"] = [*ours, "zoo"]
    if subprocess.run([sb3_python, "-c", "import stable_baselines3"], capture_output=True).returncode:
        print(f"stable-baselines3 is not installed for {sb3_python}; see --help")
    else:
        commands["stable_baselines3"] = [sb3_python, str(HERE / "ppo_cartpole_sb3.py")]
    return commands


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
    told: dict[str, Any] = {"runs": runs}
    for figure in ("steps", "seconds", "processor_seconds"):
        told[figure] = {name: median(run[figure] for run in of_one) for name, of_one in runs.items()}
    peer = "stable_baselines3"
    for figure in ("steps", "seconds", "processor_seconds"):
        told[f"{figure}_ratio"] = told[figure]["whet"] / told[figure][peer] if peer in runs else None
    return told


def _show(figures: dict[str, Any]) -> None:
    print(f"\n{'median':24}{'steps':>10}{'seconds':>10}{'processor':>11}{'solved':>9}")
    for name, runs in figures["runs"].items():
        steps, seconds, processor = (figures[key][name] for key in ("steps", "seconds", "processor_seconds"))
        solved = f"{sum(run['solved'] for run in runs)} of {len(runs)}"
        print(f"{name:24}{steps:>10,.0f}{seconds:>10.2f}{processor:>11.2f}{solved:>9}")
    if figures["steps_ratio"] is not None:
        ratios = (figures[f"{key}_ratio"] for key in ("steps", "seconds", "processor_seconds"))
        print("whet / stable_baselines3: {:.2f} × steps, {:.2f} × seconds, {:.2f} × processor".format(*ratios))


if __name__ == "__main__":
    main()
