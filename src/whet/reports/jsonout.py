"""The report for programs.

Schema version 1. Keys are those of `whet.reports.model`, times are ISO 8601 in UTC, durations are
seconds, probabilities and risks lie in 0..1, coverage in 0..100. `null` means "not known". A key is
never renamed, removed or given another meaning within a schema version; new ones may appear.
On top of the model: `headline` and `advice` as sentences, `coverage` null when it was not measured,
and for every finding its `fingerprint`, equal whenever the same trouble is met again.
"""

from typing import Any

from whet.reports.model import FoundLine, RunReport
from whet.reports.words import advice, by_urgency, headline

SCHEMA_VERSION = 1


def as_json(report: RunReport) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "headline": headline(report),
        "advice": advice(report),
        **report.model_dump(mode="json", exclude={"findings"}),
        "findings": [_found(found) for found in by_urgency(report.findings)],
    }


def _found(found: FoundLine) -> dict[str, Any]:
    finding = found.finding
    return {**finding.model_dump(mode="json"), "new": found.new, "fingerprint": finding.fingerprint()}
