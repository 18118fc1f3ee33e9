"""What each learned part of `whet api` is worth: python benchmarks/api_ablation.py [--json OUT]

On the example service with its faults planted, each part in turn chooses at random instead of learning. Equal seeds, an
equal number of requests, a fresh service for every run. Counted from the exchanges, not from what the learner believes.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from examples.api.running import running

from whet.bootstrap.api_document import fetched
from whet.skills.api.access import Access, Credential
from whet.skills.api.contract.reading import read_contract
from whet.skills.api.explorer import EVERYTHING, Explorer, Learned
from whet.skills.api.service import Service
from whet.tools.http.client import Client
from whet.tools.http.origin import split_address

_PATIENCE_SECONDS = 60.0  # to read the contract: the machine may be busy
_KEY = Credential("header", "X-Api-Key", "library-demo-key")
VARIANTS: dict[str, Learned] = {
    "everything learns": EVERYTHING,
    "dependencies at random": replace(EVERYTHING, dependencies=False),
    "value sources at random": replace(EVERYTHING, sources=False),
    "sequence at random": replace(EVERYTHING, sequencing=False),
    "places of mutations at random": replace(EVERYTHING, mutations=False),
    "nothing learns": Learned(dependencies=False, sources=False, sequencing=False, mutations=False),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=1_000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    found = {name: list(_runs(learned, asked.seeds, asked.requests)) for name, learned in VARIANTS.items()}
    print(f"{'':32}{'operations':>12}{'statuses':>12}{'5xx causes':>12}   (means of {asked.seeds} seeds ± deviation)")
    for name, rows in found.items():
        cells = [
            f"{statistics.mean(column):6.1f} ±{statistics.pstdev(column):4.1f}" for column in zip(*rows, strict=True)
        ]
        print(f"{name:32}" + "".join(f"{cell:>12}" for cell in cells))
    if asked.json:
        asked.json.write_text(json.dumps({"requests": asked.requests, "runs": found}, indent=2))


def _runs(learned: Learned, seeds: int, requests: int) -> Iterator[tuple[int, int, int]]:
    for seed in range(1, seeds + 1):
        with running("all", supervised=True) as service:
            yield _run(service.url, service.document, learned, seed, requests)


def _run(url: str, document: str, learned: Learned, seed: int, requests: int) -> tuple[int, int, int]:
    """(operations with a 2xx, distinct operation and status, distinct operation and kind of server error)."""
    origin, base = split_address(url)
    with Client(origin, 2.0) as client:
        contract = read_contract(*fetched(document, _PATIENCE_SECONDS))
        service = Service(client, Access(contract, (_KEY,)), base)
        explorer = Explorer(contract, contract.operations, service.send, seed, learned)
        reached, pairs, causes = set(), set(), set()
        for seen in explorer.turns():
            operation, status = seen.exchange.operation.id, seen.exchange.response.status
            pairs.add((operation, status))
            reached |= {operation} if seen.exchange.ok else set()
            causes |= {one.cause for one in seen.suspicions if one.kind in ("server-error", "timeout", "crash")}
            if status is None:
                service.back_within(30)
            if service.requests >= requests:
                return len(reached), len(pairs), len(causes)
    raise AssertionError("turns never end by themselves")


if __name__ == "__main__":
    main()
