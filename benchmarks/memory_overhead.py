"""What memory costs a visit: `python benchmarks/memory_overhead.py [PROJECT] [--visits N] [--json OUT]`.

Visits of the same project (default: the example shop) with and without memory, alternating, each in a store of its own
that earlier visits filled; the processor time of everything they start is compared, pair by pair.
"""

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WHET = Path(sys.executable).with_name("whet")
SHOP = Path(__file__).parents[1] / "examples" / "shop"
WAYS = {"without": "false", "with": "true"}
# The same seed does the same in both: what memory makes agents decide otherwise is not what it costs.
SETTINGS = """
[tool.whet.policies]
fleet-commander = "random"
test-executor = "random"
coverage-analyzer = "random"
flaky-test-hunter = "random"
regression-risk-analyzer = "random"

[tool.whet.memory]
enabled = {enabled}
embedding = "{embedding}"
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path, nargs="?", default=SHOP)
    parser.add_argument("--visits", type=int, default=6, help="of each kind that are measured")
    parser.add_argument("--filling", type=int, default=1, help="visits before, which are not")
    parser.add_argument("--embedding", choices=("hashed", "minilm"), default="hashed")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        places = {way: Path(folder) / way for way in WAYS}
        for way, place in places.items():
            shutil.copytree(asked.project, place, ignore=shutil.ignore_patterns(".whet", ".git", "__pycache__"))
            with (place / "pyproject.toml").open("a") as settings:
                settings.write(SETTINGS.format(enabled=WAYS[way], embedding=asked.embedding))
        for number in range(asked.filling):
            for place in places.values():
                _visit(place, number, asked)
        pairs = [_pair(places, asked.filling + number, asked) for number in range(asked.visits)]
    ratios = [pair["with"] / pair["without"] for pair in pairs]
    told = {"median_ratio": statistics.median(ratios), "ratios": ratios, "seconds": pairs}
    print(f"median {told['median_ratio']:.3f}, from {min(ratios):.3f} to {max(ratios):.3f}")
    if asked.json:
        asked.json.write_text(
            json.dumps({"project": asked.project.name, "embedding": asked.embedding, **told}, indent=2)
        )


def _pair(places: dict[str, Path], number: int, asked: argparse.Namespace) -> dict[str, float]:
    """In turn the one first and the other: whatever drifts, drifts for both."""
    ways = list(WAYS) if number % 2 else list(reversed(WAYS))
    seconds = {way: _visit(places[way], number, asked) for way in ways}
    print(
        {way: round(each, 2) for way, each in seconds.items()},
        f"{seconds['with'] / seconds['without']:.3f}",
        flush=True,
    )
    return seconds


def _visit(place: Path, seed: int, asked: argparse.Namespace) -> float:
    """Processor time, user's and system's, of the visit and everything it waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(WHET), "run", str(place), "--minutes", str(asked.minutes), "--seed", str(seed), "--fail-on", "never"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"whet run ended with {done.returncode}:\n{done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
