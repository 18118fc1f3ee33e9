"""What became of every test, run by run, and which lines each one executes.

A summary per test is kept up to date as verdicts come in: reading what is known of 5,000 tests
takes the same time after ten runs and after ten thousand. Verdicts of one run are kept as counts
per test and condition. A test's runs are numbered by its own *turns*, because a failure's age is
counted in runs that executed that test.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, ClassVar

from sqlalchemy import Connection, Row, delete, func, select

from whet.core.ports import ConditionCount, TestRecord, TestVerdict
from whet.core.records import now
from whet.store.engine import Database
from whet.store.escapes import digest_of
from whet.store.line_sets import to_lines, to_numbits
from whet.store.schema import coverage_lines, coverage_map, test_results, test_runs, tests
from whet.store.summaries import Summary, Tally, decayed, tallies
from whet.store.validated import validated

_HISTORY_LOCK = 0x68697374  # "hist"
_BATCH = 500


class SqlTestHistory:
    __test__: ClassVar[bool] = False

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, run_id: str, code_version: str, verdicts: Iterable[TestVerdict]) -> None:
        counted = tallies(validated(verdict) for verdict in verdicts)
        if counted:
            self._database.write(lambda connection: self._record(connection, run_id, code_version, counted))

    def tests(self, code_version: str) -> dict[str, TestRecord]:
        return self._database.read(lambda connection: _tests(connection, code_version))

    def conditions(self, code_version: str) -> list[ConditionCount]:
        query = _same_code(code_version, tests.c.test, test_results.c.condition).join(tests)
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return sorted(ConditionCount(row.test, row.condition, row.executions, row.failures) for row in rows)

    def plain_seconds(self) -> dict[str, float]:
        executions, seconds = func.sum(test_results.c.executions), func.sum(test_results.c.total_seconds)
        plain = select(tests.c.test, executions, seconds).join(tests).where(test_results.c.condition == "own-order")
        rows = self._database.read(lambda connection: connection.execute(plain.group_by(tests.c.test)).all())
        return {test: float(total) / float(count) for test, count, total in rows}

    def traits(self) -> dict[str, tuple[bool | None, float | None]]:
        query = select(tests.c.test, tests.c.network, tests.c.slept_seconds)
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return {row.test: (row.network, row.slept_seconds) for row in rows}

    def cover(self, code_version: str, lines: Mapping[str, Mapping[str, Sequence[int]]]) -> None:
        rows = list(_coverage_rows(lines))
        self._database.write(lambda connection: self._cover(connection, code_version, rows))

    def coverage(self) -> tuple[str | None, dict[str, dict[str, tuple[int, ...]]]]:
        return self._database.read(_coverage)

    def _record(
        self, connection: Connection, run_id: str, code_version: str, counted: Mapping[str, Mapping[str, Tally]]
    ) -> None:
        self._database.take_turns(connection, _HISTORY_LOCK)
        test_run = self._test_run(connection, run_id, code_version)
        digests = {digest_of(test): test for test in counted}
        known = _known(connection, run_id, digests)
        for digest, test in digests.items():
            known.setdefault(digest, Summary(test)).add(counted[test].values())
        ids = self._save_summaries(connection, known)
        rows = [
            {"test_run_id": test_run, "test_id": ids[digest], "condition": condition, "turn": known[digest].turn}
            | tally.columns()
            for digest, test in digests.items()
            for condition, tally in counted[test].items()
        ]
        connection.execute(self._adding(), rows)

    def _test_run(self, connection: Connection, run_id: str, code_version: str) -> int:
        row = {"run_id": run_id, "code_version": code_version}
        connection.execute(self._database.insert(test_runs).on_conflict_do_nothing(), row)
        same = (test_runs.c.run_id == run_id, test_runs.c.code_version == code_version)
        return int(connection.execute(select(test_runs.c.id).where(*same)).scalar_one())

    def _save_summaries(self, connection: Connection, known: Mapping[str, Summary]) -> dict[str, int]:
        insert = self._database.insert(tests)
        changing = {name: insert.excluded[name] for name in Summary.CHANGING}
        upsert = insert.on_conflict_do_update(index_elements=["digest"], set_=changing)
        rows = [{"digest": digest, **summary.columns()} for digest, summary in known.items()]
        saved = connection.execute(upsert.returning(tests.c.digest, tests.c.id), rows)
        return {row.digest: row.id for row in saved}

    def _adding(self) -> Any:
        insert = self._database.insert(test_results)
        new, old = insert.excluded, test_results.c
        added = {name: old[name] + new[name] for name in ("executions", "failures", "total_seconds")}
        message = func.coalesce(new.message, old.message)
        return insert.on_conflict_do_update(
            index_elements=["test_run_id", "test_id", "condition"],
            set_={**added, "last_outcome": new.last_outcome, "message": message},
        )

    def _cover(self, connection: Connection, code_version: str, rows: list[dict[str, Any]]) -> None:
        self._database.take_turns(connection, _HISTORY_LOCK)
        connection.execute(delete(coverage_lines))
        insert = self._database.insert(coverage_map).values(id=1, code_version=code_version, at=now())
        kept = {"code_version": insert.excluded.code_version, "at": insert.excluded.at}
        connection.execute(insert.on_conflict_do_update(index_elements=["id"], set_=kept))
        if rows:
            connection.execute(coverage_lines.insert(), rows)


def _known(connection: Connection, run_id: str, digests: Iterable[str]) -> dict[str, Summary]:
    """What is known of these tests, and which turn this run is or will be for each."""
    wanted = sorted(digests)
    in_run = (
        select(test_results.c.test_id, test_results.c.turn, func.sum(test_results.c.failures).label("failed"))
        .join(test_runs)
        .where(test_runs.c.run_id == run_id)
        .group_by(test_results.c.test_id, test_results.c.turn)
    )
    met = {row.test_id: (row.turn, row.failed > 0) for row in connection.execute(in_run)}
    found: dict[str, Summary] = {}
    for start in range(0, len(wanted), _BATCH):
        rows = connection.execute(select(tests).where(tests.c.digest.in_(wanted[start : start + _BATCH])))
        found.update({row.digest: Summary.of(row, met.get(row.id)) for row in rows})
    return found


def _same_code(code_version: str, *by: Any) -> Any:
    executions, failures = func.sum(test_results.c.executions), func.sum(test_results.c.failures)
    counts = select(*by, executions.label("executions"), failures.label("failures"))
    return counts.join_from(test_results, test_runs).where(test_runs.c.code_version == code_version).group_by(*by)


def _tests(connection: Connection, code_version: str) -> dict[str, TestRecord]:
    same = {row.test_id: row for row in connection.execute(_same_code(code_version, test_results.c.test_id))}
    return {row.test: _record_of(row, same.get(row.id)) for row in connection.execute(select(tests))}


def _record_of(row: Row[Any], same: Row[Any] | None) -> TestRecord:
    ago = None if row.last_failed_turn is None else row.runs - row.last_failed_turn
    return TestRecord(
        test=row.test,
        executions=row.executions,
        failures=row.failures,
        same_code_executions=0 if same is None else same.executions,
        same_code_failures=0 if same is None else same.failures,
        last_outcome=row.last_outcome,
        mean_seconds=row.total_seconds / row.executions,
        last_failed_runs_ago=ago,
        decayed_failures=0.0 if ago is None else decayed(row.decayed_failures, ago),
    )


def _coverage_rows(lines: Mapping[str, Mapping[str, Sequence[int]]]) -> Iterator[dict[str, Any]]:
    for test, files in lines.items():
        if not files:
            yield {"test": test, "file": None, "lines": b""}
        for file, numbers in files.items():
            yield {"test": test, "file": file, "lines": to_numbits(file, numbers)}


def _coverage(connection: Connection) -> tuple[str | None, dict[str, dict[str, tuple[int, ...]]]]:
    version = connection.execute(select(coverage_map.c.code_version)).scalar_one_or_none()
    rows = connection.execute(select(coverage_lines).order_by(coverage_lines.c.id))
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    for test, files in groupby(rows, key=lambda row: row.test):
        found[test] = {row.file: tuple(to_lines(row.lines)) for row in files if row.file is not None}
    return version, found
