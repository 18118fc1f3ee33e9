"""Does a trained choice of cases find more? `python benchmarks/cases.py [--seeds N] [--steps N] [--json OUT]`.

Each seed has its own service (other faults planted), its own cases, its own split of them (a third is held out) and its
own training. Everything is executed over HTTP, in training and afterwards. On the held-out cases, in sittings of equal
budgets of requests: how many different faults a request finds, chosen by PPO, at random, and in the order of the file.
`whole` and `beforehand` are what `whet rank --cases` does: PPO chooses among all of them, with and without outcomes.
And how much of the variance of what came the critic had foretold, beside what could be foretold at most, and what is
foretold by nothing but the number of requests left.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from whet.improvement.cases import Case, read_cases, split
from whet.improvement.cases_evaluation import Sitting, at_random, by_policy, foretold, in_order, rate
from whet.improvement.cases_learner import CandidatePPO
from whet.improvement.cases_order import beforehand, one_by_one
from whet.improvement.cases_running import Live
from whet.improvement.cases_service import running_service
from whet.improvement.evaluation import student_95
from whet.improvement.training import train
from whet.improvement.training_cases import digest, subject_of_cases
from whet.improvement.training_record import Order, TrainingFolder

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "cases"
WAYS = ("ppo", "random", "static")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=10, help="0 to 4 were looked at while features were chosen")
    parser.add_argument("--steps", type=int, default=16_000)
    parser.add_argument("--budget", type=int, default=24)
    parser.add_argument("--sittings", type=int, default=20)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    runs = []
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
        runs.append(run(seed, arguments.steps, arguments.budget, range(arguments.sittings)))
        print(", ".join(f"{name} {value:.3g}" for name, value in runs[-1].items()), flush=True)
    figures = {"runs": runs, "mean": {name: interval([each[name] for each in runs]) for name in runs[0]}}
    show(figures)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


def run(seed: int, steps: int, budget: int, sittings: range) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        training, held_out = split(cases_of(seed, Path(folder)), 1 / 3, seed)
        command = [sys.executable, str(EXAMPLE / "service.py"), "--seed", str(seed)]
        with running_service(command, cwd=ROOT) as url, Live(url) as live:
            began = time.perf_counter()
            learner = trained(training, live, steps, budget, seed, TrainingFolder(Path(folder, "ppo")))
            seconds = time.perf_counter() - began
            critic = foretold(learner, training, held_out, live, budget, sittings)
            told = {
                "ppo": rate(by_policy(learner, held_out, live, budget, sittings)),
                "random": rate(at_random(held_out, live, budget, sittings)),
                "static": rate([in_order(held_out, live, budget)]),
                "whole": rate([one_after_the_other(learner, held_out, live, budget)]),
                "beforehand": rate([in_order(beforehand(learner, held_out), live, budget)]),
            }
    return {
        "seed": seed, **told, "explained_variance": critic.explained_variance, "ceiling": critic.ceiling,
        "of_ceiling": critic.explained_variance / critic.ceiling, "by_budget_alone": critic.by_budget_alone,
        "beyond_budget": critic.beyond_budget, "ceiling_beyond_budget": critic.ceiling_beyond_budget,
        "total_steps": learner.steps, "rollouts": learner.rollouts, "training_seconds": seconds,
    }  # fmt: skip


def trained(cases: list[Case], live: Live, steps: int, budget: int, seed: int, folder: TrainingFolder) -> CandidatePPO:
    order = Order(
        agent="cases", policy="ppo", seed=seed, steps=steps, source="generated", sources=(), digest=digest(cases)
    )
    for _ in train(subject_of_cases(cases, live, order, budget), order, folder):
        """Everything is kept in the folder."""
    return CandidatePPO.open(folder.learner)


def one_after_the_other(learner: CandidatePPO, cases: list[Case], live: Live, budget: int) -> Sitting:
    verdicts = [each.verdict for each in one_by_one(learner, cases, live, budget)]
    return Sitting(len({each.cause for each in verdicts} - {None}), sum(each.requests for each in verdicts))


def cases_of(seed: int, folder: Path) -> list[Case]:
    file = folder / "cases.json"
    subprocess.run(
        [sys.executable, str(EXAMPLE / "generate.py"), str(file), "--seed", str(seed)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return read_cases(file)


def interval(values: list[float]) -> dict[str, Any]:
    half = student_95(len(values) - 1) * float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else None
    return {"mean": float(np.mean(values)), "half_width_95": half}


def show(figures: dict[str, Any]) -> None:
    print(f"\n{'held-out cases':32}{'mean':>9}{'± 95 %':>9}")
    for name, label in (
        ("ppo", "faults a request, PPO"), ("random", "faults a request, random"),
        ("static", "faults a request, in order"), ("whole", "whet rank --cases, live"),
        ("beforehand", "whet rank --cases, no outcomes"),
        ("explained_variance", "critic's explained variance"), ("ceiling", "… at most possible"),
        ("by_budget_alone", "… by requests left alone"), ("beyond_budget", "critic, of what those leave"),
        ("ceiling_beyond_budget", "… at most possible"),
    ):  # fmt: skip
        mean, half = figures["mean"][name].values()
        print(f"{label:32}{mean:>9.3f}{'unknown' if half is None else f'{half:.3f}':>9}")
    for other in WAYS[1:]:
        more = interval([each["ppo"] - each[other] for each in figures["runs"]])
        half = "unknown" if more["half_width_95"] is None else f"{more['half_width_95']:.3f}"
        print(f"{'PPO more than ' + other + ', by seed':32}{more['mean']:>9.3f}{half:>9}")


if __name__ == "__main__":
    main()
