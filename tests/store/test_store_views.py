"""Both databases keep the contract of pages and of feedback; what an older store holds is counted when it is opened."""

import sqlite3
from datetime import date
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from whet.checks import feedback, views
from whet.checks.store_samples import SITUATION, SampleState, finding, pending, run_record
from whet.core.views import Asked, Standing
from whet.store import SqlStore, open_store
from whet.store.schema import metadata

_LATER = (
    *("run_sums", "day_sums", "day_totals", "day_seconds", "day_findings"),
    *("awaiting", "marks", "ratings", "corrections", "reward_rules"),
)


@pytest.mark.parametrize("check", views.CHECKS, ids=lambda check: check.__name__)
def test_views_keep_their_contract(check: views.Check, store_url: str) -> None:
    check(lambda: open_store(store_url))


@pytest.mark.parametrize("check", feedback.CHECKS, ids=lambda check: check.__name__)
def test_feedback_keeps_its_contract(check: feedback.Check, store_url: str) -> None:
    check(lambda: open_store(store_url))


def _shown(store: SqlStore) -> list[object]:
    totals = [
        tuple(round(value, 6) if isinstance(value, float) else value for value in total)
        for total in store.views.totals(None, date(3000, 1, 1))
    ]
    return [
        totals,
        store.views.days(date(2000, 1, 1), date(3000, 1, 1)),
        store.views.found(date(2000, 1, 1), date(3000, 1, 1)),
        store.views.runs(),
        store.views.findings(Asked(kind="failing-test", severity="high")),
        store.views.waiting(),
    ]


def _made_older(url: str) -> None:
    """As the version before left it."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        for name in _LATER:
            connection.execute(text(f"DROP TABLE {name}"))
        for table in ("findings", "decisions", "learning_stats"):
            for index in metadata.tables[table].indexes:
                if {"latest", "seq", "id"} & {column.name for column in index.columns} or table == "findings":
                    connection.execute(text(f"DROP INDEX {index.name}"))
        for column in ("kind", "severity", "standing", "latest"):
            connection.execute(text(f"ALTER TABLE findings DROP COLUMN {column}"))
        connection.execute(text("UPDATE whet_schema_version SET version_num = '0006'"))
    engine.dispose()


def test_a_store_of_the_version_before_is_counted_when_it_is_opened(store_url: str) -> None:
    with open_store(store_url) as store:
        views.sums_are_those_of_the_experiences(lambda: open_store(store_url))
        store.runs.start(run_record("run-1"))
        store.runs.finish("run-1", "finished", {"used_seconds": 3.5})
        store.runs.note_findings("run-1", [finding("a"), finding("b")])
        for number in range(3):
            store.decisions.record(
                pending(id=f"d{number}", state_key=f"s{number % 2}"), SampleState(situation=SITUATION)
            )
        before = _shown(store)
    _made_older(store_url)
    with open_store(store_url) as store:
        assert _shown(store) == before


def test_lists_are_answered_from_indexes_alone(tmp_path: Path) -> None:
    """No page of a list sorts, or reads a table from end to end."""
    path = tmp_path / "whet.db"
    statements: list[str] = []
    with open_store(f"sqlite:///{path}") as store:
        store.runs.note_findings("run-1", [finding("a")])
        connection = sqlite3.connect(path)
        store._database.engine.dispose()

        from sqlalchemy import event

        @event.listens_for(store._database.engine, "before_cursor_execute")
        def note(_c: object, _cursor: object, statement: str, *_rest: object) -> None:
            statements.append(statement)

        read = store.views
        read.runs(9)
        read.decisions(before=9)
        read.decisions(agent="runner", before=9)
        read.decisions(run_id="run-1", before=9)
        read.waiting(9)
        read.audit(9)
        read.candidates(9)
        read.decision("x")
        read.finding("x")
        read.learning("runner", 10)
        for kind in (None, "flaky-test"):
            for severity in (None, "low"):
                for standing in (None, Standing.REAL):
                    read.findings(Asked(kind=kind, severity=severity, standing=standing), 9)
    plans = [
        (
            statement,
            [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", ["1"] * statement.count("?"))],
        )
        for statement in statements
        if statement.startswith("SELECT")
    ]
    connection.close()
    assert len(plans) >= 18
    for statement, plan in plans:
        assert not [
            step for step in plan if "TEMP B-TREE" in step or (step.startswith("SCAN") and "sightings" in step)
        ], (
            statement,
            plan,
        )
        full = [step for step in plan if step.startswith("SCAN") and "USING INDEX" not in step]
        assert all(each.split()[1] in {"awaiting", "audit_log", "audit_head"} for each in full), (statement, plan)
