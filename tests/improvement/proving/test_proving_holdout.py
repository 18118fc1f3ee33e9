"""Which runs are held out, and how often they judged before."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.improvement.proving.proving_scenes import START, Told, evenly, lived

from whet.core.candidates import Candidate, Lineage
from whet.core.errors import RefusedInput
from whet.improvement.proving.holdout import WINDOW, Window, begins_after, fresh, held_out, tried, window


def candidate(number: int, judged: Window | None = None) -> Candidate:
    return Candidate(
        number=number,
        key=f"batch:{number}",
        agent="test-executor",
        kind="tables",
        artefact="0" * 64,
        lineage=Lineage(batch=1, experiences=1, first=None, last=None, parent=None, code_version="1", seed=0),
        evidence={} if judged is None else {WINDOW: judged.model_dump(mode="json")},
        since=START,
        made_at=START,
    )


def test_a_quarter_of_the_runs_and_others_with_another_salt() -> None:
    runs = [f"run-{n}" for n in range(20_000)]
    first, second = ({run for run in runs if held_out(run, salt)} for salt in ("salt", "another"))
    assert len(first) / len(runs) == pytest.approx(0.25, abs=0.01)
    assert len(first & second) / len(runs) == pytest.approx(0.0625, abs=0.01)


def test_the_same_everywhere() -> None:
    """Worked out once: a change here would train on what was held out."""
    assert [n for n in range(20) if held_out(f"run-{n}", "salt")] == HELD_OUT


HELD_OUT = [1, 2, 5, 10, 14, 18, 19]


@given(st.text(), st.text(), st.floats(0.0, 0.99), st.floats(0.0, 0.99))
def test_a_larger_share_holds_out_the_same_and_more(run: str, salt: str, one: float, other: float) -> None:
    small, large = sorted((one, other))
    assert held_out(run, salt, small) <= held_out(run, salt, large)


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_impossible_shares_are_refused(share: float) -> None:
    with pytest.raises(RefusedInput, match="held out"):
        held_out("run", "salt", share)


def test_fresh_is_held_out_and_newer_than_what_judged_the_parent() -> None:
    log = lived(Told(evenly), 200)
    all_held = fresh(log, "salt", None)
    judged = window(all_held[:20], None, START)
    assert judged.runs == judged.decisions == 20
    assert judged.until == all_held[19].decision.at
    newer = fresh(log, "salt", begins_after(candidate(1, judged)))
    assert newer == all_held[20:]


def test_candidates_judged_with_the_same_runs_are_counted() -> None:
    hour = timedelta(hours=1)
    windows = [Window(since=None, until=START + n * hour, runs=1, decisions=1) for n in range(5)]
    earlier = [candidate(n, each) for n, each in enumerate(windows)] + [candidate(9)]
    assert tried(earlier, None) == 6  # the one that was never judged does not count
    assert tried(earlier, START + 2 * hour) == 3
    assert tried([], None) == 1
    assert begins_after(None) is begins_after(candidate(9)) is None
