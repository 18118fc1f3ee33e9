"""Experiences in a real store, as a visit leaves them."""

from typing import Any

from whet.checks import store_samples as sample
from whet.core.ports import RunRecord, Store
from whet.core.records import Experience, Finding, now

PROJECT = "shop"
SITUATION = {
    "suite": "small",
    "pace": "fast",
    "failing": False,
    "changed": True,
    "history": "some",
    "budget": "ample",
}  # fmt: skip


def begin(store: Store, run_id: str = "run-1", project: str = PROJECT) -> None:
    started = {"code_version": "abc", "budget_seconds": 60.0, "seed": 1, "started_at": now()}
    store.runs.start(RunRecord(id=run_id, project=project, **started))


def live(
    store: Store, key: str, *findings: Finding, run_id: str = "run-1", failed: str | None = None, **more: Any
) -> Experience:
    outcome = {
        "duration_seconds": 2.5,
        "failed": failed,
        "cut_short": False,
        "findings": [each.model_dump(mode="json") for each in findings],
    } | more.pop("outcome", {})
    state = {"situation": SITUATION, "num_tests": 130, "ci_environment": False}
    lived = sample.experience(key, run_id=run_id, agent="test-executor", outcome=outcome, state=state, **more)
    assert store.experiences.learn(lived, None)
    return lived


def failing(test: str = "tests/test_cart.py::test_sum", evidence: str = "assert 3 == 4", **more: Any) -> Finding:
    title = f"{test} fails"
    return Finding(kind="failing-test", title=title, severity="high", evidence=evidence, test=test, **more)
