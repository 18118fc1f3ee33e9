"""A person's word: through legal steps only, under their name, with what was left out written down."""

import random
from collections.abc import Iterator

import pytest
from tests.improvement.rollout.rollout_scenes import BASE, HOUR, QUICK, START, added, at, lived, proven, remember

from whet.core.candidates import Stage
from whet.core.errors import Busy, WhetError
from whet.improvement.rollout.people import outlook, pause, promote, resume, rollback
from whet.improvement.rollout.stepping import roll_out
from whet.improvement.rollout.steps import Told, back, taken, to_canary, to_production
from whet.improvement.rollout.watching import Verdict
from whet.store import open_store
from whet.store.sql_store import SqlStore

NOW = START + 30 * HOUR


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    with open_store(store_url, audit_key=b"key") as opened:
        yield opened
        assert opened.audit.verify().problem is None


def _moves(store: SqlStore, number: int) -> list[tuple[str, str]]:
    mine = [e for e in reversed(store.audit.entries()) if e.subject == f"candidate {number}"]
    return [(e.payload["to"], e.payload["by"]) for e in mine if e.kind == "candidate-moved"]


def test_a_forced_promotion_takes_every_step_and_says_what_it_left_out(store: SqlStore) -> None:
    number = added(store, "batch:1").number
    skipped = ("passing the gates", "the step at 10 %", "the step at 50 %", "being better where it counts")
    shown = outlook(store, number, QUICK, NOW)
    assert (shown.gates, shown.skipped, shown.forced) == (None, skipped, True)
    promoted = promote(store, number, "anna", QUICK, NOW)
    assert (promoted.stage, promoted.share) == (Stage.PRODUCTION, 1.0)
    assert _moves(store, number) == [("proven", "anna"), ("canary", "anna"), ("production", "anna")]
    assert promoted.why == f"promoted by anna, by force, without {'; '.join(skipped)}"
    recorded = next(e for e in store.audit.entries() if e.kind == "candidate-moved").payload["evidence"]["promotion"]
    assert (recorded["forced"], recorded["gates"], recorded["skipped"]) == (True, None, list(skipped))


def test_the_gates_that_were_passed_are_recorded(store: SqlStore) -> None:
    number = proven(store).number
    shown = outlook(store, number, QUICK, NOW)
    assert shown.gates == {"safety": 0.99}
    assert shown.skipped[0] == "the step at 10 %"
    assert promote(store, number, "anna", QUICK, NOW).evidence["promotion"]["gates"] == {"safety": 0.99}


def test_what_is_ready_is_promoted_without_force(store: SqlStore) -> None:
    number = proven(store).number
    for day in range(2):
        roll_out(store, QUICK, START + 26 * day * HOUR)
        remember(
            store, lived(at(store, number), 40, random.Random(day), gain=15.0, when=START + 26 * day * HOUR, base=BASE)
        )
    assert at(store, number).share == 0.5
    early = outlook(store, number, QUICK, START + 30 * HOUR)
    assert early.skipped == (f"being better where it counts ({_sentence(store, number)})",)
    ready = START + 51 * HOUR
    assert outlook(store, number, QUICK, ready).skipped == ()
    assert promote(store, number, "anna", QUICK, ready).why == "promoted by anna"


def _sentence(store: SqlStore, number: int) -> str:
    return roll_out(store, QUICK, START + 30 * HOUR)[0].sentence


def test_only_one_canary_so_no_promotion_past_another(store: SqlStore) -> None:
    first = proven(store, "batch:1").number
    roll_out(store, QUICK, START)
    second = added(store, "batch:2").number
    with pytest.raises(Busy, match=f"Candidate {first} is the canary.*whet rollback {first}"):
        promote(store, second, "anna", QUICK, NOW)
    assert at(store, second).stage is Stage.TRAINED


def test_rolling_back_brings_back_whom_it_replaced_link_by_link(store: SqlStore) -> None:
    numbers = [added(store, f"batch:{n}").number for n in range(3)]
    for number in numbers:
        promote(store, number, "anna", QUICK, NOW)
    for gone, again in ((2, 1), (1, 0), (0, None)):
        back = rollback(store, numbers[gone], "ben", "it is slow", NOW)
        assert (back.stage, back.why) == (Stage.ROLLED_BACK, "rolled back by ben: it is slow")
        deciding = [each.number for each in store.candidates.at_stage(back.agent, Stage.PRODUCTION)]
        assert deciding == ([] if again is None else [numbers[again]])


def test_a_retired_one_can_be_brought_back(store: SqlStore) -> None:
    first, second = (added(store, f"batch:{n}").number for n in range(2))
    for number in (first, second, first):
        promote(store, number, "anna", QUICK, NOW)
    assert [at(store, each).stage for each in (first, second)] == [Stage.PRODUCTION, Stage.RETIRED]
    assert at(store, first).evidence["promotion"]["forced"] is False


def test_what_cannot_be_done_is_said(store: SqlStore) -> None:
    number = added(store, "batch:1").number
    with pytest.raises(WhetError, match="trained: it decides nothing that could be rolled back"):
        rollback(store, number, "ben", "why", NOW)
    promote(store, number, "anna", QUICK, NOW)
    with pytest.raises(WhetError, match="is production and cannot be promoted"):
        promote(store, number, "anna", QUICK, NOW)
    rollback(store, number, "ben", "why", NOW)
    with pytest.raises(WhetError, match="is rolled-back and cannot be promoted"):
        promote(store, number, "anna", QUICK, NOW)
    for missing in (99, -1, 10**30):
        for act in (rollback, pause, resume):
            with pytest.raises(WhetError, match=f"no candidate {missing}"):
                act(store, missing, "ben", "why", NOW)


def test_paused_by_a_person_it_keeps_what_was_measured(store: SqlStore) -> None:
    number = proven(store).number
    roll_out(store, QUICK, START)
    remember(store, lived(at(store, number), 40, random.Random(1), gain=15.0, when=START))
    assert pause(store, number, "anna", "a release", START + HOUR).paused
    assert roll_out(store, QUICK, NOW)[0].verdict is Verdict.WAIT
    assert at(store, number).share == 0.1
    resumed = resume(store, number, "anna", "released", NOW)
    assert (resumed.paused, resumed.why) == (False, "resumed by anna: released")
    assert roll_out(store, QUICK, NOW)[0].verdict is Verdict.NEXT_SHARE


def test_paused_for_a_person_it_begins_its_step_again(store: SqlStore) -> None:
    number = proven(store).number
    roll_out(store, QUICK, START)
    remember(store, lived(at(store, number), 60, random.Random(1), gain=0.0, when=START))
    assert roll_out(store, QUICK, NOW)[0].verdict is Verdict.PAUSE
    resume(store, number, "anna", "give it time", NOW)
    assert roll_out(store, QUICK, NOW)[0].sentence == (
        f"candidate {number} is at 10 % since 0 s: 0 decisions, reward unknown; next step at 30"
    )


def test_resuming_what_is_not_paused_changes_nothing(store: SqlStore) -> None:
    """Said twice, it would throw away what was measured since it was said first."""
    number = proven(store).number
    roll_out(store, QUICK, START)
    remember(store, lived(at(store, number), 60, random.Random(1), gain=0.0, when=START))
    assert roll_out(store, QUICK, NOW)[0].verdict is Verdict.PAUSE
    once = resume(store, number, "anna", "give it time", NOW)
    assert resume(store, number, "anna", "give it time", NOW + HOUR) == once == at(store, number)


def test_who_has_ended_is_neither_paused_nor_resumed(store: SqlStore) -> None:
    number = proven(store).number
    roll_out(store, QUICK, START)
    pause(store, number, "anna", "a release", NOW)
    gone = rollback(store, number, "ben", "it is slow", NOW)
    for act in (pause, resume):
        with pytest.raises(WhetError, match=f"is rolled-back: .*whet models {number}"):
            act(store, number, "anna", "why", NOW)
    assert at(store, number) == gone


def test_promotion_ends_a_pause(store: SqlStore) -> None:
    number = added(store, "batch:1").number
    pause(store, number, "anna", "wait", NOW)
    assert not promote(store, number, "anna", QUICK, NOW).paused


def test_paused_after_it_was_looked_at_it_does_not_move_by_itself(store: SqlStore) -> None:
    """Between a look and its step a person may speak: the step that the look calls for is not taken any more."""
    number = proven(store).number
    ready = at(store, number)
    pause(store, number, "anna", "a release", NOW)
    assert store.candidates.move(to_canary(ready, 0.1, None, NOW, Told("it is proven")), NOW) is None
    assert store.candidates.move(taken(ready, Stage.REJECTED, 0.0, Told("superseded")), NOW) is None
    assert (at(store, number).stage, at(store, number).paused) == (Stage.PROVEN, True)
    resume(store, number, "anna", "released", NOW)
    canary = store.candidates.move(to_canary(ready, 0.1, None, NOW, Told("it is proven")), NOW)
    assert canary is not None
    pause(store, number, "anna", "a release", NOW)
    assert store.candidates.move(to_canary(canary, 0.5, None, NOW, Told("not worse")), NOW) is None
    assert store.candidates.move(to_production(canary, None, NOW, Told("better")), NOW) is None
    gone = store.candidates.move(back(canary, None, Told("it is worse")), NOW)  # back it goes all the same
    assert gone is not None
    assert gone.stage is Stage.ROLLED_BACK


def test_a_persons_word_moves_what_is_paused(store: SqlStore) -> None:
    first, second = (added(store, f"batch:{n}").number for n in range(2))
    promote(store, first, "anna", QUICK, NOW)
    for number in (first, second):
        pause(store, number, "anna", "a release", NOW)
    promoted = promote(store, second, "ben", QUICK, NOW)
    assert (promoted.stage, promoted.paused) == (Stage.PRODUCTION, False)
    pause(store, second, "anna", "a release", NOW)
    assert rollback(store, second, "ben", "it is slow", NOW).stage is Stage.ROLLED_BACK
    again = at(store, first)  # whom it replaced decides again, and still waits for a person
    assert (again.stage, again.paused) == (Stage.PRODUCTION, True)


def test_nobody_takes_the_place_of_one_that_is_paused_in_production(store: SqlStore) -> None:
    first = added(store, "batch:1").number
    promote(store, first, "anna", QUICK, START)
    second = proven(store, "batch:2").number
    base = f"candidate-{first}"
    for day in range(2):
        when = START + 26 * day * HOUR
        roll_out(store, QUICK, when)
        remember(store, lived(at(store, second), 40, random.Random(day), gain=15.0, when=when, base=base))
    pause(store, first, "anna", "a release", START + 50 * HOUR)
    look = next(each for each in roll_out(store, QUICK, START + 51 * HOUR) if each.number == second)
    told = f"candidate {second} is better and waits: candidate {first}, in production, is paused"
    assert (look.verdict, look.sentence) == (Verdict.WAIT, told)
    assert [at(store, each).stage for each in (first, second)] == [Stage.PRODUCTION, Stage.CANARY]
    step = to_production(at(store, second), first, START + 51 * HOUR, Told("it is better"))
    assert store.candidates.move(step, START + 51 * HOUR) is None  # nor from a look before the pause
    resume(store, first, "anna", "released", START + 52 * HOUR)
    roll_out(store, QUICK, START + 52 * HOUR)
    assert [at(store, each).stage for each in (first, second)] == [Stage.RETIRED, Stage.PRODUCTION]
