"""The running summaries of test history equal a recount of everything that was ever recorded."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.checks.store_samples import verdict
from whet.core.ports import TestVerdict
from whet.store import open_store
from whet.store.schema import test_results

Delivery = tuple[int, list[TestVerdict]]
CODE = ("v0", "v0", "v1", "v1", "v2")  # of each run
VERDICTS = st.builds(
    verdict,
    test=st.sampled_from(["a", "b", "c"]),
    outcome=st.sampled_from(["passed", "failed", "error", "skipped", "xfailed"]),
    condition=st.sampled_from(["own-order", "shuffled"]),
    duration_seconds=st.integers(0, 8).map(lambda eighths: eighths / 8),
)
DELIVERIES = st.lists(st.tuples(st.integers(0, 4), st.lists(VERDICTS, max_size=6)), max_size=12)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("history") / "template.db"
    open_store(f"sqlite:///{path}").close()
    return path


@given(deliveries=DELIVERIES)
@settings(max_examples=60, deadline=None)
def test_history_equals_a_recount(template: Path, deliveries: list[Delivery]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "whet.db"
        shutil.copy(template, path)
        with open_store(f"sqlite:///{path}") as store:
            for run, verdicts in deliveries:
                store.history.record(f"run {run}", CODE[run], verdicts)
            known = store.history.tests("v1")
            assert set(known) == {each.test for _, verdicts in deliveries for each in verdicts}
            for test, record in known.items():
                _check(test, record.model_dump(), deliveries)


def _check(test: str, found: dict[str, object], deliveries: list[Delivery]) -> None:
    executed = [(run, each) for run, verdicts in deliveries for each in verdicts if each.test == test]
    failed = [(run, each) for run, each in executed if each.outcome in ("failed", "error")]
    runs = list(dict.fromkeys(run for run, _ in executed))
    ages = sorted(len(runs) - 1 - runs.index(run) for run in {run for run, _ in failed})
    same = [CODE[run] == "v1" for run, _ in executed]
    assert found["executions"] == len(executed)
    assert found["failures"] == len(failed)
    assert found["same_code_executions"] == sum(same)
    assert found["same_code_failures"] == sum(CODE[run] == "v1" for run, _ in failed)
    assert found["last_outcome"] == executed[-1][1].outcome
    assert found["mean_seconds"] == sum(each.duration_seconds for _, each in executed) / len(executed)
    assert found["last_failed_runs_ago"] == (ages[0] if ages else None)
    assert found["decayed_failures"] == pytest.approx(sum(0.7**age for age in ages))


def test_the_last_message_is_kept(store_url: str) -> None:
    message = "assert '\0' == '\ud800'" * 500
    with open_store(store_url) as store:
        store.history.record("r", "v", [verdict("a", "failed", message=message), verdict("a")])
        with store._database.engine.connect() as connection:
            assert connection.execute(test_results.select()).one().message == message
