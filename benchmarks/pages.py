"""Does a page's time grow with what is stored? Fills stores of two sizes and times every page, and every question
behind it: ten times the rows should cost less than 1.5 times the time. Then a browser looks at each page of the larger
one: the first words should be there within a second.

    python benchmarks/pages.py --decisions 10000 --experiences 100000 --json OUT

Rows are put in directly (a million of them would take an hour to live through); sums are then made by the migration,
as for a store of an earlier version.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import text

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.service_paint import first_paints_ms
from benchmarks.service_served import serving

from whet.bootstrap.site import Site, open_site
from whet.checks.store_samples import SITUATION, SampleState, decision, experience, finding
from whet.core.people import Role
from whet.core.records import Review, now
from whet.core.views import Asked, Standing
from whet.service.app import create_app
from whet.service.keys import mint, service_secret
from whet.store.experiences import _row
from whet.store.learning_schema import arrivals
from whet.store.schema import audit_log, decisions, experiences, findings, learning_stats, metadata, runs, sightings
from whet.store.sql_store import SqlStore

START = datetime(2026, 1, 1, tzinfo=UTC)
PER_RUN, BATCH, REPEATS, ROUNDS = 20, 5000, 20, 4
PAGES = (
    *("/", "/runs", "/runs/run-7", "/findings", "/findings?severity=low&kind=flaky-test", "/decisions", "/review"),
    *("/decisions/decision-99", "/learning", "/models", "/experiments", "/rewards", "/resources", "/audit", "/memory"),
)


def filled(folder: Path, decided: int, lived: int) -> Site:
    """Whole, or not under its name."""
    if not folder.exists():
        part = folder.with_name(f"{folder.name}.part")
        _fill(part, decided, lived)
        part.rename(folder)
    return open_site(folder)


def _fill(folder: Path, decided: int, lived: int) -> None:
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "pages"\n')
    site = open_site(folder)
    with site.store() as store:
        _insert(store, experiences, (_experience(n) for n in range(lived)))
        _insert(store, arrivals, ({"position": n + 1, "experience": n + 1} for n in range(lived)))
        _insert(store, decisions, (_decision(n) for n in range(decided)))
        _insert(store, runs, (_run(n) for n in range(lived // PER_RUN)))
        _insert(store, findings, (_finding(n) for n in range(decided // 10)))
        _insert(store, sightings, (_sighting(n) for n in range(decided // 10)))
        _insert(store, audit_log, (_entry(n) for n in range(lived)))
        _insert(store, learning_stats, (_learned(n) for n in range(lived // PER_RUN)))
        _forget_sums(store)
    with site.store():
        pass  # the sums are made


def _insert(store: SqlStore, table: Any, rows: Any) -> None:
    batch: list[dict[str, Any]] = []
    with store._database.engine.connect().execution_options(whet_writes=True) as connection, connection.begin():
        for row in rows:
            batch.append(row)
            if len(batch) == BATCH:
                connection.execute(table.insert(), batch)
                batch.clear()
        if batch:
            connection.execute(table.insert(), batch)


def _at(number: int) -> datetime:
    """A year of runs, up to now."""
    return now() - timedelta(minutes=525_600 * (1 - (number % 1_000_003) / 1_000_003))


def _experience(number: int) -> dict[str, Any]:
    if not hasattr(_experience, "row"):
        _experience.row = _row(experience("model"))  # type: ignore[attr-defined]
    run = number // PER_RUN
    changes = {"key": f"key-{number}", "run_id": f"run-{run}", "decision_id": f"decision-{number}"}
    told = {"reward_credited": float(number % 17) - 5.0, "at": START + timedelta(days=run % 365)}
    return _experience.row | changes | told  # type: ignore[attr-defined, no-any-return]


def _decision(number: int) -> dict[str, Any]:
    if not hasattr(_decision, "row"):
        made = decision().model_dump() | {"state": SampleState(situation=SITUATION).model_dump()}
        _decision.row = {name: value for name, value in made.items() if name in decisions.c}  # type: ignore[attr-defined]
    review = Review.PENDING if number % 20 == 0 else Review.NOT_NEEDED
    changes = {"id": f"decision-{number}", "run_id": f"run-{number // PER_RUN}", "review": review.value}
    return _decision.row | changes | {"agent": f"agent-{number % 5}", "state_key": f"state-{number % 40}"}  # type: ignore[attr-defined, no-any-return]


def _run(number: int) -> dict[str, Any]:
    return {
        "id": f"run-{number}",
        "project": "pages",
        "code_version": "x",
        "budget_seconds": 60.0,
        "seed": "1",
        "started_at": START + timedelta(days=number % 365),
        "status": "finished",
        "summary": {"used_seconds": 12.0},
    }


def _finding(number: int) -> dict[str, Any]:
    seen = finding(f"test-{number}")
    at = START + timedelta(days=number % 365)
    where = {"first_run_id": f"run-{number}", "last_run_id": f"run-{number}", "first_seen": at, "last_seen": at}
    return {"fingerprint": seen.fingerprint(), **where}


def _sighting(number: int) -> dict[str, Any]:
    seen = finding(f"test-{number}")
    kind, severity = ("failing-test", "flaky-test")[number % 2], ("high", "low", "medium")[number % 3]
    told = seen.model_dump() | {"kind": kind, "severity": severity}
    return {"run_id": f"run-{number}", "fingerprint": seen.fingerprint(), "finding": told}


def _entry(number: int) -> dict[str, Any]:
    told = {"kind": "learned", "subject": f"key-{number}", "payload": "{}", "at": START, "digest": "0" * 64}
    return {"seq": number + 1, **told}


def _learned(number: int) -> dict[str, Any]:
    stats = {"success_rate": 1.0, "avg_episode_reward": 2.0, "episodes_completed": 4}
    return {"run_id": f"run-{number}", "agent": f"agent-{number % 5}", "stats": stats, "at": START}


def _forget_sums(store: SqlStore) -> None:
    """As the version before left it; opening the store again makes them."""
    later = ("run_sums", "day_sums", "day_totals", "day_seconds", "day_findings", "awaiting")
    rest = ("marks", "ratings", "corrections", "reward_rules")
    with store._database.engine.connect().execution_options(whet_writes=True) as connection, connection.begin():
        for name in (*later, *rest):
            connection.execute(text(f"DROP TABLE {name}"))
        for table in ("findings", "decisions", "learning_stats"):
            for index in metadata.tables[table].indexes:
                if {"latest", "seq", "id"} & {column.name for column in index.columns}:
                    connection.execute(text(f"DROP INDEX {index.name}"))
        for column in ("kind", "severity", "standing", "latest"):
            connection.execute(text(f"ALTER TABLE findings DROP COLUMN {column}"))
        connection.execute(text("UPDATE whet_schema_version SET version_num = '0006'"))


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of the processor, the least of several times: others are at work on the machine."""
    work()
    taken = []
    for _ in range(REPEATS):
        began = time.process_time()
        work()
        taken.append((time.process_time() - began) * 1000)
    return min(taken)


def measured(site: Site) -> dict[str, float]:
    with site.store() as store:
        views = store.views
        middle = (views.decisions().items[0].number if views.decisions().items else 1) // 2
        questions: dict[str, Callable[[], object]] = {
            "runs": views.runs,
            "decisions": views.decisions,
            "decisions, deep": lambda: views.decisions(before=middle),
            "decisions of an agent": lambda: views.decisions(agent="agent-3"),
            "waiting": views.waiting,
            "findings": lambda: views.findings(Asked()),
            "findings, filtered": lambda: views.findings(
                Asked(kind="flaky-test", severity="low", standing=Standing.UNMARKED)
            ),
            "totals": lambda: views.totals(None, now().date()),
            "audit": views.audit,
        }
        told = {f"question: {name}": timed(work) for name, work in questions.items()}
        key = mint(service_secret(site), "benchmark", Role.ADMIN)
        store.people.add(key.kept, "benchmark", now())
        headers = {"authorization": f"Bearer {key.text}", "accept": "text/html", "host": "127.0.0.1"}
        with TestClient(create_app(site, store), headers=headers) as client:
            for path in PAGES:
                assert client.get(path).status_code == 200, path
                told[path] = timed(lambda path=path: client.get(path))  # type: ignore[misc]
    return told


def in_turn(sites: Mapping[str, Site]) -> dict[str, dict[str, float]]:
    """The least of several rounds, one site after the other, so that each meets the machine's better moments."""
    found: dict[str, dict[str, float]] = {name: {} for name in sites}
    for _ in range(ROUNDS):
        for name, site in sites.items():
            for what, taken in measured(site).items():
                found[name][what] = min(taken, found[name].get(what, taken))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=10_000, help="of the larger store; the other has a tenth")
    parser.add_argument("--experiences", type=int, default=100_000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--stores", type=Path, help="a folder that keeps the stores, to measure once more")
    asked = parser.parse_args()
    with nullcontext(asked.stores) if asked.stores else tempfile.TemporaryDirectory() as folder:
        sizes = {"small": 10, "large": 1}
        sites = {
            name: filled(Path(folder) / name, asked.decisions // part, asked.experiences // part)
            for name, part in sizes.items()
        }
        found = in_turn(sites)
        with serving(Path(folder) / "large") as at:
            paints = first_paints_ms(at, PAGES)
    ratios = {name: found["large"][name] / found["small"][name] for name in found["small"]}
    for name, ratio in ratios.items():
        print(f"{name:45} {found['small'][name]:8.2f} ms {found['large'][name]:8.2f} ms  ×{ratio:.2f}")
    print(f"worst: ×{max(ratios.values()):.2f}")
    for path, paint in paints.items():
        print(f"first contentful paint of {path:40} {paint:8.0f} ms")
    print(f"slowest: {max(paints.values()):.0f} ms")
    if asked.json:
        told = {"milliseconds": found, "ratios": ratios, "worst": max(ratios.values())}
        asked.json.write_text(json.dumps(told | {"first_paint_ms": paints, "slowest_paint_ms": max(paints.values())}))


if __name__ == "__main__":
    main()
