"""The history of a failure: when, on which code, how likely it is flaky, at risk now, and what it resembles."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches

from whet.agents.flaky import verdicts_of
from whet.bootstrap.lane import find_lane
from whet.bootstrap.site import Site
from whet.core.errors import RefusedInput
from whet.core.ports import Store, TestRecord
from whet.core.sheets import FAILURES, OUTCOMES, SheetKey
from whet.core.text import printable
from whet.mcp.answers import NOT_VISITED, AtRisk, ExplainedFailure, Failure, KnownTest
from whet.mcp.flakiness import flaky_test
from whet.mcp.quoting import Quoted, named, quoted, sentence
from whet.mcp.recalling import resemblance
from whet.skills.flakiness import Verdict
from whet.skills.risk import Evidence, combined
from whet.tools import git

LOOKED_BACK_DAYS = 90
_MOST_FAILURES = 20
_MOST_TESTS = 5
_MOST_QUOTES = 3
_NODE_ID = re.compile(r"[\w./\\-]+\.py::\S+")


def explain(site: Site, test: str | None, text: str | None) -> ExplainedFailure:
    if not site.visited:
        return ExplainedFailure(tests=(), resembles=None, notes=(NOT_VISITED,))
    with site.store() as store:
        version = site.project.code_version()
        known = store.history.tests(version)
        tests = [_one(test, known, store)] if test is not None else _mentioned(text or "", known)
        said = _said(store, tests)
        asked = text or "\n".join(quote.text for quotes in said.values() for quote in quotes)
        resembles = resemblance(site, store, asked, tests)
        failed = _failed(site, store, tests, version)
        verdicts = verdicts_of(store.history, site.project, version)
        risks = _risks(site, store, tests, known)
    told = (
        _known(each, known.get(each), failed[each], said[each], verdicts.get(each), risks.get(each)) for each in tests
    )
    return ExplainedFailure(
        tests=tuple(told), resembles=resembles.found, notes=(*_about(text, tests), *resembles.notes)
    )


def _about(text: str | None, tests: Collection[str]) -> tuple[str, ...]:
    return () if tests or text is None else ("The text names no test that is known here.",)


def _one(test: str, known: Mapping[str, TestRecord], store: Store) -> str:
    """The id as given, or the one test that ends so."""
    everywhere = {*known, *_in_reports(store)}
    if test in everywhere:
        return test
    ending = sorted(each for each in everywhere if each.endswith((f"::{test}", f"/{test}")))
    if len(ending) == 1:
        return ending[0]
    near = ending or _alike(test, everywhere)
    there = f"Did you mean: {', '.join(map(named, near[:_MOST_TESTS]))}?" if near else "rank_tests lists the tests."
    problem = "is the end of several tests' ids" if ending else "was ever executed here under that id"
    raise RefusedInput(f"{'' if ending else 'No test '}{printable(test, 200)!r} {problem}.", there)


def _alike(test: str, everywhere: Collection[str]) -> list[str]:
    held = sorted(each for each in everywhere if test in each)
    return held or get_close_matches(test, everywhere, n=_MOST_TESTS)


def _in_reports(store: Store) -> Sequence[str]:
    """Tests that only ingested results speak of."""
    latest = store.sheets.latest()
    return () if latest is None else latest.tests


def _mentioned(text: str, known: Mapping[str, TestRecord]) -> list[str]:
    ids = (found.rstrip(".,:;)]'\"") for found in _NODE_ID.findall(text))
    return list(dict.fromkeys(each for each in ids if each in known))[:_MOST_TESTS]


def _said(store: Store, tests: Sequence[str]) -> dict[str, tuple[Quoted, ...]]:
    """Newest first."""
    found = [finding for finding in store.runs.findings() if finding.test in tests] if tests else []
    evidence = {test: [finding.evidence for finding in found if finding.test == test] for test in tests}
    return {test: tuple(map(quoted, each[:_MOST_QUOTES])) for test, each in evidence.items()}


def _failed(site: Site, store: Store, tests: Sequence[str], version: str) -> dict[str, list[Failure]]:
    """From the sheets of this lane, newest first."""
    found: dict[str, list[Failure]] = {test: [] for test in tests}
    since = SheetKey(datetime.now(UTC) - timedelta(days=LOOKED_BACK_DAYS), "")
    for sheet in store.sheets.read(find_lane(site.project.root).branches, after=since) if tests else ():
        for test, letter in zip(sheet.tests, sheet.outcomes, strict=True):
            if test in found and letter in FAILURES:
                here = None if sheet.code_version is None else sheet.code_version == version
                failure = Failure(
                    at=sheet.at,
                    outcome=OUTCOMES[letter],
                    source=sheet.source,
                    branch=None if sheet.branch is None else named(sheet.branch),
                    commit=None if sheet.commit is None else named(sheet.commit),
                    code_version=sheet.code_version,
                    on_present_code=here,
                )
                found[test].append(failure)
    return {test: failures[: -_MOST_FAILURES - 1 : -1] for test, failures in found.items()}


def _risks(site: Site, store: Store, tests: Sequence[str], known: Mapping[str, TestRecord]) -> dict[str, AtRisk]:
    changes = git.changes(site.project.root) if tests else None
    covered = store.history.coverage()[1] if tests else {}
    evidence = Evidence(tests, {} if changes is None else changes.files, covered, known, churn={})
    return {test: AtRisk(risk=r.risk, because=sentence(r.because)) for test, r in combined(evidence).items()}


def _known(
    test: str,
    record: TestRecord | None,
    failed: Sequence[Failure],
    said: tuple[Quoted, ...],
    verdict: Verdict | None,
    risk: AtRisk | None,
) -> KnownTest:
    return KnownTest(
        test=named(test),
        executions=0 if record is None else record.executions,
        failures=0 if record is None else record.failures,
        present_code_executions=0 if record is None else record.same_code_executions,
        present_code_failures=0 if record is None else record.same_code_failures,
        last_outcome=None if record is None else record.last_outcome,
        mean_seconds=None if record is None else record.mean_seconds,
        last_failed_runs_ago=None if record is None else record.last_failed_runs_ago,
        failed=tuple(failed),
        looked_back_days=LOOKED_BACK_DAYS,
        said=said,
        flaky=None if verdict is None else flaky_test(verdict),
        risk=risk,
    )
