"""Fits stated confidence on the worlds used for tuning: `python benchmarks/confidence.py [--seeds N] [--write]`.

Tells the expected calibration error of each policy as beliefs have it, and after fitting, each world judged by what the
others say. The worlds that count as proof are not looked at: `whet bench policies` judges on them. With --write the
fit replaces `src/whet/policies/confidence.json`, which comes with Whet.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from whet.improvement.calibrating import POLICIES, Told, fitted, lives
from whet.improvement.contest import Rules
from whet.improvement.lives import Course
from whet.improvement.world import World, shipped
from whet.policies.confidence import Shipped
from whet.policies.exploration import schedule
from whet.rewards import profile

FILE = Path(__file__).parents[1] / "src" / "whet" / "policies" / "confidence.json"
DECISIONS, TRAINING_STEPS = 300, 3000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    told = _shipped(arguments.seeds)
    print(f"{'policy':16}{'decisions':>10}{'before':>8}{'left out':>10}   offset, slope, untried")
    for policy, fit in told.policies.items():
        numbers = ", ".join(f"{each:+.2f}" for each in fit.calibration.model_dump().values())
        print(f"{policy:16}{fit.decisions:10,}{fit.error_before:8.3f}{fit.error_left_out:10.3f}   {numbers}")
    if arguments.write:
        FILE.write_text(told.model_dump_json(indent=1) + "\n")


def _shipped(seeds: int) -> Shipped:
    worlds = [world for world in shipped() if world.used_for_tuning]
    told = _told(worlds, seeds)
    return Shipped(
        command=f"python benchmarks/confidence.py --seeds {seeds} --write",
        worlds=tuple(world.name for world in worlds),
        policies={policy: fitted([each for each in told if each.policy == policy]) for policy in POLICIES},
    )


def _told(worlds: list[World], seeds: int) -> list[Told]:
    course = Course(decisions=DECISIONS, seeds=seeds, schedule=lambda: schedule("exponential"))
    found = []
    with tempfile.TemporaryDirectory(prefix="whet-confidence-") as folder:
        for each in lives(worlds, Rules(profile("multi-objective"), {}, course, TRAINING_STEPS, Path(folder))):
            print(f"{each.world}: {each.policy}", file=sys.stderr)
            found.append(each)
    return found


if __name__ == "__main__":
    main()
