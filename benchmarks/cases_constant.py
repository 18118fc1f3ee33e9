"""What a training reports when every reward is the same. `python benchmarks/cases_constant.py [--seeds N] [--steps N]`.

The 736 cases of `examples/cases`, as far as one request is all they send; each pays 1, whatever it is: "passed", by
someone who never ran it. The learner, the steps and the network are those of `whet train`. How much better do its
losses say it got, from the first rollout to the last? And what does it then find, executed against the service?
"""

import argparse
import itertools
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.cases import EXAMPLE, ROOT, cases_of, interval

from whet.improvement.cases import Case, split
from whet.improvement.cases_evaluation import at_random, by_policy, rate
from whet.improvement.cases_learner import CandidatePPO
from whet.improvement.cases_running import Live, Verdict
from whet.improvement.cases_service import running_service
from whet.improvement.training import train
from whet.improvement.training_cases import BUDGET, digest, subject_of_cases
from whet.improvement.training_record import Order, Row, TrainingFolder

LOSSES = ("policy_loss", "value_loss")


class Constant:
    """A "failure" that nobody has seen before, every time: 1 for each case."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def run(self, case: Case) -> Verdict:
        return Verdict(f"{case.name} {next(self._numbers)}", 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=4096)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        training, held_out = split([case for case in cases_of(0, Path(folder)) if len(case.steps) == 1], 1 / 3)
    with running_service([sys.executable, str(EXAMPLE / "service.py"), "--seed", "0"], cwd=ROOT) as url:
        runs = [run(seed, arguments.steps, training, held_out, url) for seed in range(arguments.seeds)]
    show(runs)
    if arguments.json:
        arguments.json.write_text(json.dumps(runs, indent=2) + "\n")


def run(seed: int, steps: int, training: list[Case], held_out: list[Case], url: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder, Live(url) as live:
        learner, rows = trained(training, seed, steps, TrainingFolder(Path(folder)))
        earned = {row["episode_reward"] / row["episode_length"] for row in rows if "episode_reward" in row}
        told = {
            **{name: improvement([row[name] for row in rows if name in row]) for name in LOSSES},
            "least_earned": min(earned), "most_earned": max(earned),
            "ppo": rate(by_policy(learner, held_out, live, BUDGET, range(20))),
            "random": rate(at_random(held_out, live, BUDGET, range(20))),
        }  # fmt: skip
    print(f"seed {seed}: " + ", ".join(f"{name} {value:.3g}" for name, value in told.items()), flush=True)
    return told


def trained(cases: list[Case], seed: int, steps: int, folder: TrainingFolder) -> tuple[CandidatePPO, list[Row]]:
    order = Order(
        agent="cases", policy="ppo", seed=seed, steps=steps, source="constant", sources=(), digest=digest(cases)
    )
    for _ in train(subject_of_cases(cases, Constant(), order), order, folder):
        """Everything is kept in the folder."""
    return CandidatePPO.open(folder.learner), folder.rows()


def improvement(losses: list[float]) -> float:
    """In percent of the first, as reports of success are made."""
    return 100.0 * (losses[0] - losses[-1]) / abs(losses[0])


def show(runs: list[dict[str, float]]) -> None:
    earned = {value for each in runs for value in (each["least_earned"], each["most_earned"])}
    print(f"\nearned with a case, first to last: {min(earned):g} to {max(earned):g}")
    for name in LOSSES:
        better = [each[name] for each in runs]
        most = sum(value >= 28 for value in better)
        spread = f"from {min(better):.0f} to {max(better):.0f} %, median {np.median(better):.0f} %"
        print(f"{name} improved by {spread}; by 28 % or more in {most} of {len(runs)}")
    more = interval([each["ppo"] - each["random"] for each in runs])
    half = more["half_width_95"]
    print(f"faults a request more than random: {more['mean']:.3f} ± {'unknown' if half is None else f'{half:.3f}'}")


if __name__ == "__main__":
    main()
