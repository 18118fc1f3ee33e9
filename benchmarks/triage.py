"""Which past failures have the same cause? Precision among the first five, on failures whose cause is known.

    python benchmarks/triage_recording.py     # records them: real projects under a random sample of mutants
    python benchmarks/triage.py [--projects NAME…] [--no-model] [--json OUT] [--work build/triage]

All methods are asked the same: of all failures of a project but the one at hand, which five? Those of the same mutant
are right. Asked is every failure with at least five right answers, at most ten of one mutant. The failure of a test
under another mutant is among the answers, and wrong.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.triage_cases import FIRST, Recording, load  # noqa: E402
from benchmarks.triage_methods import Bm25, Cosine, Method, Whet  # noqa: E402
from benchmarks.triage_recording import DEVELOPMENT, HELD_OUT, PROJECTS  # noqa: E402
from benchmarks.triage_report import Answer, ceiling, figures, table  # noqa: E402

from whet.memory.embedding import embedder  # noqa: E402


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        work, with_model = arguments.work.absolute(), not arguments.no_model
        projects = [_judged(work, name, Path(folder), with_model) for name in arguments.projects]
    print(table(projects))
    if arguments.json:
        arguments.json.write_text(json.dumps(projects, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--projects", nargs="+", choices=sorted(PROJECTS), default=list(PROJECTS))
    parser.add_argument("--no-model", action="store_true", help="leave the sentence model out: it takes 0.1 s a text")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "triage")
    return parser.parse_args()


def _judged(work: Path, name: str, folder: Path, with_model: bool) -> dict[str, Any]:
    recording = load(work, name)
    methods = _methods(recording, work / name, folder, with_model)
    told: dict[str, Any] = {
        "project": name,
        "held_out": name in HELD_OUT and name not in DEVELOPMENT,
        "mutants_drawn": recording.drawn,
        "mutants_noticed": len({case.mutant for case in recording.cases}),
        "mutants_asked_about": len({recording.cases[query].mutant for query in recording.queries()}),
        "failures": len(recording.cases),
        "queries": len(recording.queries()),
        "measured_lines": sum(case.diverged is not None for case in recording.cases),
        "measured_turns": sum(case.turned is not None for case in recording.cases),
        "ceiling_by_text": ceiling(recording),
        "ceiling_by_lines": ceiling(recording, lines=True),
        "ceiling_by_turns": ceiling(recording, lines=True, turns=True),
        "methods": {},
    }
    for label, method in methods.items():
        answers = [Answer(query, tuple(method.first(query, FIRST))) for query in recording.queries()]
        told["methods"][label] = figures(recording, answers)
        print(name, label, told["methods"][label]["precision"], file=sys.stderr, flush=True)
    return told


def _methods(recording: Recording, kept: Path, folder: Path, with_model: bool) -> dict[str, Method]:
    texts = [case.text for case in recording.cases]
    return {
        "BM25": Bm25(texts),
        "cosine, hashed": Cosine(texts, embedder("hashed"), kept),
        **({"cosine, MiniLM": Cosine(texts, embedder("minilm"), kept)} if with_model else {}),
        "BM25, message only": Bm25([case.message for case in recording.cases]),
        "Whet, text": Whet(recording, folder),
        "Whet, text and lines": Whet(recording, folder, covered=True, lines=True),
        "Whet, text and turns": Whet(recording, folder, turns=True),
        "Whet": Whet(recording, folder, covered=True, lines=True, turns=True),
    }


if __name__ == "__main__":
    main()
