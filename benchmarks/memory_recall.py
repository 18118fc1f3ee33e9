"""How long recalling takes, as people and agents do it: `python benchmarks/memory_recall.py --rows 60000`.

`Retrieval.recall` merges what is similar, shared and recent, ranks it and drops what says the same; this times all of
it on the embedded store. Half of the memories are failures unlike each other; the other half, the newest, come from a
few causes and say the same but for numbers, one in twenty but for a word. Questions are about either half.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import product

import numpy as np

from whet.core.memories import Kind, Memory, Question, Wanted
from whet.core.records import now
from whet.memory.embedding import HashedEmbedder
from whet.memory.remembering import keep
from whet.memory.retrieval import Retrieval
from whet.store import SqlStore, open_store

BATCH, LIMIT, WARM = 1000, 10, 20
CAUSES = 4
ALL = Wanted(project="shop")
FAILURES = Wanted(project="shop", kinds=(Kind.EPISODIC,), topics=("failure", "finding"))


class Drawn:
    """The same in every run."""

    def __init__(self) -> None:
        self._dice = random.Random(1)
        syllables = [a + b for a in "bcdfghklmnprstvw" for b in "aeiou"]
        self._words = ["".join(self._dice.choices(syllables, k=self._dice.randrange(2, 5))) for _ in range(4000)]
        self._causes = [self._failure() for _ in range(CAUSES)]

    def memories(self, rows: int) -> Iterator[Memory]:
        begun = now()
        for number in range(rows):
            text = self._repeated() if number < rows // 2 else self._failure()
            test = f"tests/test_{self._word()}.py::test_{self._word()}"
            yield Memory(
                project="shop",
                kind=Kind.EPISODIC,
                topic="failure",
                source=f"failure:{number}",
                text=f"{test} failed: {text}",
                cue=text,
                subjects=(f"test:{test}", f"file:{test.partition('::')[0]}", f"file:src/{self._word()}.py"),
                at=begun - timedelta(minutes=number),
            )

    def question(self, repeated: bool, named: bool) -> Question:
        text = self._dice.choice(self._causes) if repeated else self._failure()
        return Question(wanted=FAILURES, text=text, subjects=(f"file:src/{self._word()}.py",) if named else ())

    def _failure(self) -> str:
        code = "\n".join(f"    {self._word()} = {self._word()}({self._word()})" for _ in range(4))
        said = " ".join(self._word() for _ in range(10))
        place = f"src/{self._word()}.py:{self._dice.randrange(400)} {self._word()}"
        return f"{self._word().title()}Error: {said}\n{place}\n{code}"

    def _repeated(self) -> str:
        said = self._dice.choice(self._causes).replace(" ", f" {self._dice.randrange(10**6)} ", 1)
        return said if self._dice.random() < 0.95 else f"{said} {self._word()}"

    def _word(self) -> str:
        return self._dice.choice(self._words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--questions", type=int, default=300)
    arguments = parser.parse_args()
    drawn, embedder = Drawn(), HashedEmbedder()
    with tempfile.TemporaryDirectory() as folder, open_store(f"sqlite:///{folder}/whet.db") as store:
        _fill(store, drawn, embedder, arguments.rows)
        retrieval = Retrieval(store.memories, embedder)
        print(f"{store.memories.count(ALL):,} memories, {arguments.questions} questions each; milliseconds")
        for repeated, named in product((False, True), repeat=2):
            asked = [drawn.question(repeated, named) for _ in range(arguments.questions + WARM)]
            spent = [_seconds(retrieval, question) for question in asked][WARM:]
            (half, most), (worked, hardest) = (
                np.percentile(each, [50, 99]) * 1000 for each in zip(*spent, strict=True)
            )
            what = "many say nearly the same" if repeated else "unlike each other"
            about = f"{what}, {'text and a file' if named else 'text alone'}"
            print(f"  {about:<42} p50 {half:6.1f}  p99 {most:6.1f}   of the processor: {worked:6.1f}  {hardest:6.1f}")


def _fill(store: SqlStore, drawn: Drawn, embedder: HashedEmbedder, rows: int) -> None:
    batch: list[Memory] = []
    for memory in drawn.memories(rows):
        batch.append(memory)
        if len(batch) == BATCH:
            keep(store.memories, embedder, batch)
            batch = []
    keep(store.memories, embedder, batch)


def _seconds(retrieval: Retrieval, question: Question) -> tuple[float, float]:
    """By the clock, and of the processor: on a machine that others use the first is as much theirs."""
    started, worked = time.perf_counter(), time.process_time()
    retrieval.recall(question, LIMIT)
    return time.perf_counter() - started, time.process_time() - worked


if __name__ == "__main__":
    main()
