"""How long a rollback takes in a store of 100,000 experiences: `python benchmarks/rollback.py --json OUT`.

Through the product's own `roll_out`: a canary that is worse, and a candidate in production that is worse and hands back
to the one it replaced. Seconds of work (processor) and in all (wall), the median of several stores; on SQLite, and on
the empty PostgreSQL database that `WHET_BENCH_POSTGRES` names.
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Table

from whet.checks.store_samples import decision, experience
from whet.core.candidates import Candidate, Lineage, NewCandidate, Stage
from whet.core.ports import Store
from whet.improvement.rollout.assignment import assigned, policy_name
from whet.improvement.rollout.people import promote
from whet.improvement.rollout.plan import Plan
from whet.improvement.rollout.stepping import roll_out
from whet.improvement.rollout.steps import Told, taken
from whet.store.experiences import _row
from whet.store.schema import decisions, experiences
from whet.store.sql_store import SqlStore, open_store

EXPERIENCES, PER_RUN, AT_ONCE = 100_000, 5, 5_000
AGENT, START, PLAN = "test-executor", datetime(2026, 3, 1, tzinfo=UTC), Plan()
NOW = START + timedelta(days=6)
_DECISION, _EXPERIENCE = {**decision().model_dump(), "state": {}}, _row(experience("key"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    figures: dict[str, Any] = {"experiences": EXPERIENCES}
    for name, prepare in (("canary", _canary), ("production", _production)):
        figures[f"sqlite_{name}"] = _median([_sqlite(prepare) for _ in range(arguments.repeats)])
    if "WHET_BENCH_POSTGRES" in os.environ:
        with open_store(os.environ["WHET_BENCH_POSTGRES"], b"key") as store:
            figures["postgresql_production"] = _measured(store, _production)
    text = json.dumps({"rollback_seconds": figures}, indent=2)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n")


def _sqlite(prepare: Callable[[Store], Candidate]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder, open_store(f"sqlite:///{folder}/whet.db", b"key") as store:
        return _measured(store, prepare)


def _measured(store: SqlStore, prepare: Callable[[Store], Candidate]) -> dict[str, float]:
    worse = prepare(store)
    _fill(store, worse)
    wall, work = time.perf_counter(), time.process_time()
    looks = roll_out(store, PLAN, NOW)
    spent = {"work": time.process_time() - work, "wall": time.perf_counter() - wall}
    gone = store.candidates.get(worse.number)
    if gone is None or gone.stage is not Stage.ROLLED_BACK:
        raise SystemExit(f"it was not rolled back: {looks[0].sentence}")
    return spent


def _canary(store: Store) -> Candidate:
    """In its step at 10 %, against the one in production."""
    _production(store)
    made = _added(store, "batch:canary")
    store.candidates.move(taken(made, Stage.PROVEN, 0.0, Told("proven")), START)
    roll_out(store, PLAN, START)
    return store.candidates.at_stage(AGENT, Stage.CANARY)[0]


def _production(store: Store) -> Candidate:
    """In production, having replaced another one."""
    for key in ("batch:old", "batch:new"):
        promoted = promote(store, _added(store, key).number, "benchmark", PLAN, START)
    return promoted


def _added(store: Store, key: str) -> Candidate:
    lineage = Lineage(batch=1, experiences=1000, first="a", last="z", parent=None, code_version="0", seed=1)
    new = NewCandidate(key=key, agent=AGENT, kind="tables", artefact="ab" * 32, lineage=lineage)
    return store.candidates.add(new, START)


def _fill(store: SqlStore, worse: Candidate) -> None:
    """Runs of the days before and after the step, a tenth or all of the latter decided by it, 20 lower."""
    dice = random.Random(1)
    rows = [_pair(run, number, worse, dice) for run in range(EXPERIENCES // PER_RUN) for number in range(PER_RUN)]
    for start in range(0, len(rows), AT_ONCE):
        _insert(store, decisions, [row for row, _ in rows[start : start + AT_ONCE]])
        _insert(store, experiences, [row for _, row in rows[start : start + AT_ONCE]])


def _insert(store: SqlStore, table: Table, rows: list[dict[str, Any]]) -> None:
    store._database.write(lambda connection: connection.execute(table.insert(), rows))


def _pair(run: int, number: int, worse: Candidate, dice: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    unit, at = f"run-{run}", START + timedelta(days=5) * (2 * run * PER_RUN / EXPERIENCES - 1)
    own = at >= START and assigned(worse, unit)
    where = {"agent": AGENT, "run_id": unit, "at": at}
    key = {"id": f"{unit}/{number}", "policy": policy_name(worse.number) if own else "tabular-thompson"}
    earned = {"key": f"{unit}/{number}", "decision_id": f"{unit}/{number}", "outcome": {"failed": None}}
    return _DECISION | where | key, _EXPERIENCE | where | earned | {
        "reward_credited": dice.gauss(30 if own else 50, 25)
    }


def _median(measured: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(statistics.median(each[name] for each in measured), 4) for name in measured[0]}


if __name__ == "__main__":
    main()
