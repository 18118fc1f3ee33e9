"""`whet api` with a part of what it learns switched off, one run of `benchmarks/api_ablation.py`:

python benchmarks/api_ablation_run.py "operations at random" openapi.json --url http://127.0.0.1:8000
"""

import argparse
from dataclasses import replace

from whet.bootstrap.api import Asked, prepare
from whet.skills.api.campaign import Budget, Campaign
from whet.skills.api.explorer import EVERYTHING, Learned

VARIANTS: dict[str, Learned] = {
    "everything learns": EVERYTHING,
    "dependencies at random": replace(EVERYTHING, dependencies=False),
    "dependencies by names alone": replace(EVERYTHING, evidence=False),
    "value sources at random": replace(EVERYTHING, sources=False),
    "operations at random": replace(EVERYTHING, sequencing=False),
    "kinds of mutations at random": replace(EVERYTHING, kinds=False),
    "nothing learns": Learned(dependencies=False, evidence=False, sources=False, sequencing=False, kinds=False),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variant", choices=VARIANTS)
    parser.add_argument("document")
    parser.add_argument("--url")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=1_000)
    asked = parser.parse_args()
    run(asked.variant, Asked(asked.document, asked.url, Budget(asked.requests), seed=asked.seed))


def run(variant: str, asked: Asked) -> Campaign:
    """All that `whet api` does, without a store: nothing is known before, nothing is kept."""
    visit = prepare(replace(asked, learned=VARIANTS[variant]), None)
    with visit.client:
        for _ in visit.campaign.turns():
            pass
        visit.campaign.conclude()
    return visit.campaign


if __name__ == "__main__":
    main()
