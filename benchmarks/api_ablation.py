"""What each learned part of `whet api` is worth: python benchmarks/api_ablation.py [--service prefect] [--json OUT]

Each part in turn chooses at random instead of learning. Equal seeds, an equal number of requests, a fresh service for
every run: the example with its faults planted, a small one whose names mislead (`misnamed`), or a real service of the
yardstick (`--yardstick`, as benchmarks/api.py says), counted by its proxy. Beside each mean stands the difference to
"everything learns", paired by seed, with its standard error; a star for each standard error that it is away from
nothing, two at most.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.api import SERVICES, ask_for_yardstick, check_yardstick, scored
from benchmarks.api_ablation_run import VARIANTS, run
from benchmarks.api_misnamed import serving
from examples.api.running import running

from whet.bootstrap.api import Asked
from whet.skills.api.access import Credential
from whet.skills.api.campaign import Budget, Campaign
from whet.skills.api.faults import Kind

EXAMPLE, MISNAMED = "example", "misnamed"
MEASURES = ("operations", "statuses", "faults", "root causes")
_KEY = Credential("header", "X-Api-Key", "library-demo-key")
_PROXY = ("ops_2xx", "op_status_pairs", "unique_faults", "unique_tracebacks")
_PATIENCE_SECONDS = 2.0  # the example has a fault that hangs
_FAILURES = (Kind.SERVER_ERROR, Kind.TIMEOUT, Kind.CRASH)
_BASELINE = "everything learns"
_MOST_STARS = 2
Row = tuple[int, ...]  # one number for each measure


def main() -> None:
    asked = _asked()
    found: dict[str, list[Row]] = {variant: [] for variant in dict.fromkeys((_BASELINE, *asked.variants))}
    for seed in asked.seeds:  # seed by seed, so that a run that is broken off has compared what it has
        for variant, rows in found.items():
            rows.append(_ON.get(asked.service, _on_service)(asked, variant, seed))
            print(f"{asked.service} seed {seed} {variant:32}", *rows[-1], flush=True)
        if asked.json:
            told = {"service": asked.service, "requests": asked.requests, "seeds": asked.seeds, "runs": found}
            asked.json.write_text(json.dumps(told, indent=2))
    print("", *table(found), sep="\n")


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask_for_yardstick(parser)
    parser.add_argument("--service", default=EXAMPLE, choices=(EXAMPLE, MISNAMED, *SERVICES))
    parser.add_argument("--variants", nargs="*", default=tuple(VARIANTS), choices=VARIANTS)
    parser.add_argument("--seeds", type=seeds, default=seeds("5"), help="how many, or which: 5, or 4-6")
    parser.add_argument("--requests", type=int, default=1_000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if asked.service in SERVICES:
        check_yardstick(parser, asked)
    return asked


def seeds(text: str) -> list[int]:
    first, dash, last = text.partition("-")
    return list(range(int(first), int(last) + 1) if dash else range(1, int(first) + 1))


def _on_example(asked: argparse.Namespace, variant: str, seed: int) -> Row:
    with running("all", supervised=True) as service:
        wanted = Asked(
            service.document, budget=Budget(asked.requests), credentials=(_KEY,), seed=seed,
            timeout_seconds=_PATIENCE_SECONDS,
        )  # fmt: skip
        return _counted(run(variant, wanted))


def _on_misnamed(asked: argparse.Namespace, variant: str, seed: int) -> Row:
    with serving() as url:
        return _counted(run(variant, Asked(f"{url}/openapi.json", budget=Budget(asked.requests), seed=seed)))


def _counted(campaign: Campaign) -> Row:
    """From what was answered; a fault is a root cause on one operation."""
    told = campaign.operations.values()
    failed = [one for one in campaign.suspects.by_root.values() if one.suspicion.kind in _FAILURES]
    reached, statuses = sum(one.reached_at is not None for one in told), sum(len(one.statuses) for one in told)
    return reached, statuses, sum(len(one.operations) for one in failed), len(failed)


def _on_service(asked: argparse.Namespace, variant: str, seed: int) -> Row:
    script = str(Path(__file__).with_name("api_ablation_run.py"))
    tool = [sys.executable, script, variant, "{spec}", "--url", "{url}", "--seed", "{seed}"]
    result = scored(asked, asked.service, seed, [], ["--", *tool, "--requests", str(asked.requests)])
    return tuple(int(result[name]) for name in _PROXY)


_ON = {EXAMPLE: _on_example, MISNAMED: _on_misnamed}


def table(found: dict[str, list[Row]]) -> list[str]:
    lines = [f"{'':30}" + "".join(f"{name:>24}" for name in MEASURES)]
    for variant, rows in found.items():
        columns = zip(zip(*rows, strict=True), zip(*found[_BASELINE], strict=True), strict=True)
        lines.append(f"{variant:30}" + "".join(f"{cell(column, base):>24}" for column, base in columns))
    return lines


def cell(column: Sequence[int], base: Sequence[int]) -> str:
    """The mean, and how far it is from the baseline's, in pairs of the same seed."""
    apart = [one - other for one, other in zip(column, base, strict=True)]
    mean = f"{statistics.mean(column):.1f}"
    if len(apart) < 2 or not any(apart):
        return mean
    away, error = statistics.mean(apart), statistics.stdev(apart) / len(apart) ** 0.5
    stars = "*" * min(_MOST_STARS, int(abs(away) / error) if error else _MOST_STARS)
    return f"{mean} ({away:+.1f} ±{error:.1f}{stars})"


if __name__ == "__main__":
    main()
