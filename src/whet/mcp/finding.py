"""Findings that hold now, or everything that was ever found."""

from collections.abc import Iterable

from whet.agents.flaky import verdicts_of
from whet.bootstrap.site import Site
from whet.core.feedback import Mark
from whet.core.ports import RunRecord, Store
from whet.core.records import Finding
from whet.mcp.answers import NOT_VISITED, FoundTrouble, FoundTroubles
from whet.mcp.quoting import named, quoted
from whet.store.sql_store import SqlStore

_LOOKED_AT_RUNS = 20
_URGENCY = ("critical", "high", "medium", "low")
_FAILED = frozenset({"failed", "error"})


def find(site: Site, kind: str | None, severity: str | None, limit: int, past: bool) -> FoundTroubles:
    if not site.visited:
        return FoundTroubles(findings=(), findings_total=0, code_unchanged=None, notes=(NOT_VISITED,))
    version = site.project.code_version()
    with site.store() as store:
        newest = next(iter(store.runs.recent(1)), None)
        known = store.runs.findings() if past else _holding(store, site, newest)
        asked = [f for f in known if kind in (None, f.kind) and severity in (None, f.severity)]
        shown = troubles(store, asked, limit)
    unchanged = None if newest is None else newest.code_version == version
    notes = () if unchanged is not False else ("The code changed since they were found; run_agent looks again.",)
    return FoundTroubles(findings=shown, findings_total=len(asked), code_unchanged=unchanged, notes=notes)


def troubles(store: SqlStore, findings: Iterable[Finding], limit: int) -> tuple[FoundTrouble, ...]:
    """The most urgent ones."""
    urgent = sorted(findings, key=lambda f: _URGENCY.index(f.severity))[:limit]
    marks = store.feedback.marks([f.fingerprint() for f in urgent])
    return tuple(_trouble(f, marks.get(f.fingerprint())) for f in urgent)


def _holding(store: Store, site: Site, newest: RunRecord | None) -> list[Finding]:
    """Of all late runs on the newest run's code, since a run may have sent one agent only. A test that passed
    meanwhile, or turned out flaky, no longer counts as failing."""
    if newest is None:
        return []
    same = [run for run in store.runs.recent(_LOOKED_AT_RUNS) if run.code_version == newest.code_version]
    found = {f.fingerprint(): f for run in reversed(same) for f in reversed(store.runs.findings(run.id))}
    verdicts = verdicts_of(store.history, site.project, newest.code_version)
    records = store.history.tests(newest.code_version)
    settled = {t for t, v in verdicts.items() if v.flaky} | {
        t for t, record in records.items() if record.last_outcome not in _FAILED
    }
    return [f for f in reversed(found.values()) if f.kind != "failing-test" or f.test not in settled]


def _trouble(finding: Finding, mark: Mark | None) -> FoundTrouble:
    return FoundTrouble(
        fingerprint=finding.fingerprint(),
        kind=finding.kind,
        severity=finding.severity,
        title=quoted(finding.title),
        evidence=quoted(finding.evidence),
        test=None if finding.test is None else named(finding.test),
        file=None if finding.file is None else named(finding.file),
        line=finding.line,
        probability=finding.probability,
        reproduce=None if finding.reproduce is None else quoted(finding.reproduce),
        marked=None if mark is None else mark.verdict,
    )
