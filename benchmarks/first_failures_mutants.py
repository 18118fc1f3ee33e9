"""Real mutations by Cosmic Ray, one file each: `python first_failures_mutants.py ROOT COUNT SEED OUT FILE…`.

Runs in the mutation tool's own environment, so it imports nothing of Whet. Files take turns; within a file the places
that can be mutated are drawn without repetition, and at each place one of the operators that fit it. OUT gets one JSON
object a line: the file, what was done to it, and its whole text afterwards.
"""

import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast_from_path  # type: ignore[import-not-found]
from cosmic_ray.mutating import mutate_code  # type: ignore[import-not-found]
from cosmic_ray.plugins import get_operator, operator_names  # type: ignore[import-not-found]
from cosmic_ray.util import read_python_source  # type: ignore[import-not-found]

Place = tuple[int, int]
Mutation = tuple[str, int]  # the operator's name, and which of its occurrences in the file


def main() -> None:
    root, count, seed, out = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    with out.open("w") as lines:
        for mutant in sample(root, sys.argv[5:], count, random.Random(seed)):
            lines.write(json.dumps(mutant) + "\n")


def sample(root: Path, files: list[str], count: int, rng: random.Random) -> Iterator[dict[str, Any]]:
    turns = {file: mutants(root, file, rng) for file in files}
    drawn = 0
    while turns and drawn < count:
        for file in rng.sample(sorted(turns), len(turns)):
            mutant = next(turns[file], None)
            if mutant is None:
                del turns[file]
            elif drawn < count:
                drawn += 1
                yield mutant


def mutants(root: Path, file: str, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Mutants of one file, each at another place, in random order."""
    found = places(root / file)
    source = read_python_source(root / file)
    for place in rng.sample(sorted(found), len(found)):
        operator, occurrence = rng.choice(found[place])
        text = mutate_code(source, get_operator(operator)(), occurrence)
        if text is not None and text != source:
            yield {"file": file, "line": place[0], "operator": operator, "occurrence": occurrence, "text": text}


def places(path: Path) -> dict[Place, list[Mutation]]:
    tree = get_ast_from_path(path)
    found: dict[Place, list[Mutation]] = defaultdict(list)
    for name in operator_names():
        kind = get_operator(name)
        if kind.arguments():  # names of variables to replace: needs to be told, so it is no mutation by itself
            continue
        starts = (start for node in ast_nodes(tree) for start, _ in kind().mutation_positions(node))
        for occurrence, start in enumerate(starts):
            found[start].append((name, occurrence))
    return found


if __name__ == "__main__":
    main()
