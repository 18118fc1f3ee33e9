"""What every `Feedback` must do. Run all of it against an implementation of your own, as with `whet.checks.store`."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from typing import Any

from whet.checks.expectations import expect, expect_close, expect_error
from whet.checks.store_samples import CATEGORY, OWN, experience, finding, lesson, run_record
from whet.checks.views import expect_totals, lived
from whet.core.errors import RefusedInput, WhetError
from whet.core.feedback import Correction, PagedStore
from whet.core.ports import Lesson, Move
from whet.core.records import Part, now
from whet.core.views import Asked, Standing

Opened = Callable[[], PagedStore]
Check = Callable[[Opened], None]
CHECKS: list[Check] = []

PARTS = (Part(name="corrected", points=1.0),)


def _check(check: Check) -> Check:
    CHECKS.append(check)
    return check


def _correction(key: str, difference: float, taught: Lesson | None) -> Correction:
    return Correction(key=key, parts=PARTS, difference=difference, lesson=taught, because="said so")


@_check
def a_mark_holds_until_it_is_changed_or_taken_back(opened: Opened) -> None:
    with closing(opened()) as store:
        store.runs.note_findings("run-1", [finding("a")])
        mark = finding("a").fingerprint()
        for verdict in ("real", "false-alarm", None):
            store.feedback.mark(mark, verdict, "ada")
            found, line = store.feedback.marks([mark]).get(mark), store.views.findings(Asked()).items[0]
            expect(None if found is None else found.verdict, verdict, "the mark")
            expect(line.standing, Standing(verdict or "unmarked"), "its standing in the list")
        expect_error(WhetError, store.feedback.mark, "nowhere", "real", "ada")
        expect_error(RefusedInput, store.feedback.mark, mark, "perhaps", "ada")  # type: ignore[arg-type]
        expect([e.kind for e in store.audit.entries()], ["marked"] * 3, "audited, without what was refused")


@_check
def the_newest_rating_of_a_run_holds(opened: Opened) -> None:
    with closing(opened()) as store:
        store.runs.start(run_record("run-1"))
        before = now() - timedelta(seconds=5)
        expect(store.feedback.rating("run-1"), None, "before anybody rated")
        for stars in (2, 5):
            store.feedback.rate("run-1", stars, "ada")
        rated = store.feedback.rated(before, now() + timedelta(seconds=5))
        expect((rated.ratings, rated.total, rated.squares), (1, 5, 25), "one rating, the newest")
        expect([(each.run_id, each.stars) for each in store.feedback.newest(9)[1]], [("run-1", 5)], "said last")
        expect_error(WhetError, store.feedback.rate, "nowhere", 3, "ada")
        for refused in (0, 6, 2.5, True, "3"):
            expect_error(RefusedInput, store.feedback.rate, "run-1", refused, "ada")  # type: ignore[arg-type]


@_check
def the_experiences_behind_a_finding_are_those_that_reported_it(opened: Opened) -> None:
    with closing(opened()) as store:
        blamed = {"duration_seconds": 1, "findings": [finding("a").model_dump()]}
        for number, outcome in enumerate((blamed, {"duration_seconds": 1, "findings": [{"kind": "unreadable"}]})):
            store.experiences.learn(experience(f"k{number}", outcome=outcome), None)
        store.runs.note_findings("run-1", [finding("a")])
        behind = [each.key for each in store.feedback.behind(finding("a").fingerprint())]
        expect(behind, ["k0"], "of one run, the experience that reported it")
        expect(store.feedback.behind("nowhere"), [], "of a finding nobody has")


@_check
def a_correction_is_as_if_the_reward_had_been_right_at_once(opened: Opened) -> None:
    """While a cell averages, nothing tells a corrected table from one that was never wrong."""
    with closing(opened()) as store:
        taught = [lesson(target, rate=0.05) for target in (4.0, -2.0, 7.0)]
        right = OWN._replace(action="right")
        for number, (each, target) in enumerate(zip(taught, (4.0, -5.0, 7.0), strict=True)):
            store.experiences.learn(experience(f"k{number}", each.target), each)
            store.experiences.learn(experience(f"r{number}", target), lesson(target, rate=0.05, cell=right))
        expect_close(store.feedback.correct(_correction("k1", -3.0, taught[1])), -3.0, "what was missing")
        found = store.tables.read([OWN, right])
        for name in ("q_value", "mean", "m2"):
            expect_close(getattr(found[OWN], name), getattr(found[right], name), name)
        expect(found[OWN].visits, 3, "no visit is counted")


@_check
def shared_cells_follow_the_agents_own(opened: Opened) -> None:
    with closing(opened()) as store:
        own, shared = Move(cell=OWN, rate=0.1), Move(cell=CATEGORY, rate=0.1)
        taught = Lesson(target=10.0, own=(own,), shared=(shared,))
        store.experiences.learn(experience("k"), taught)
        store.feedback.correct(_correction("k", -4.0, taught))
        found = store.tables.read([OWN, CATEGORY])
        expect_close(found[OWN].q_value, 6.0, "the own cell")
        expect_close(found[CATEGORY].q_value, 10.0 - 0.4, "the category's, by its rate")


@_check
def the_same_correction_twice_counts_once(opened: Opened) -> None:
    with closing(opened()) as store:
        store.experiences.learn(experience("k", 5.0), lesson(5.0))
        with ThreadPoolExecutor(4) as pool:
            moved = list(pool.map(lambda _: store.feedback.correct(_correction("k", -2.0, lesson(5.0))), range(8)))
        expect(sorted(moved), [-2.0] + [0.0] * 7, "what each of them moved")
        expect_close(store.tables.read([OWN])[OWN].q_value, 3.0, "the value")
        expect(store.feedback.applied(["k", "other"]), {"k": -2.0}, "what is applied")
        expect([e.kind for e in store.audit.entries()], ["corrected", "learned"], "audited once")


@_check
def a_correction_taken_back_leaves_everything_as_it_was(opened: Opened) -> None:
    with closing(opened()) as store:
        told = [lived(number) for number in range(9)]
        for each in told:
            store.experiences.learn(each, lesson(each.reward.credited))
        before = store.tables.read([OWN])[OWN]
        store.feedback.correct(_correction("key-4", 3.0, lesson(told[4].reward.credited)))
        corrected = _by_key(store)["key-4"].reward
        expect_close(corrected.credited, told[4].reward.credited + 3.0, "credited")
        expect_close(corrected.raw, told[4].reward.raw + 3.0, "raw")
        expect(corrected.parts, PARTS, "its parts")
        expect_totals(store, list(_by_key(store).values()))
        store.feedback.correct(_correction("key-4", 0.0, lesson(corrected.credited)))
        expect_totals(store, told)
        after = store.tables.read([OWN])[OWN]
        for name in ("q_value", "mean", "m2"):
            expect_close(getattr(after, name), getattr(before, name), name)


def _by_key(store: PagedStore) -> dict[str, Any]:
    return {each.key: each for each in store.experiences.recent()}


@_check
def what_is_corrected_is_trained_with_as_corrected(opened: Opened) -> None:
    with closing(opened()) as store:
        told = [experience(f"k{number}", 5.0) for number in range(4)]
        for each in told:
            store.experiences.learn(each, None)
        store.learning.collect(told[:2], now())
        first = store.learning.close_batch(told[0].agent, now(), 1)
        store.learning.collect(told[2:3], now())
        second, trained_at = store.learning.close_batch(told[0].agent, now(), 1), now()
        for key in ("k1", "k2", "k3"):
            store.feedback.correct(_correction(key, -2.0, None))
        numbers = [0 if batch is None else batch.number for batch in (first, second)]
        rewards = [[each.reward.credited for each in store.learning.members(number)] for number in numbers]
        expect(rewards, [[5.0, 3.0], [3.0]], "what the batches hold now")
        agent = told[0].agent
        expect([store.feedback.corrected(agent, number, trained_at) for number in numbers], [1, 2], "up to each batch")
        expect(store.feedback.corrected(agent, numbers[1], now()), 0, "since now")
        expect(store.feedback.corrected("other", numbers[1], trained_at), 0, "of another agent")


@_check
def what_was_never_taught_changes_no_table(opened: Opened) -> None:
    with closing(opened()) as store:
        store.experiences.learn(experience("k", 5.0), None)
        store.feedback.correct(_correction("k", -2.0, None))
        store.feedback.correct(_correction("k", -3.0, lesson(3.0)))  # names a cell that does not exist
        expect((store.tables.read([OWN]), _by_key(store)["k"].reward.credited), ({}, 2.0), "tables, and the reward")
        expect_error(WhetError, store.feedback.correct, _correction("nowhere", 1.0, None))


@_check
def the_newest_reward_rules_hold_until_they_are_dropped(opened: Opened) -> None:
    with closing(opened()) as store:
        expect((store.feedback.rules(), store.feedback.drop_rules("ada")), (None, False), "at first settings hold")
        store.feedback.set_rules("composite", {"prevention": 0.5}, "ada")
        store.feedback.set_rules("multi-objective", {"bugs_found": 1.0}, "bob")
    with closing(opened()) as store:
        found = store.feedback.rules()
        expect(
            None if found is None else (found.profile, found.weights, found.by),
            ("multi-objective", {"bugs_found": 1.0}, "bob"),
            "newest",
        )
        expect((store.feedback.drop_rules("ada"), store.feedback.rules()), (True, None), "dropped")
        expect(len(store.audit.entries()), 3, "every change is audited")
