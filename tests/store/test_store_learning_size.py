"""What continuous learning asks of the store goes by indexes, never through whole tables."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event, text

from whet.checks.store_samples import SITUATION, SampleState, decision, experience
from whet.core.candidates import Stage
from whet.core.learning_log import Judged, Quality
from whet.store import SqlStore, open_store

AT = datetime(2024, 1, 1, tzinfo=UTC)
ASKED: dict[str, Callable[[SqlStore], object]] = {
    "unread": lambda store: store.learning.unread(10),
    "judge": lambda store: store.learning.judge([Judged("b", "runner", Quality.STALE, "")], 1),
    "verdicts": lambda store: store.learning.verdicts("runner"),
    "refused": lambda store: store.learning.refused(10),
    "waiting": lambda store: store.learning.waiting("runner"),
    "agents waiting": lambda store: store.learning.agents_waiting(),
    "close a batch": lambda store: store.learning.close_batch("runner", AT, 1),
    "batches": lambda store: store.learning.batches("runner"),
    "members": lambda store: store.learning.members(1),
    "trained before": lambda store: store.learning.trained_before("runner", 2, 10),
    "trim": lambda store: store.learning.trim(1),
    "forget": lambda store: store.learning.forget(AT, 0),
    "results": lambda store: store.learning.results("runner", AT),
    "at a stage": lambda store: store.candidates.at_stage("runner", Stage.CANARY),
}


SMALL = {"learning_cursor", "audit_head", "VALUES", "CONSTANT"}  # one row, or none


@pytest.fixture(params=["sqlite", "postgresql"], scope="module")
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStore]:
    """A few rows, so that no statement is left out."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('size') / 'whet.db'}"
    else:
        server = request.getfixturevalue("postgres")
        url = server.url(server.create())
    with open_store(url) as store:
        made = decision()
        store.decisions.record(made, SampleState(situation=SITUATION))
        for number in range(300):  # so that a planner prefers one index to another
            store.decisions.record(decision(at=AT - timedelta(days=number + 1)), SampleState(situation=SITUATION))
        store.experiences.learn(experience("a", decision=made), None)
        store.learning.collect([experience("x"), experience("y")], AT)
        store.learning.close_batch("runner", AT, 1)
        store.learning.collect([experience("z")], AT)
        if request.param == "postgresql":
            store._database.write(lambda connection: connection.execute(text("ANALYZE decisions")))
        yield store


@pytest.mark.parametrize("asked", ASKED)
def test_no_question_reads_a_whole_table(asked: str, filled: SqlStore) -> None:
    plans = _plans(filled, _statements(filled, lambda: ASKED[asked](filled)))
    # A scan of an index alone is what counting needs; partial ones hold few rows.
    whole = r"SCAN (\w+)(?! USING)\b" if filled._database.is_sqlite else r"Seq Scan on (\w+)"
    assert [found for plan in plans for found in re.findall(whole, plan) if found not in SMALL] == [], plans


@pytest.mark.parametrize(
    ("asked", "index"),
    [
        ("results", "ix_decisions_agent_at"),
        ("results", "ix_experiences_decision_id"),
        ("trained before", "ix_training_set_agent_batch"),
        ("close a batch", "ix_training_set_waiting"),
        ("refused", "ix_verdicts_refused"),
    ],
)
def test_the_narrowest_index_is_used(asked: str, index: str, filled: SqlStore) -> None:
    filled.learning.collect([experience(f"for {asked}")], AT)
    assert index in " ".join(_plans(filled, _statements(filled, lambda: ASKED[asked](filled))))


def _statements(store: SqlStore, ask: Callable[[], object]) -> list[tuple[str, Any]]:
    seen: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, many: bool) -> None:
        if statement.startswith(("SELECT", "UPDATE", "DELETE")) and "audit" not in statement:
            seen.append((statement, parameters[0] if many else parameters))

    event.listen(store._database.engine, "before_cursor_execute", note)
    try:
        ask()
    finally:
        event.remove(store._database.engine, "before_cursor_execute", note)
    assert seen
    return seen


def _plans(store: SqlStore, statements: list[tuple[str, Any]]) -> list[str]:
    """PostgreSQL would rather read a small table whole: told not to, it does so only where no index serves."""
    with store._database.engine.connect() as connection:
        word = "EXPLAIN QUERY PLAN"
        if not store._database.is_sqlite:
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
            word = "EXPLAIN"
        return [
            str(row[-1])
            for statement, parameters in statements
            for row in connection.exec_driver_sql(f"{word} {statement}", parameters)
        ]
