"""How long recalling takes, as people and agents do it: `python benchmarks/memory_recall.py --rows 60000`.

`Retrieval.recall` merges what is similar, shared and recent, ranks it and drops what says the same; this times all of
it on the embedded store and on PostgreSQL (`--store`), whose process's work is counted with ours. Half of the memories
are failures unlike each other; the other half, the newest, come from a few causes and say the same but for numbers, one
in twenty but for a word. Questions are about either half.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.memory import address

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
    parser.add_argument("--store", choices=["sqlite", "postgresql", "both"], default="sqlite")
    arguments = parser.parse_args()
    for name in ("sqlite", "postgresql") if arguments.store == "both" else (arguments.store,):
        with address(name) as url, open_store(url) as store:
            print(f"{name}: ", end="", flush=True)
            _measure(store, arguments.rows, arguments.questions)


def _measure(store: SqlStore, rows: int, questions: int) -> None:
    drawn, embedder = Drawn(), HashedEmbedder()
    begun = time.perf_counter()
    _fill(store, drawn, embedder, rows)
    filled = time.perf_counter() - begun
    retrieval, server = Retrieval(store.memories, embedder), _backend(store)
    told = f"{store.memories.count(ALL):,} memories, kept in {filled:.0f} s, {questions} questions each"
    print(f"{told}; milliseconds, half and 99 of 100 within", flush=True)
    for repeated, named in product((False, True), repeat=2):
        asked = [drawn.question(repeated, named) for _ in range(questions + WARM)]
        spent = [_seconds(retrieval, question, server) for question in asked][WARM:]
        (half, most), (worked, hardest) = (np.percentile(each, [50, 99]) * 1000 for each in zip(*spent, strict=True))
        what = "many say nearly the same" if repeated else "unlike each other"
        about = f"{what}, {'text and a file' if named else 'text alone'}"
        print(f"  {about:<42} {half:6.1f} {most:6.1f}   of the processor: {worked:6.1f} {hardest:6.1f}", flush=True)


def _fill(store: SqlStore, drawn: Drawn, embedder: HashedEmbedder, rows: int) -> None:
    batch: list[Memory] = []
    for memory in drawn.memories(rows):
        batch.append(memory)
        if len(batch) == BATCH:
            keep(store.memories, embedder, batch)
            batch = []
    keep(store.memories, embedder, batch)
    if not store._database.is_sqlite:  # as the server does by itself within minutes
        with store._database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM (ANALYZE) memories, memory_places, memory_subjects")


def _backend(store: SqlStore) -> Path | None:
    """Where the kernel counts the work of the server's process that answers us; None: we do it all."""
    if store._database.is_sqlite:
        return None
    with store._database.engine.connect() as connection:
        return Path(f"/proc/{connection.exec_driver_sql('SELECT pg_backend_pid()').scalar_one()}/schedstat")


def _seconds(retrieval: Retrieval, question: Question, server: Path | None) -> tuple[float, float]:
    """By the clock, and of the processor: on a machine that others use the first is as much theirs."""
    started, worked = time.perf_counter(), time.process_time() + _served(server)
    retrieval.recall(question, LIMIT)
    return time.perf_counter() - started, time.process_time() + _served(server) - worked


def _served(server: Path | None) -> float:
    return 0.0 if server is None else int(server.read_text().split()[0]) / 1e9


if __name__ == "__main__":
    main()
