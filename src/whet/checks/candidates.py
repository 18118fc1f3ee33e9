"""What every `Candidates` must do. Run all of it against an implementation of your own::

    @pytest.mark.parametrize("check", whet.checks.candidates.CHECKS)
    def test_my_candidates(check, tmp_path):
        check(lambda: MyStore(tmp_path))

As with `whet.checks.store`, the function opens the same, initially empty, store each time.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

from whet.checks.expectations import expect, expect_error
from whet.core.candidates import SUCCESSORS, Candidate, Lineage, NewCandidate, Stage, Step
from whet.core.errors import RefusedInput
from whet.core.ports import Store

Opened = Callable[[], Store]
Check = Callable[[Opened], None]
CHECKS: list[Check] = []

AT = datetime(2024, 2, 29, 12, 30, 0, 250_001, tzinfo=UTC)
LATER = AT + timedelta(hours=1)
_ODD = "nul \0 surrogate \ud800\udfff substitute \x1a0000 emoji 🧪 quote ' \" \\ % _ {} \r\n"
# How a candidate gets to each stage from where it begins.
_WAYS: dict[Stage, tuple[Stage, ...]] = {
    Stage.TRAINED: (),
    Stage.PROVEN: (Stage.PROVEN,),
    Stage.CANARY: (Stage.PROVEN, Stage.CANARY),
    Stage.PRODUCTION: (Stage.PROVEN, Stage.CANARY, Stage.PRODUCTION),
    Stage.RETIRED: (Stage.PROVEN, Stage.CANARY, Stage.PRODUCTION, Stage.RETIRED),
    Stage.REJECTED: (Stage.REJECTED,),
    Stage.ROLLED_BACK: (Stage.PROVEN, Stage.CANARY, Stage.ROLLED_BACK),
}


def _check(check: Check) -> Check:
    CHECKS.append(check)
    return check


def new(key: str = "batch:1", agent: str = "runner", **changes: Any) -> NewCandidate:
    lineage = Lineage(batch=1, experiences=1000, first="a", last=_ODD[:20], parent=None, code_version="0.1", seed=2**40)
    fields: dict[str, Any] = {"kind": "tables", "artefact": "0" * 64, "lineage": lineage}
    return NewCandidate(key=key, agent=agent, **(fields | changes))


def step(known: Candidate, to: Stage, share: float = 0.0, **changes: Any) -> Step:
    fields: dict[str, Any] = {"seen": known.stage, "seen_share": known.share, "why": "Because."}
    return Step(number=known.number, to=to, share=share, **(fields | changes))


def brought_to(store: Store, stage: Stage, key: str = "batch:1", agent: str = "runner") -> Candidate:
    """A new candidate, walked to this stage."""
    known = store.candidates.add(new(key, agent), AT)
    for each in _WAYS[stage]:
        moved = store.candidates.move(step(known, each), AT)
        if moved is None:
            raise AssertionError(f"a candidate could not go from {known.stage} to {each}")
        known = moved
    return known


def _kinds(store: Store) -> list[str]:
    return [entry.kind for entry in reversed(store.audit.entries())]


@_check
def the_same_key_makes_one_candidate(opened: Opened) -> None:
    with closing(opened()) as store:
        made = store.candidates.add(new(), AT)
        again = store.candidates.add(new(agent="other", artefact="f" * 64), LATER)
        expect(again, made, "the same key again")
        other = store.candidates.add(new(_ODD.replace("\ud800\udfff", ""), kind="dqn"), LATER)
        expect(other.number != made.number, True, "another key has another number")
        expect(_kinds(store), ["candidate-added"] * 2, "audited once each")
    with closing(opened()) as store:
        expect(store.candidates.get(made.number), made, "after opening again")
        expect(store.candidates.get(other.number), other, "a key of any characters")
        given = new().model_dump() | {"number": made.number, "since": AT, "made_at": AT}
        fresh = {"stage": Stage.TRAINED, "share": 0.0, "paused": False, "evidence": {}, "why": ""}
        expect(made.model_dump(), given | fresh, "how it begins")


@_check
def candidates_are_listed_newest_first(opened: Opened) -> None:
    with closing(opened()) as store:
        expect((store.candidates.all(), store.candidates.get(1)), ([], None), "of an empty store")
        for key, agent in (("a", "x"), ("b", "y"), ("c", "x")):
            store.candidates.add(new(key, agent), AT)
        first = store.candidates.all("x")[-1]
        store.candidates.move(step(first, Stage.REJECTED), AT)
        expect([each.key for each in store.candidates.all()], ["c", "b", "a"], "all")
        expect([each.key for each in store.candidates.all("x")], ["c", "a"], "of one agent")
        expect([each.key for each in store.candidates.at_stage("x", Stage.TRAINED)], ["c"], "at one stage")
        expect(store.candidates.at_stage("z", Stage.TRAINED), [], "of no agent")
        unknown = [store.candidates.get(number) for number in (-1, 2**63 - 1, 2**63, 10**40)]
        expect(unknown, [None] * 4, "numbers nobody has")


@_check
def only_allowed_steps_are_taken(opened: Opened) -> None:
    """Every pair of stages, each with an agent of its own."""
    with closing(opened()) as store:
        for seen in Stage:
            for to in Stage:
                known = brought_to(store, seen, f"{seen} {to}", f"{seen} {to}")
                if to is seen or to in SUCCESSORS[seen]:
                    moved = store.candidates.move(step(known, to, 0.5, by="kim"), LATER)
                    expected = known.model_copy(update={"stage": to, "share": 0.5, "since": LATER, "why": "Because."})
                    expect(moved, expected, f"{seen} → {to}")
                else:
                    expect_error(RefusedInput, store.candidates.move, step(known, to), LATER)
                    expect(store.candidates.get(known.number), known, f"after the refused {seen} → {to}")


@_check
def a_step_is_taken_from_where_it_was_seen(opened: Opened) -> None:
    with closing(opened()) as store:
        canary = brought_to(store, Stage.CANARY)
        canary = store.candidates.move(step(canary, Stage.CANARY, 0.1), AT) or canary
        before = (store.candidates.all(), store.audit.verify())
        for seen, share in ((Stage.CANARY, 0.0), (Stage.CANARY, 0.5), (Stage.PROVEN, 0.1)):
            stale = step(canary, Stage.CANARY, 0.9, seen=seen, seen_share=share)
            expect(store.candidates.move(stale, LATER), None, f"seen at {seen}, {share}")
        nobody = step(canary, Stage.CANARY).model_copy(update={"number": 99})
        expect(store.candidates.move(nobody, LATER), None, "of no candidate")
        expect((store.candidates.all(), store.audit.verify()), before, "everything")


@_check
def a_share_has_its_time(opened: Opened) -> None:
    """`since` is when stage and share were reached; looking again without changing them does not start it anew."""
    with closing(opened()) as store:
        known = brought_to(store, Stage.CANARY)
        tenth = store.candidates.move(step(known, Stage.CANARY, 0.1), LATER)
        expect(tenth and (tenth.since, tenth.share), (LATER, 0.1), "a new share")
        same = store.candidates.move(step(tenth or known, Stage.CANARY, 0.1, why="Still."), LATER + timedelta(hours=1))
        expect(same and (same.since, same.why), (LATER, "Still."), "the same share")


@_check
def production_is_handed_over(opened: Opened) -> None:
    with closing(opened()) as store:
        old = brought_to(store, Stage.PRODUCTION, "old")
        old = store.candidates.move(step(old, Stage.PRODUCTION, 1.0), AT) or old
        elsewhere = brought_to(store, Stage.PRODUCTION, "elsewhere", agent="other")
        canary = brought_to(store, Stage.CANARY, "new")
        entries = store.audit.verify().entries
        promoted = store.candidates.move(step(canary, Stage.PRODUCTION, 1.0), LATER)
        expect(promoted and (promoted.stage, promoted.share), (Stage.PRODUCTION, 1.0), "the new one")
        retired = store.candidates.get(old.number)
        found = retired and (retired.stage, retired.share, retired.since)
        expect(found, (Stage.RETIRED, 0.0, LATER), "the one before")
        expect(retired is not None and str(canary.number) in retired.why, True, "it says who took over")
        expect(store.candidates.get(elsewhere.number), elsewhere, "another agent's")
        expect(store.audit.verify().entries, entries + 2, "both are audited")
        back = store.candidates.move(step(retired or old, Stage.PRODUCTION, 1.0), LATER)
        expect(back and back.stage, Stage.PRODUCTION, "brought back")
        expect(store.candidates.at_stage("runner", Stage.PRODUCTION), [back], "one alone")
        expect([each.key for each in store.candidates.at_stage("runner", Stage.RETIRED)], ["new"], "in its turn")


@_check
def one_canary_at_a_time(opened: Opened) -> None:
    with closing(opened()) as store:
        first, second = brought_to(store, Stage.CANARY, "a"), brought_to(store, Stage.PROVEN, "b")
        before = (store.candidates.all(), store.audit.verify())
        expect(store.candidates.move(step(second, Stage.CANARY), LATER), None, "while there is another")
        expect((store.candidates.all(), store.audit.verify()), before, "everything")
        store.candidates.move(step(first, Stage.ROLLED_BACK), LATER)
        moved = store.candidates.move(step(second, Stage.CANARY, 0.1), LATER)
        expect(moved and moved.stage, Stage.CANARY, "afterwards")


@_check
def people_pause_and_resume(opened: Opened) -> None:
    with closing(opened()) as store:
        known = brought_to(store, Stage.CANARY)
        entries = store.audit.verify().entries
        paused = store.candidates.pause(known.number, True, "kim", _ODD, LATER)
        expect(paused, known.model_copy(update={"paused": True, "why": _ODD}), "paused, where it is")
        resumed = store.candidates.pause(known.number, False, "lee", "Go on.", LATER)
        expect(resumed, known.model_copy(update={"paused": False, "why": "Go on."}), "resumed")
        expect(store.candidates.pause(99, True, "kim", "No.", LATER), None, "of no candidate")
        expect(_kinds(store)[entries:], ["candidate-paused", "candidate-resumed"], "audited")
        expect([each.payload["by"] for each in store.audit.entries(2)], ["lee", "kim"], "by whom")


@_check
def what_is_paused_only_goes_back_by_itself(opened: Opened) -> None:
    with closing(opened()) as store:
        known = brought_to(store, Stage.CANARY)
        store.candidates.pause(known.number, True, "kim", "Wait.", LATER)
        expect(store.candidates.move(step(known, Stage.CANARY, 0.5), LATER), None, "a larger share")
        expect(store.candidates.move(step(known, Stage.PRODUCTION, 1.0), LATER), None, "production")
        asked = store.candidates.move(step(known, Stage.PRODUCTION, 1.0, by="kim", asked=True), LATER)
        expect(asked and (asked.stage, asked.paused), (Stage.PRODUCTION, True), "a person may")
        other = brought_to(store, Stage.CANARY, "batch:2")
        expect(store.candidates.move(step(other, Stage.PRODUCTION, 1.0), LATER), None, "in the place of who is paused")
        gone = store.candidates.move(step(asked or known, Stage.ROLLED_BACK), LATER)
        expect(gone and gone.stage, Stage.ROLLED_BACK, "back")


@_check
def what_is_known_adds_up(opened: Opened) -> None:
    with closing(opened()) as store:
        known = store.candidates.add(new(), AT)
        entries = store.audit.verify().entries
        store.candidates.note(known.number, {"a": {"x": [1e300, 0.1, None]}, "b": 1})
        expect(store.audit.verify().entries, entries, "without a reason it is not audited")
        noted = store.candidates.note(known.number, {"b": 2, _ODD: _ODD}, "It waits for evidence.")
        everything = {"a": {"x": [1e300, 0.1, None]}, "b": 2, _ODD: _ODD}
        expect(
            noted and (noted.evidence, noted.why, noted.stage), (everything, "It waits for evidence.", "trained"), "n"
        )
        expect(_kinds(store)[entries:], ["candidate-noted"], "with a reason it is")
        moved = store.candidates.move(step(noted or known, Stage.PROVEN, evidence={"a": 3, "c": 4}), LATER)
        expect(moved and moved.evidence, everything | {"a": 3, "c": 4}, "a step adds to it")
        expect(store.candidates.note(99, {}), None, "of no candidate")


@_check
def refused_evidence_leaves_no_trace(opened: Opened) -> None:
    with closing(opened()) as store:
        known = store.candidates.add(new(), AT)
        before = (store.candidates.all(), store.audit.verify())
        for wrong in (float("nan"), float("inf"), b"bytes", {1: 2}):
            expect_error(RefusedInput, store.candidates.note, known.number, {"x": [wrong]}, "Why.")
            bad = step(known, Stage.PROVEN, evidence={"x": wrong})
            expect_error(RefusedInput, store.candidates.move, bad, LATER)
        for share in (float("nan"), -0.1, 1.1):
            unfit = step(known, Stage.PROVEN).model_copy(update={"share": share})
            expect_error(RefusedInput, store.candidates.move, unfit, LATER)
        expect_error(RefusedInput, store.candidates.add, new().model_copy(update={"artefact": "../../etc"}), AT)
        expect_error(RefusedInput, store.candidates.move, step(known, Stage.PROVEN), AT.replace(tzinfo=None))
        expect((store.candidates.all(), store.audit.verify()), before, "everything")


def _at_once(opened: Opened, calls: Sequence[Callable[[Store], Candidate | None]]) -> list[Candidate | None]:
    """Each from an opening of its own, as processes have."""

    def alone(call: Callable[[Store], Candidate | None]) -> Candidate | None:
        with closing(opened()) as store:
            return call(store)

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(alone, calls))


@_check
def of_movers_at_once_one_wins(opened: Opened) -> None:
    with closing(opened()) as store:
        known = brought_to(store, Stage.PROVEN)
        numbers = {found.number for found in _at_once(opened, [lambda s: s.candidates.add(new("x"), AT)] * 5) if found}
        expect(len(numbers), 1, "made by five at once")
        moved = _at_once(opened, [lambda s: s.candidates.move(step(known, Stage.CANARY, 0.1), LATER)] * 5)
        expect(sum(each is not None for each in moved), 1, "winners of one step")
        expect(store.audit.verify().entries, 4, "added, proven, added, moved")


@_check
def places_for_one_hold_one(opened: Opened) -> None:
    """Five go for the canary's place at once; then five that were in production before go back to it at once."""
    with closing(opened()) as store:
        proven = [brought_to(store, Stage.PROVEN, f"proven {number}") for number in range(5)]
        old = [brought_to(store, Stage.PRODUCTION, f"old {number}", "other") for number in range(6)][:5]

        def going(known: Candidate, to: Stage) -> Callable[[Store], Candidate | None]:
            return lambda opening: opening.candidates.move(step(known, to, 0.1), LATER)

        moved = _at_once(opened, [going(each, Stage.CANARY) for each in proven])
        expect(sum(each is not None for each in moved), 1, "who became the canary")
        expect(len(store.candidates.at_stage("runner", Stage.CANARY)), 1, "canaries")
        retired = [each for known in old if (each := store.candidates.get(known.number)) is not None]
        back = _at_once(opened, [going(each, Stage.PRODUCTION) for each in retired])
        expect(all(each is not None for each in back), True, "each was in production for a moment")
        expect(len(store.candidates.at_stage("other", Stage.PRODUCTION)), 1, "in production")
        expect(len(store.candidates.at_stage("other", Stage.RETIRED)), 5, "retired")
        expect(store.audit.verify().problem, None, "the trail")


@_check
def notes_at_once_are_all_kept(opened: Opened) -> None:
    with closing(opened()) as store:
        number = store.candidates.add(new(), AT).number

        def noting(name: str) -> Callable[[Store], Candidate | None]:
            return lambda opening: opening.candidates.note(number, {name: name})

        _at_once(opened, [noting(f"look {each}") for each in range(5)])
        known = store.candidates.get(number)
        expect(known and sorted(known.evidence), [f"look {each}" for each in range(5)], "what is known")
