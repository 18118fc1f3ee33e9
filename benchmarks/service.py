"""How the service does: `python -m benchmarks.service --json OUT`.

`predict_per_second` (answers on one core), `predict_per_processor_second` (by the time that a core worked for the
server, where others are at work as well), `predict_p99_ms` (at 500 a second, from the moment each was due),
`lost_updates` (128 agents deciding and learning for --minutes), `fuzz_cases` and `fuzz_5xx` (Schemathesis and
`whet api` against our own OpenAPI). The server runs on a core of its own where there are two.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.service_agents import live, lost
from benchmarks.service_fuzz import schemathesis, whet_api
from benchmarks.service_load import latencies_ms, per_second
from benchmarks.service_served import Served, served

RATE = 500.0
AGENTS = 128


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement of /predict")
    parser.add_argument("--minutes", type=float, default=0.5, help="that the agents live")
    parser.add_argument("--cases", type=int, default=1000, help="of Schemathesis, and as many again of whet api")
    arguments = parser.parse_args()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        with served(Path(folder, "agents")) as at:
            figures |= _agents(at, arguments.minutes)
            figures |= _predict(at, arguments.seconds)
        figures["lost_updates"] = lost(at, figures["learned"])
        if arguments.cases:
            with served(Path(folder, "fuzz")) as at:
                figures |= _fuzz(at, arguments.cases)
    for name, value in figures.items():
        print(f"{name:24} {value:,.2f}" if isinstance(value, float) else f"{name:24} {value:,}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


def _agents(at: Served, minutes: float) -> dict[str, Any]:
    lived = asyncio.run(live(at, AGENTS, minutes))
    return {
        "learned": lived.learned,
        "learned_per_second": lived.learned / (60.0 * minutes),
        "memory_growth_mb": lived.later_mb - lived.resident_mb,
    }


def _predict(at: Served, seconds: float) -> dict[str, Any]:
    asyncio.run(per_second(at, 1.0))  # everything is imported and read once
    before = at.processor_seconds()
    rate = asyncio.run(per_second(at, seconds))
    used = at.processor_seconds() - before
    taken = asyncio.run(latencies_ms(at, RATE, seconds))
    return {
        "predict_per_second": rate,
        "predict_per_processor_second": rate * seconds / used,
        "predict_p99_ms": taken[int(0.99 * len(taken))],
        "predict_median_ms": statistics.median(taken),
    }


def _fuzz(at: Served, cases: int) -> dict[str, Any]:
    described = httpx.get(f"{at.address}/openapi.json", headers={"Authorization": f"Bearer {at.key}"}, timeout=120)
    operations = sum(len(item) for item in described.json()["paths"].values())
    by_schema, by_whet = schemathesis(at, cases, operations), whet_api(at, described.text, cases)
    for each in (by_schema, by_whet):
        if each.failures:
            print(each.said[-6000:])
    return {
        "fuzz_cases": by_schema.cases + by_whet.cases,
        "fuzz_5xx": sum(status >= 500 for status in at.statuses()),
        "fuzz_violations": by_schema.failures + by_whet.failures,
    }


if __name__ == "__main__":
    main()
