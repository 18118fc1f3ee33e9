"""How fast experiences are learned, by database and number of threads: `python benchmarks/store.py`.

Compares SQLite with, where `WHET_BENCH_POSTGRES` names one, a PostgreSQL, in one run. Prints a table of experiences per
second and ratios to one SQLite thread; writes JSON with --json.
"""

import argparse
import json
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from whet.checks import store_samples as sample
from whet.core.ports import Store
from whet.store.sql_store import open_store

EXPERIENCES = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        urls = {"sqlite": f"sqlite:///{folder}/whet.db"}
        if "WHET_BENCH_POSTGRES" in os.environ:
            urls["postgresql"] = os.environ["WHET_BENCH_POSTGRES"]
        for name, url in urls.items():
            with open_store(url, b"key") as store:
                for threads in (1, 8):
                    figures[f"{name}_{threads}_threads"] = _per_second(store, f"{name}{threads}", threads)
    base = figures["sqlite_1_threads"]
    for name, value in figures.items():
        print(f"{name:24} {value:8.0f} experiences/s   {value / base:5.2f} ×")
    if arguments.json:
        arguments.json.write_text(json.dumps({"experiences_per_second": figures}, indent=2) + "\n")


def _per_second(store: Store, prefix: str, threads: int) -> float:
    def learn(number: int) -> bool:
        return store.experiences.learn(sample.experience(f"{prefix}-{number}"), sample.lesson(float(number % 50)))

    started = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        if not all(pool.map(learn, range(EXPERIENCES))):
            raise SystemExit("an experience was not learned")
    return EXPERIENCES / (time.perf_counter() - started)


if __name__ == "__main__":
    main()
