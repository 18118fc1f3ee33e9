"""Visits that were broken off are marked so."""

from whet.core.ports import Store

LOOKED_AT_RUNS = 20


def mark_interrupted(store: Store, run_id: str | None = None) -> None:
    """That run, or every one that still counts as running: whoever holds the project's lock knows they were killed."""
    for run in store.runs.recent(LOOKED_AT_RUNS):
        if run.status == "running" and run_id in (None, run.id):
            store.runs.finish(run.id, "interrupted", run.summary)
