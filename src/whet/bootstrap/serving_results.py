"""What is known of a service, and what a test of it measured, in the words that agents use."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from typing import Any

from whet.bootstrap.api import Visit
from whet.core.records import Finding
from whet.core.services import Heard, ServiceRun, ServiceStanding
from whet.reports.api.model import ApiReport, FaultLine
from whet.reports.api.words import KINDS, present
from whet.skills.api import knowledge as memory
from whet.skills.api.contract.changes import Change
from whet.skills.api.contract.model import Contract, Json
from whet.skills.api.exchange import Exchange
from whet.skills.api.learning.novelty import Novelty
from whet.skills.api.oracles.causes import error_signature
from whet.tools.http.origin import split_address
from whet.tools.served import PORT, Served

_AS_EXAMPLES = frozenset({"example", "examples", "enum", "const"})
_SHOWN_PORT = "8000"  # in commands to paste; the one of the test was free then, and may not be now


class Watch:
    """Sees every exchange of exploring and counts what was accepted, and what was new."""

    def __init__(self, visit: Visit, hear: Heard) -> None:
        self._visit, self._hear = visit, hear
        self._novelty = Novelty()
        self.valid = self.accepted = self.behaviours = 0
        visit.explorer.hears(self.count)

    def count(self, exchange: Exchange) -> None:
        status = exchange.response.status
        signature = error_signature(exchange) if status is not None and status >= 400 else None
        news = self._novelty.news(exchange, signature, ())
        self.behaviours += news.status or news.shape or news.error
        draft = exchange.draft
        if draft.mutation is None and draft.broken is None and draft.credentials == "given":
            self.valid += 1
            self.accepted += exchange.ok

    def tell(self) -> None:
        requests, _, suspected = self._visit.campaign.progress()
        self._hear(requests, self._visit.asked.budget.requests or requests, suspected)


def known_of(
    before: memory.Knowledge, contract: Contract, operations: Set[str], changed: Set[str], changes: Sequence[Change]
) -> ServiceStanding:
    return ServiceStanding(
        operations=len(operations),
        reached_before=len(operations & before.recipes.keys()),
        known_faults=len(memory.remembered_faults(before, contract)),
        changed_operations=len(changed),
        breaking_changes=sum(one.breaking for one in changes),
        runs=before.runs,
        has_examples=any(name in _AS_EXAMPLES for name in _names(contract.given)),
        accepted=_accepted(before.beliefs.get("shared sources", ())),
    )


def run_of(visit: Visit, report: ApiReport, watch: Watch, service: Served, start: str) -> ServiceRun:
    there = present(report.faults)
    reached = {line.id for line in report.operations if line.reached_at is not None}
    standings = Counter(line.standing for line in report.faults)
    return ServiceRun(
        requests=report.requests,
        seconds=report.seconds or 0.0,
        operations=len(report.operations),
        reached=len(reached),
        reached_new=len(reached - visit.before.recipes.keys()),
        valid=watch.valid,
        accepted=watch.accepted,
        behaviours=watch.behaviours,
        faults=Counter(str(line.kind) for line in there),
        faults_new=Counter(line.severity for line in there if line.standing == "new"),
        still_there=standings["known"],
        fixed=standings["fixed"],
        restarts=service.deaths,
        findings=tuple(_finding(line, service, start) for line in there),
        notes=report.notes,
    )


def _finding(line: FaultLine, service: Served, start: str) -> Finding:
    unsure = "" if line.confirmed else "\nIt was not seen a second time."
    return Finding(
        kind="api-fault",
        title=f"{KINDS[line.kind][0]}: {line.title}",
        severity=line.severity,
        evidence=f"{line.detail}{unsure}",
        reproduce=_pasteable(line, service, start),
        cause=line.cause,
    )


def _pasteable(line: FaultLine, service: Served, start: str) -> str:
    """The service, then the requests, on one line; on a port that stays the same from run to run."""
    requests = "; ".join(line.curl.split("\n"))
    if PORT in service.command.url:
        there, _ = split_address(service.address)
        shown, _ = split_address(service.command.url.replace(PORT, _SHOWN_PORT))
        start, requests = start.replace(PORT, _SHOWN_PORT), requests.replace(str(there), str(shown))
    return f"{start} & sleep 3; {requests}"


def _accepted(rows: Any) -> dict[str, float]:
    """By source, over all slots; rows are [[where, type, source], accepted, refused]."""
    tries: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for (_, _, source), won, lost in rows:
        tries[source][0] += won
        tries[source][1] += lost
    return {source: won / (won + lost) for source, (won, lost) in tries.items() if won + lost}


def _names(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for name, one in value.items():
            yield str(name)
            yield from _names(one)
    elif isinstance(value, list):
        for one in value:
            yield from _names(one)
