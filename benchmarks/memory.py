"""How fast memories are stored and found: `python benchmarks/memory.py --rows 1000000`.

SQLite with its index file, and PostgreSQL with pgvector from the tests' own server. Places are drawn as those of real
texts lie: broad directions, many causes around them, and texts around each cause, some close and some far; the
questions come from the same causes. What is exact comes from a matrix product over all places, beside the store.
Rows go in by bulk, since only the last few hundred are timed. Prints a table; writes JSON with --json.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests import postgres

from whet.core.memories import Kind, Memory, Wanted
from whet.store import SqlStore, open_store
from whet.store.memory_rows import Space, space_of

DIMENSIONS = 384
BLOCK = 20_000
MODEL = "drawn"
START = datetime(2024, 1, 1, tzinfo=UTC)
ANY = Wanted(project="shop")
NARROW = Wanted(project="shop", kinds=(Kind.SEMANTIC,))
Places = NDArray[np.float32]
Figures = dict[str, float]
# What a server of this size is given; the defaults are for a machine of 2005.
SERVER = (
    "shared_buffers=2GB",
    "max_wal_size=8GB",
    "work_mem=64MB",
    "effective_cache_size=8GB",
    "synchronous_commit=on",
)


class Drawn:
    """Places by the block, the same in every run."""

    def __init__(self, rows: int, questions: int) -> None:
        dice = np.random.default_rng(1)
        broad = _unit(dice.standard_normal((64, DIMENSIONS), dtype=np.float32))
        causes = max(8, rows // 200)
        around = dice.standard_normal((causes, DIMENSIONS), dtype=np.float32) / np.sqrt(DIMENSIONS)
        self._causes = _unit(broad[dice.integers(0, 64, causes)] + np.float32(0.9) * around)
        self.rows = rows
        self.questions = self._texts(questions, 10**6)

    def blocks(self) -> Iterator[tuple[int, Places]]:
        for start in range(0, self.rows, BLOCK):
            yield start, self._texts(min(BLOCK, self.rows - start), start)

    def _texts(self, count: int, seed: int) -> Places:
        dice = np.random.default_rng([2, seed])
        # The square of a uniform draw: some causes come up often, most seldom.
        causes = self._causes[(dice.random(count) ** 2 * len(self._causes)).astype(int)]
        far = dice.uniform(0.3, 1.2, (count, 1)).astype(np.float32) / np.float32(np.sqrt(DIMENSIONS))
        return _unit(causes + far * dice.standard_normal((count, DIMENSIONS), dtype=np.float32))


def _unit(rows: Places) -> Places:
    made: Places = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("<f4")
    return made


class Truth:
    """The numbers of the ten nearest of each question, from every place that went by."""

    def __init__(self, questions: Places) -> None:
        self._questions = questions
        self._likeness = np.full((len(questions), 10), -2.0, np.float32)
        self.numbers = np.zeros((len(questions), 10), np.int64)

    def see(self, start: int, places: Places) -> None:
        likeness = np.hstack([self._likeness, self._questions @ places.T])
        numbers = np.hstack([self.numbers, np.tile(np.arange(start, start + len(places)), (len(likeness), 1))])
        best = np.argpartition(-likeness, 10, axis=1)[:, :10]
        self._likeness = np.take_along_axis(likeness, best, axis=1)
        self.numbers = np.take_along_axis(numbers, best, axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--store", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found: dict[str, Figures] = {}
    for name in ("sqlite", "postgresql") if arguments.store == "both" else (arguments.store,):
        with address(name) as url:
            found[name] = _measured(url, Drawn(arguments.rows, arguments.questions))
        _show(name, arguments.rows, found[name])
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": arguments.rows, "results": found}, indent=2) + "\n")


def _measured(url: str, drawn: Drawn) -> Figures:
    figures, truth = Figures(), Truth(drawn.questions)
    with closing(open_store(url)) as store:
        _storing(figures, store, "empty", drawn.questions)
        space = store._database.read(lambda connection: space_of(connection, "shop", MODEL))
        assert space is not None
        _time(figures, "filling s", lambda: _fill(store, space, drawn, truth))
        _time(figures, "index build s", lambda: store.memories._places.tend(space, 1000))
    with closing(_time(figures, "opening s", lambda: open_store(url))) as store:
        _time(figures, "first search s", lambda: _ask(store, ANY, drawn.questions[0]))
        _searching(figures, store, drawn.questions, truth)
        _storing(figures, store, "full", drawn.questions)
        figures["bytes per memory"] = _stored_bytes(store, url) / drawn.rows
        one = store.memories.newest(ANY, 1)[0].id
        _time(figures, "forgetting one s", lambda: store.memories.forget([one], "measured"))
    return figures


def _storing(figures: Figures, store: SqlStore, when: str, places: Places) -> None:
    """Beside another small write of the store, since both wait for the disk."""
    for size in (1, 50):
        batches = [_new(f"{when} {size} {number}", places, size) for number in range(100 // size * 2 + 2)]
        spent = [_seconds(partial(store.memories.keep, made, MODEL, places)) for made, places in batches]
        figures[f"storing, {when}, {size} at a time: ms each"] = float(np.median(spent)) / size * 1000
    other = [_seconds(lambda: store.audit.append("measured", "nothing", {})) for _ in range(50)]
    figures[f"another write, {when}: ms"] = float(np.median(other)) * 1000


def _new(name: str, places: Places, size: int) -> tuple[list[Memory], list[bytes]]:
    chosen = [places[(len(name) * 31 + number) % len(places)].tobytes() for number in range(size)]
    return [_memory(f"{name}/{number}", number) for number in range(size)], chosen


def _memory(source: str, number: int) -> Memory:
    return Memory(
        project="shop",
        kind=Kind.EPISODIC if number % 100 else Kind.SEMANTIC,
        topic="failure",
        source=source,
        text=f"{source}: assert checkout({number}) == 200, got 503 from the payment service after {number % 60} s",
        subjects=(f"test:tests/test_{number % 5000}.py", f"file:src/module_{number % 700}.py"),
        at=START + timedelta(seconds=number),
    )


def _searching(figures: Figures, store: SqlStore, questions: Places, truth: Truth) -> None:
    for question in questions[:20]:
        _ask(store, ANY, question)
    spent, right = [], 0
    for number, question in enumerate(questions):
        started = time.perf_counter()
        found = _ask(store, ANY, question)
        spent.append(time.perf_counter() - started)
        right += len(found & {f"{each}" for each in truth.numbers[number]})
    figures["search p50 ms"], figures["search p99 ms"] = (float(each) * 1000 for each in np.percentile(spent, [50, 99]))
    figures["recall@10"] = right / len(questions) / 10
    narrow = [_seconds(partial(_ask, store, NARROW, question)) for question in questions[:50]]
    figures["search among 1 in 100 p50 ms"] = float(np.median(narrow)) * 1000
    figures["exact search s"] = min(_seconds(lambda: _ask(store, ANY, questions[0], exact=True)) for _ in range(2))
    for number in range(2):
        asked = _ask(store, ANY, questions[number], exact=True)
        assert asked == {f"{each}" for each in truth.numbers[number]}, "exact search and the matrix product disagree"


def _ask(store: SqlStore, wanted: Wanted, question: NDArray[np.float32], exact: bool = False) -> set[str]:
    found = store.memories.nearest(wanted, MODEL, question.tobytes(), 10, exact=exact)
    return {near.memory.source for near in found}


def _fill(store: SqlStore, space: Space, drawn: Drawn, truth: Truth) -> None:
    fill = _fill_sqlite if store._database.is_sqlite else _fill_postgres
    store.memories.forget([each.id for each in store.memories.newest(ANY, 10**6)], "only for timing")
    base = 10_000  # behind the numbers that were used for timing
    for start, places in drawn.blocks():
        truth.see(start, places)
        fill(store, space, base + start, [_memory(f"{start + n}", start + n) for n in range(len(places))], places)
    if not store._database.is_sqlite:
        with store._database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for table, column in (("memories", "seq"), ("memory_places", "number")):
                connection.exec_driver_sql(f"SELECT setval('{table}_{column}_seq', {base + drawn.rows})")
            connection.exec_driver_sql("VACUUM (ANALYZE) memories, memory_places, memory_subjects")


_ROW = "seq, id, project, kind, topic, source, text, subjects, about, importance, support, against, at, pinned, used"


def _rows(first: int, made: list[Memory], at: Callable[[datetime], Any], no: Any) -> Iterator[tuple[Any, ...]]:
    for seq, each in enumerate(made, first):
        whose = (seq, each.id, "shop", each.kind.value, each.topic, each.source)
        yield *whose, each.text, json.dumps(each.subjects), "{}", 0.5, 1, 0, at(each.at), no, 0


def _fill_sqlite(store: SqlStore, space: Space, first: int, made: list[Memory], places: Places) -> None:
    with store._database.engine.connect() as connection:
        raw: Any = connection.connection.driver_connection
        raw.execute("BEGIN IMMEDIATE")
        shown = ",".join("?" * 15)
        rows = _rows(first, made, lambda at: at.strftime("%Y-%m-%d %H:%M:%S.%f"), 0)
        raw.executemany(f"INSERT INTO memories ({_ROW}) VALUES ({shown})", rows)  # noqa: S608 - constants
        raw.executemany(
            "INSERT INTO memory_subjects (memory, subject, project) VALUES (?, ?, 'shop')", _about(first, made)
        )
        raw.executemany(
            "INSERT INTO memory_places (number, space, memory, embedding) VALUES (?, ?, ?, ?)",
            ((first + n, space.number, first + n, place.tobytes()) for n, place in enumerate(places)),
        )
        raw.execute("COMMIT")


def _fill_postgres(store: SqlStore, space: Space, first: int, made: list[Memory], places: Places) -> None:
    with store._database.engine.connect() as connection:
        raw: Any = connection.connection.driver_connection
        with raw.cursor() as cursor:
            with cursor.copy(f"COPY memories ({_ROW}) FROM STDIN") as copy:
                for row in _rows(first, made, lambda at: at, False):
                    copy.write_row(row)
            with cursor.copy("COPY memory_subjects (memory, subject, project) FROM STDIN") as copy:
                for memory, subject in _about(first, made):
                    copy.write_row((memory, subject, "shop"))
            with cursor.copy("COPY memory_places (number, space, memory, embedding) FROM STDIN") as copy:
                shown = "{" + ",".join(["%.9g"] * DIMENSIONS) + "}"
                for number, place in enumerate(places, first):
                    copy.write_row((number, space.number, number, shown % tuple(place.tolist())))
        raw.commit()


def _about(first: int, made: list[Memory]) -> Iterator[tuple[int, str]]:
    return ((number, subject) for number, each in enumerate(made, first) for subject in each.subjects)


def _stored_bytes(store: SqlStore, url: str) -> int:
    if store._database.is_sqlite:
        return sum(each.stat().st_size for each in Path(url.removeprefix("sqlite:///")).parent.iterdir())
    with store._database.engine.connect() as connection:
        return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())


@contextmanager
def address(name: str) -> Iterator[str]:
    if name == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{folder}/whet.db"
        return
    options = (*postgres._OPTIONS, *(part for each in SERVER for part in ("-c", each)))
    vars(postgres)["_OPTIONS"] = options
    server = postgres.PostgresServer()
    try:
        server.start()
        yield server.url(server.create())
    finally:
        server.stop()


def _time(figures: Figures, what: str, work: Callable[[], Any]) -> Any:
    started = time.perf_counter()
    done = work()
    figures[what] = time.perf_counter() - started
    print(f"  {what} {figures[what]:.2f}", file=sys.stderr, flush=True)
    return done


def _seconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _show(name: str, rows: int, figures: Figures) -> None:
    print(f"\n{name}, {rows:,} memories of {DIMENSIONS} numbers")
    for what, value in figures.items():
        print(f"  {what:<45}{value:>12.3f}")


if __name__ == "__main__":
    main()
