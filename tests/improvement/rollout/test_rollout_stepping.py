"""Looks applied to real stores: one step at a time, from where the candidate stands, and nobody is forgotten."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from tests.improvement.rollout.rollout_scenes import BASE, HOUR, QUICK, START, added, at, lived, proven, remember

from whet.core.candidates import Candidate, Stage
from whet.improvement.rollout.people import pause, promote, resume
from whet.improvement.rollout.stepping import roll_out, standing
from whet.improvement.rollout.steps import begun
from whet.improvement.rollout.watching import Look, Verdict
from whet.store import open_store
from whet.store.sql_store import SqlStore

DAY = timedelta(days=1)


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    with open_store(store_url, audit_key=b"key") as opened:
        yield opened
        assert opened.audit.verify().problem is None


def _tick(store: SqlStore, now: datetime) -> list[Look]:
    return roll_out(store, QUICK, now)


def _stands(candidate: Candidate) -> tuple[Stage, float]:
    return candidate.stage, candidate.share


def _day(store: SqlStore, number: int, when: datetime, gain: float, base: str = BASE, units: int = 30) -> list[Look]:
    """A day of runs, and a look at its end."""
    remember(store, lived(at(store, number), units, random.Random(number), gain=gain, when=when, base=base))
    return _tick(store, when + 25 * HOUR)


def _to_production(store: SqlStore, number: int, when: datetime, base: str = BASE) -> datetime:
    """Through both steps; when the look that promoted it was."""
    _tick(store, when)
    _day(store, number, when, 15.0, base)
    _day(store, number, when + 26 * HOUR, 15.0, base)
    assert _stands(at(store, number)) == (Stage.PRODUCTION, 1.0), at(store, number).evidence["look"]["sentence"]
    return when + 51 * HOUR


def test_a_better_one_reaches_production_by_three_steps_and_three_looks(store: SqlStore) -> None:
    number = proven(store).number
    seen = [_stands(at(store, number))]
    _tick(store, START)
    seen.append(_stands(at(store, number)))
    for day in (START, START + 26 * HOUR):
        _day(store, number, day, 15.0)
        seen.append(_stands(at(store, number)))
    assert seen == [(Stage.PROVEN, 0.0), (Stage.CANARY, 0.1), (Stage.CANARY, 0.5), (Stage.PRODUCTION, 1.0)]
    kept = at(store, number)
    assert kept.evidence["gates"] == {"safety": 0.99}
    assert kept.evidence["look"]["verdict"] == "promote"
    assert kept.evidence["look"]["seen"]["lower"] > 0
    assert kept.why == kept.evidence["look"]["sentence"]
    assert "it is better and goes to production" in kept.why


def test_looking_again_changes_nothing(store: SqlStore) -> None:
    number = proven(store).number
    _tick(store, START)
    _day(store, number, START, 15.0)
    before, entries = at(store, number), store.audit.verify().entries
    for _ in range(3):
        _tick(store, before.since)
    after = at(store, number)
    assert (_stands(after), after.since, store.audit.verify().entries) == (_stands(before), before.since, entries)


def test_a_worse_one_goes_back_and_the_policy_of_settings_decides(store: SqlStore) -> None:
    number = proven(store).number
    _tick(store, START)
    look = _day(store, number, START, -20.0)[0]
    gone = at(store, number)
    assert (look.verdict, _stands(gone)) == (Verdict.ROLL_BACK, (Stage.ROLLED_BACK, 0.0))
    assert gone.why.endswith("and 15 is the limit")
    assert _tick(store, START + 99 * DAY) == []
    assert at(store, number).stage is Stage.ROLLED_BACK


def test_one_canary_at_a_time_the_newest_first(store: SqlStore) -> None:
    older, newer = proven(store, "batch:1").number, proven(store, "batch:2").number
    other = proven(store, "batch:3", "coverage-analyzer").number
    looks = {look.number: look.sentence for look in _tick(store, START)}
    assert [_stands(at(store, each)) for each in (older, newer, other)] == [
        (Stage.PROVEN, 0.0),
        (Stage.CANARY, 0.1),
        (Stage.CANARY, 0.1),
    ]
    assert looks[older] == f"candidate {older} is proven and waits: candidate {newer}, trained later, goes first"
    waiting = {look.number: look.sentence for look in _tick(store, START + HOUR)}
    assert waiting[older] == f"candidate {older} is proven and waits: candidate {newer} is the canary"


def test_a_proof_against_what_is_gone_is_none(store: SqlStore) -> None:
    older, newer = proven(store, "batch:1").number, proven(store, "batch:2").number
    now = _to_production(store, newer, START)
    _tick(store, now)
    gone = at(store, older)
    assert (gone.stage, gone.why) == (
        Stage.REJECTED,
        f"candidate {older} is superseded: candidate {newer}, trained later, is in production",
    )


def test_a_trained_one_is_not_rolled_out(store: SqlStore) -> None:
    number = added(store, "batch:1").number
    assert _tick(store, START) == []
    assert at(store, number).stage is Stage.TRAINED


def test_who_proves_worse_in_production_hands_back_to_whom_it_replaced(store: SqlStore) -> None:
    first = proven(store, "batch:1").number
    now = _to_production(store, first, START)
    second = proven(store, "batch:2").number
    now = _to_production(store, second, now + HOUR, base=f"candidate-{first}")
    assert [at(store, each).stage for each in (first, second)] == [Stage.RETIRED, Stage.PRODUCTION]
    remember(store, lived(at(store, second), 30, random.Random(5), gain=-30.0, when=now))
    look = _tick(store, now + 5 * HOUR)[0]
    assert (look.number, look.verdict) == (second, Verdict.ROLL_BACK)
    assert [at(store, each).stage for each in (first, second)] == [Stage.PRODUCTION, Stage.ROLLED_BACK]
    assert at(store, second).evidence["restores"] == {"number": first, "done": True}
    assert f"candidate {second}, which had replaced it, went back" in at(store, first).why
    noted = begun(at(store, first))
    assert noted is not None
    assert noted.against is None  # nobody was before it: the next to go back leaves the policy of settings


def test_probation_ends_and_is_not_looked_at_again(store: SqlStore) -> None:
    number = proven(store).number
    now = _to_production(store, number, START)
    remember(store, lived(at(store, number), 30, random.Random(5), gain=0.0, when=now, reward=60.0))
    assert _tick(store, now + 5 * HOUR)[0].verdict is Verdict.WAIT
    assert _tick(store, now + 8 * DAY)[0].verdict is Verdict.SETTLED
    assert _tick(store, now + 9 * DAY) == []
    assert at(store, number).stage is Stage.PRODUCTION


def test_who_comes_back_to_production_is_on_probation_again(store: SqlStore) -> None:
    first = proven(store, "batch:1").number
    now = _to_production(store, first, START)
    remember(store, lived(at(store, first), 30, random.Random(5), gain=0.0, when=now, reward=60.0))
    now += 8 * DAY
    assert _tick(store, now)[0].verdict is Verdict.SETTLED
    second = added(store, "batch:2").number
    promote(store, second, "anna", QUICK, now)
    remember(store, lived(at(store, second), 40, random.Random(6), gain=0.0, when=now))
    promote(store, first, "anna", QUICK, now + DAY)
    remember(store, lived(at(store, first), 40, random.Random(7), gain=-40.0, when=now + DAY))
    look = _tick(store, now + DAY + 5 * HOUR)[0]
    assert (look.number, look.verdict) == (first, Verdict.ROLL_BACK)


def test_where_it_stands_is_what_the_last_look_saw_until_somebody_says_more(store: SqlStore) -> None:
    number = proven(store).number
    _tick(store, START)
    assert standing(at(store, number)) == f"candidate {number} is proven and goes to 10 %"
    (look,) = _tick(store, START + HOUR)
    assert "next step at 30" in look.sentence
    assert standing(at(store, number)) == look.sentence
    pause(store, number, "anna", "a release", START + 2 * HOUR)
    assert standing(at(store, number)) == "paused by anna: a release"
    assert "it is paused until" in _tick(store, START + 3 * HOUR)[0].sentence
    resume(store, number, "anna", "released", START + 4 * HOUR)
    assert standing(at(store, number)) == "resumed by anna: released"


def test_a_changed_baseline_begins_the_step_again(store: SqlStore) -> None:
    """Half of what it was compared with was earned by somebody who decides no more."""
    first = proven(store, "batch:1").number
    now = _to_production(store, first, START)
    second = proven(store, "batch:2").number
    _tick(store, now)
    remember(store, lived(at(store, second), 30, random.Random(1), gain=15.0, when=now, base=f"candidate-{first}"))
    remember(store, lived(at(store, first), 30, random.Random(2), gain=-90.0, when=now))
    verdicts = {look.number: look.verdict for look in _tick(store, now + 25 * HOUR)}
    assert verdicts == {first: Verdict.ROLL_BACK, second: Verdict.BEGIN_AGAIN}
    kept, noted = at(store, second), begun(at(store, second))
    assert _stands(kept) == (Stage.CANARY, 0.1)
    assert noted is not None
    assert (noted.at, noted.against) == (now + 25 * HOUR, None)
    assert _tick(store, now + 26 * HOUR)[0].sentence.endswith("0 decisions, reward unknown; next step at 30")


def test_inconclusive_pauses_once_and_holds_the_agent(store: SqlStore) -> None:
    number = proven(store).number
    _tick(store, START)
    _day(store, number, START, 0.0, units=60)
    assert at(store, number).paused
    assert "inconclusive after 60 runs" in at(store, number).why
    entries = store.audit.verify().entries
    newer = proven(store, "batch:2").number
    for hour in (27, 28):
        looks = {look.number: look.sentence for look in _tick(store, START + hour * HOUR)}
    assert looks[newer] == f"candidate {newer} is proven and waits: candidate {number} is paused"
    assert store.audit.verify().entries == entries + 2  # the new candidate alone


def test_time_alone_moves_nothing(store: SqlStore) -> None:
    number = proven(store).number
    for years in (0, 10, 20, 30):
        _tick(store, START + years * 365 * DAY)
    assert _stands(at(store, number)) == (Stage.CANARY, 0.1)


def test_a_clock_set_back_by_years_delays_and_does_not_block(store: SqlStore) -> None:
    number = proven(store).number
    _tick(store, START + 3650 * DAY)  # the clock was wrong
    remember(store, lived(at(store, number), 30, random.Random(8), gain=15.0, when=START + 3650 * DAY))
    look = _tick(store, START)[0]
    assert (look.verdict, _stands(at(store, number))) == (Verdict.BEGIN_AGAIN, (Stage.CANARY, 0.1))
    assert _tick(store, START + HOUR)[0].sentence.startswith(f"candidate {number} is at 10 % since 60 min: 0 decisions")
    _day(store, number, START, 15.0)
    assert _stands(at(store, number)) == (Stage.CANARY, 0.5)


def test_a_clock_that_jumps_ahead_takes_one_step_for_what_was_measured_in_it(store: SqlStore) -> None:
    number = proven(store).number
    _tick(store, START)
    remember(store, lived(at(store, number), 30, random.Random(8), gain=15.0, when=START))
    for _ in range(3):
        _tick(store, START + 365 * DAY)
    assert _stands(at(store, number)) == (Stage.CANARY, 0.5)


def test_two_who_roll_out_at_once_take_every_step_once(store: SqlStore, store_url: str) -> None:
    number = proven(store).number
    when = START
    with open_store(store_url, audit_key=b"key") as other, ThreadPoolExecutor(2) as pool:
        for share in (0.1, 0.5, 1.0):
            when += 26 * HOUR
            list(pool.map(_tick, (store, other), (when, when)))
            assert at(store, number).share == share
            if share < 1.0:
                remember(store, lived(at(store, number), 30, random.Random(3), gain=15.0, when=when))
    moves = [e for e in store.audit.entries() if e.kind == "candidate-moved" and e.subject == f"candidate {number}"]
    assert [entry.payload["to"] for entry in reversed(moves)] == ["proven", "canary", "canary", "production"]
