"""Failures of quarantined tests: seen, told, recorded, and not counted."""

from __future__ import annotations

import pytest


def set_aside(report: pytest.TestReport, reason: str) -> None:
    """Makes of a failure what pytest makes of one that was expected; what it was stays known for the records."""
    if report.failed:
        kept = "f" if report.when == "call" else "e"
        report.__dict__.update(outcome="skipped", wasxfail=f"quarantined: {reason}", whet_quarantined=kept)


def torn_down_alone(item: pytest.Item) -> Exception | None:
    """Ends the test and its own fixtures, not those of its class, module or session; the error, if there was one."""
    try:
        item.session._setupstate.teardown_exact(item.parent)  # type: ignore[arg-type]  # goes by the chain of parents
    except Exception as error:
        return error
    return None
