"""What `whet api` itself costs: python benchmarks/api_overhead.py [--requests 2000 20000 100000] [--json OUT]

CPU seconds of our own process per request (generating, writing, sending, judging, learning) and its memory, on the
example service without faults, which runs in a process of its own. Each size is a process of its own too.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from examples.api.running import running

from whet.bootstrap.api import Asked, prepare
from whet.skills.api.access import Credential
from whet.skills.api.campaign import Budget

_KEY = (Credential("header", "X-Api-Key", "library-demo-key"),)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, nargs="*", default=[2_000, 20_000])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", metavar="URL", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(_measured(asked.one, asked.requests[0])))
        return
    rows = [_alone(requests) for requests in asked.requests]
    print(f"{'requests':>10}{'CPU ms a request':>18}{'peak memory MB':>16}{'seconds':>10}")
    for row in rows:
        print(f"{row['requests']:>10}{row['cpu_ms']:>18.2f}{row['peak_mb']:>16.0f}{row['seconds']:>10.1f}")
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2))


def _alone(requests: int) -> dict[str, float]:
    with running("none") as service:
        command = [sys.executable, __file__, "--one", service.document, "--requests", str(requests)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    row: dict[str, float] = json.loads(done.stdout)
    return row


def _measured(document: str, requests: int) -> dict[str, float]:
    """Counted from the first request on: reading the contract and importing are paid once."""
    visit = prepare(Asked(document, budget=Budget(requests), credentials=_KEY, seed=1), None)
    started, before = time.monotonic(), time.process_time()
    with visit.client:
        for _ in visit.campaign.turns():
            pass
        visit.campaign.conclude()
    sent = visit.campaign.progress()[0]
    return {
        "requests": sent,
        "cpu_ms": 1000 * (time.process_time() - before) / sent,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "seconds": time.monotonic() - started,
    }


if __name__ == "__main__":
    main()
