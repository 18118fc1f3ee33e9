"""Findings hold as long as the code is the same, and a flaky test is not called failing."""

from pathlib import Path

from whet.core.ports import RunRecord, Store
from whet.core.records import Finding, now
from whet.reports.compose import settled
from whet.store.sql_store import open_store


def visit(store: Store, number: int, code: str, *found: Finding) -> RunRecord:
    run = RunRecord(id=f"run{number}", project="p", code_version=code, budget_seconds=1, seed=1, started_at=now())
    store.runs.start(run)
    store.runs.note_findings(run.id, found)
    store.runs.finish(run.id, "finished", {})
    return run


def finding(kind: str, test: str | None = None, line: int | None = None) -> Finding:
    return Finding.model_validate(
        {
            "kind": kind,
            "title": kind,
            "severity": "high",
            "evidence": "seen",
            "test": test,
            "file": "a.py",
            "line": line,
        }
    )


def test_what_holds_for_this_code_is_told_again_and_what_is_run_anew_is_not(tmp_path: Path) -> None:
    gap, failing, flaky = finding("coverage-gap", line=3), finding("failing-test", "t1"), finding("flaky-test", "t2")
    with open_store(f"sqlite:///{tmp_path}/whet.db") as store:
        visit(store, 1, "code", gap, failing, flaky)
        again = visit(store, 2, "code")
        other = visit(store, 3, "other code")
        assert {f.kind for f in settled(store, again)} == {"coverage-gap", "flaky-test"}
        assert settled(store, other) == []


def test_a_test_that_turned_out_flaky_is_no_longer_called_failing(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/whet.db") as store:
        run = visit(
            store, 1, "code", finding("failing-test", "t"), finding("failing-test", "u"), finding("flaky-test", "t")
        )
        assert {(f.kind, f.test) for f in settled(store, run)} == {("failing-test", "u"), ("flaky-test", "t")}
