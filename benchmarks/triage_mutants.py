"""A random sample of a project's mutants: `python triage_mutants.py ROOT COUNT SEED OUT FILE…`.

Runs in the mutation tool's own environment. Every place that can be mutated, in whichever file, is as likely as any
other; at each place one of the operators that fit it is drawn. OUT gets one JSON object a line.
"""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cosmic_ray.mutating import mutate_code  # type: ignore[import-not-found]
from cosmic_ray.plugins import get_operator  # type: ignore[import-not-found]
from cosmic_ray.util import read_python_source  # type: ignore[import-not-found]
from first_failures_mutants import places  # type: ignore[import-not-found]


def main() -> None:
    root, count, seed, out = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    with out.open("w") as lines:
        for number, mutant in zip(range(count), sample(root, sys.argv[5:], random.Random(seed)), strict=False):
            lines.write(json.dumps({"number": number, **mutant}) + "\n")


def sample(root: Path, files: list[str], rng: random.Random) -> Iterator[dict[str, Any]]:
    found = [(file, place, offered) for file in files for place, offered in sorted(places(root / file).items())]
    for file, place, offered in rng.sample(found, len(found)):
        source = read_python_source(root / file)
        operator, occurrence = rng.choice(offered)
        text = mutate_code(source, get_operator(operator)(), occurrence)
        if text is not None and text != source:
            yield {"file": file, "line": place[0], "operator": operator, "text": text}


if __name__ == "__main__":
    main()
