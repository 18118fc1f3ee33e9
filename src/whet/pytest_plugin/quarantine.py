"""Failures of quarantined tests: seen, told, recorded, and not counted."""

from __future__ import annotations

import pytest


def set_aside(report: pytest.TestReport, reason: str) -> None:
    """Makes of a failure what pytest makes of one that was expected; what it was stays known for the records."""
    if report.failed:
        kept = "f" if report.when == "call" else "e"
        report.__dict__.update(outcome="skipped", wasxfail=f"quarantined: {reason}", whet_quarantined=kept)
