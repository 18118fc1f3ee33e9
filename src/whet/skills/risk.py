"""How likely is each test to fail now? A risk in 0..1 per test, from one kind of evidence or several.

The numbers order the tests; they are not measured probabilities of failure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from whet.core.ports import TestRecord
from whet.core.records import Probability, Record
from whet.skills.ordering.reach import CoverageMap, named_after


class Risk(Record):
    test: str
    risk: Probability
    because: str


@dataclass(frozen=True)
class Evidence:
    """What the risk is judged from."""

    tests: Sequence[str]
    changed: Mapping[str, Sequence[int]]
    covered: CoverageMap
    records: Mapping[str, TestRecord]
    churn: Mapping[str, int]


def by_coverage(evidence: Evidence) -> dict[str, Risk]:
    """Share of the changed lines that a test executes; a changed file it enters counts for a little."""
    changed = {file: set(lines) for file, lines in evidence.changed.items()}
    total = sum(len(lines) for lines in changed.values()) or 1
    return {t: _covering(t, changed, evidence.covered.get(t), total) for t in evidence.tests}


def _covering(
    test: str, changed: Mapping[str, set[int]], covered: Mapping[str, Sequence[int]] | None, total: int
) -> Risk:
    if covered is None:
        return Risk(test=test, risk=0.3, because="its coverage was never measured")
    lines = sum(len(changed[f].intersection(ns)) for f, ns in covered.items() if f in changed)
    files = [f for f in covered if f in changed]
    if lines:
        return Risk(test=test, risk=min(1.0, 0.5 + lines / total / 2), because=f"runs {lines} changed line(s)")
    if files:
        return Risk(test=test, risk=0.2, because=f"runs code in {files[0]}, which changed")
    return Risk(test=test, risk=0.01, because="runs no changed code")


def by_diff(evidence: Evidence) -> dict[str, Risk]:
    """Names and places only: the changed file itself, its namesake, its neighbours."""
    return {t: _near(t, evidence.changed) for t in evidence.tests}


def _near(test: str, changed: Mapping[str, Sequence[int]]) -> Risk:
    file = test.split("::", 1)[0]
    if file in changed:
        return Risk(test=test, risk=0.9, because=f"{file} itself changed")
    for other in changed:
        if named_after(test, other):
            return Risk(test=test, risk=0.7, because=f"is named after {other}, which changed")
    for other in changed:
        if _shared_parts(file, other):
            return Risk(test=test, risk=0.2, because=f"lies near {other}, which changed")
    return Risk(test=test, risk=0.05, because="nothing near it changed")


def _shared_parts(test_file: str, other: str) -> bool:
    own = set(PurePosixPath(test_file).parent.parts) - {"tests", "test", "src"}
    return bool(own & (set(PurePosixPath(other).parent.parts) - {"tests", "test", "src"}))


def by_history(evidence: Evidence) -> dict[str, Risk]:
    """Past failures, each fading by 0.7 a run: x / (1 + x)."""
    return {t: _past(t, evidence.records.get(t)) for t in evidence.tests}


def _past(test: str, record: TestRecord | None) -> Risk:
    if record is None:
        return Risk(test=test, risk=0.3, because="it never ran before")
    if not record.failures:
        return Risk(test=test, risk=0.02, because=f"passed all {record.executions} time(s)")
    risk = record.decayed_failures / (1 + record.decayed_failures)
    return Risk(test=test, risk=risk, because=f"failed {record.failures} of {record.executions} time(s)")


def by_churn(evidence: Evidence) -> dict[str, Risk]:
    """How often the files it runs were committed lately, against the busiest file."""
    busiest = max(evidence.churn.values(), default=0)
    return {t: _busy(t, evidence, busiest) for t in evidence.tests}


def _busy(test: str, evidence: Evidence, busiest: int) -> Risk:
    files = [*evidence.covered.get(test, ()), test.split("::", 1)[0]]
    file = max(files, key=lambda f: evidence.churn.get(f, 0))
    commits = evidence.churn.get(file, 0)
    share = commits / busiest if busiest else 0.0
    return Risk(test=test, risk=0.5 * share, because=f"{file} changed in {commits} recent commit(s)")


def combined(evidence: Evidence) -> dict[str, Risk]:
    """At least one of the signs is right: 1 − Π (1 − risk), told by the strongest."""
    views = [by_coverage(evidence), by_diff(evidence), by_history(evidence)]
    return {t: _either([view[t] for view in views]) for t in evidence.tests}


def _either(risks: Sequence[Risk]) -> Risk:
    safe = 1.0
    for r in risks:
        safe *= 1.0 - r.risk
    strongest = max(risks, key=lambda r: r.risk)
    return Risk(test=strongest.test, risk=min(1.0, 1.0 - safe), because=strongest.because)


def ranked(risks: Mapping[str, Risk]) -> list[Risk]:
    """Most at risk first; equal risks keep the suite's own order."""
    return sorted(risks.values(), key=lambda r: -r.risk)
