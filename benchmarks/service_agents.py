"""Many agents deciding and learning through REST at once; then the store is asked what is left of it."""

import asyncio
import time
from typing import NamedTuple

from benchmarks.service_load import Connection
from benchmarks.service_served import Served

from whet.bootstrap.site import open_site
from whet.core.ports import Scope
from whet.service.rest.samples import OUTCOME, STATE

AGENT = "test-executor"
EVERY_SECOND_TOLD_TWICE = 2


class Lived(NamedTuple):
    learned: int
    resident_mb: float  # after a tenth of the time
    later_mb: float  # at the end


async def live(served: Served, agents: int, minutes: float) -> Lived:
    """Each decides, keeps the decision and tells what came of it, every second one twice."""
    begun, seconds, learned = time.perf_counter(), 60.0 * minutes, 0
    early: list[float] = []

    async def agent(number: int) -> None:
        nonlocal learned
        connection = await Connection.to(served)
        run = (await connection.post_json("/api/v1/runs", {}))["run"]
        while (past := time.perf_counter() - begun) < seconds:
            if past > seconds / 10 and not early:
                early.append(served.resident_mb())
            question = {"agent": AGENT, "state": STATE | {"num_tests": 100 * (number % 16)}, "run": run, "keep": True}
            decision = await connection.post_json("/predict", question)
            told = {"agent": AGENT, "decision": decision["decision"], "outcome": OUTCOME}
            for _ in range(1 + number % EVERY_SECOND_TOLD_TWICE):
                answer = await connection.post_json("/api/v1/experiences", told)
                learned += answer["learned"]  # not before the await: others add meanwhile
        await connection.post_json(f"/api/v1/runs/{run}/finish", {})

    await asyncio.gather(*[agent(number) for number in range(agents)])
    return Lived(learned, early[0] if early else served.resident_mb(), served.resident_mb())


def lost(served: Served, learned: int) -> int:
    """Experiences that were acknowledged and are not there, or there twice; updates of cells likewise."""
    with open_site(served.folder).store() as store:
        there = store.experiences.count()
        rows = store.tables.rows(Scope.INDIVIDUAL, AGENT)
        visits = sum(entry.visits for entry in rows.values())
        if store.audit.verify().problem is not None:
            raise SystemExit("the audit trail does not hold")
    return abs(learned - there) + abs(2 * learned - visits)  # an experience moves two own cells: exact and abstract
