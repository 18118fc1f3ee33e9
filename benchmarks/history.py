"""How fast sheets are stored, read back, exported and merged: `python benchmarks/history.py`.

100,000 and 1,000,000 results (100 and 1,000 runs of 1,000 tests), so that what does not grow in proportion shows.
SQLite, and PostgreSQL where the tests' own server is installed.
Prints a table; writes JSON with --json.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from whet.core.sheets import Sheet, SheetKey, Snapshot
from whet.store import SqlStore, open_store
from whet.store.exchange import Extract, export_history
from whet.store.merging import merge_histories

T = TypeVar("T")
TESTS = 1_000
LARGE_TESTS = 10_000
START = datetime(2024, 1, 1, tzinfo=UTC)
Figures = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found: dict[str, dict[str, Figures]] = {}
    with tempfile.TemporaryDirectory() as folder:
        found["sqlite"] = _measured(lambda name: f"sqlite:///{folder}/{name}.db", Path(folder))
        with _postgres() as address:
            if address is not None:
                found["postgresql"] = _measured(address, Path(folder))
    for database, sizes in found.items():
        _show(database, sizes)
    if arguments.json:
        arguments.json.write_text(json.dumps({"results": found}, indent=2) + "\n")


def _measured(address: Callable[[str], str], folder: Path) -> dict[str, Figures]:
    return {f"{runs * TESTS}": _exchange(address, folder, runs) for runs in (100, 1_000)}


def _exchange(address: Callable[[str], str], folder: Path, runs: int) -> Figures:
    made, figures = list(_sheets(runs, TESTS)), Figures()
    file = folder / f"{runs}.whet"
    with closing(open_store(address(f"one{runs}"))) as one, closing(open_store(address(f"two{runs}"))) as two:
        _time(figures, "add", lambda: one.sheets.add(made))
        _time(figures, "add again", lambda: one.sheets.add(made))
        _time(figures, "read", lambda: sum(len(sheet.tests) for sheet in one.sheets.read()))
        _time(figures, "export", lambda: _export(one, file))
        _time(figures, "merge", lambda: merge_histories(two.sheets, [file]))
        _time(figures, "merge again", lambda: merge_histories(two.sheets, [file]))
        figures["file bytes per result"] = file.stat().st_size / (runs * TESTS)
        figures["store bytes per result"] = _stored_bytes(one) / (runs * TESTS)
        _small_questions(figures, one)
    return figures


def _stored_bytes(store: SqlStore) -> int:
    sqlite = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    postgres = "SELECT pg_database_size(current_database())"
    with store._database.engine.connect() as connection:
        found = connection.exec_driver_sql(sqlite if store._database.is_sqlite else postgres).scalar_one()
    return int(found)


def _small_questions(figures: Figures, store: SqlStore) -> None:
    """What a run of a large suite asks and says once."""
    (large,) = _sheets(1, LARGE_TESTS)
    _time(figures, f"add a run of {LARGE_TESTS}", lambda: store.sheets.add([large._replace(id="large")]))
    store.sheets.keep("main", Snapshot(1, SheetKey(START, "0"), bytes(1_000_000)))
    _time(figures, "latest", store.sheets.latest)
    _time(figures, "count", lambda: store.sheets.count(["main", None]))
    _time(figures, "snapshot of 1 MB", lambda: store.sheets.snapshot("main"))
    _time(figures, "quarantined", store.sheets.quarantined)
    _time(figures, "mapped", store.sheets.mapped)


def _export(store: SqlStore, file: Path) -> None:
    with file.open("wb") as target:
        export_history(store.sheets, target, Extract())


def _time(figures: Figures, what: str, work: Callable[[], T]) -> T:
    started = time.perf_counter()
    done = work()
    figures[what] = time.perf_counter() - started
    return done


def _sheets(runs: int, tests: int) -> Iterator[Sheet]:
    dice = random.Random(7)
    names = [f"tests/part_{n // 50}/test_module_{n // 10}.py::TestCase::test_{n}[case-{n % 7}]" for n in range(tests)]
    usual = [dice.lognormvariate(-3.0, 1.5) for _ in names]
    for run in range(runs):
        yield Sheet(
            id=f"run {run}",
            at=START + timedelta(minutes=run),
            source="pytest",
            tests=names,
            outcomes="".join("f" if dice.random() < 0.01 else "p" for _ in names),
            seconds=[seconds * dice.uniform(0.9, 1.1) for seconds in usual],
            branch=dice.choice(["main", "topic", None]),
            nearness=bytes(dice.choice((0, 50, 255)) for _ in names),
        )


@contextmanager
def _postgres() -> Iterator[Callable[[str], str] | None]:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    try:
        from tests.postgres import PostgresServer
    except ImportError as error:
        print(f"PostgreSQL is left out: {error}")
        yield None
        return
    server = PostgresServer()
    try:
        server.start()
        yield lambda name: server.url(server.create(name=name))
    finally:
        server.stop()


def _show(database: str, sizes: dict[str, Figures]) -> None:
    small, large = sizes.values()
    print(f"\n{database:28} {'100,000':>12} {'1,000,000':>12} {'ratio':>8}")
    for what, figure in large.items():
        unit = "" if "bytes" in what else " s"
        print(f"{what:28} {small[what]:>10.3f}{unit:2} {figure:>10.3f}{unit:2} {figure / small[what]:>8.1f}")


if __name__ == "__main__":
    main()
