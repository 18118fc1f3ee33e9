"""What every `LearningLog` must do. Run all of it against an implementation of your own::

    @pytest.mark.parametrize("check", whet.checks.learning.CHECKS)
    def test_my_learning_log(check, tmp_path):
        check(lambda: MyStore(tmp_path))

As with `whet.checks.store`, the function opens the same, initially empty, store each time.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

from whet.checks import store_samples as sample
from whet.checks.expectations import expect, expect_error
from whet.core.errors import RefusedInput
from whet.core.learning_log import Judged, Quality, UnitResult, Unreadable
from whet.core.ports import Store
from whet.core.records import Experience

Opened = Callable[[], Store]
Check = Callable[[Opened], None]
CHECKS: list[Check] = []

AT = datetime(2024, 2, 29, 12, 30, 0, 250_001, tzinfo=UTC)
_HOUR = timedelta(hours=1)
_ODD = "nul \0 surrogate \ud800\udfff substitute \x1a0000 \x1a~1.0 emoji 🧪 quote ' \" \\ % _ {} \r\n"


def _check(check: Check) -> Check:
    CHECKS.append(check)
    return check


def _keys(experiences: Iterable[Experience]) -> list[str]:
    return [each.key for each in experiences]


def _some(*keys: object, **changes: Any) -> list[Experience]:
    return [sample.experience(str(key), **changes) for key in keys]


def _good(experience: Experience | Unreadable) -> Judged:
    return Judged(experience.key, experience.agent, Quality.GOOD, "")


def _learned(store: Store, *keys: str, **changes: Any) -> None:
    for each in _some(*keys, **changes):
        store.experiences.learn(each, None)


@_check
def the_stream_is_read_in_order(opened: Opened) -> None:
    with closing(opened()) as store:
        expect((store.learning.unread(10), store.learning.backlog()), ([], 0), "of an empty store")
        _learned(store, "a", "b", "a", "c")
        first = store.learning.unread(2)
        expect([each.experience.key for each in first], ["a", "b"], "limited, oldest first")
        expect(first[0].position < first[1].position, True, "positions grow")
        expect(store.learning.unread(2), first, "reading alone moves nothing")
        expect(store.learning.unread(0), [], "none wanted")
        expect(store.learning.backlog(), 3, "whatever the limit")
        store.learning.judge([_good(each.experience) for each in first], first[-1].position)
    with closing(opened()) as store:
        rest = store.learning.unread(10)
        expect(store.learning.backlog(), 1, "after the cursor")
        expect([each.experience for each in rest], store.experiences.recent(limit=1), "what is after the cursor")
        store.learning.judge([], rest[-1].position)
        expect(store.learning.unread(10), [], "all was read")
        _learned(store, "d")
        expect([each.experience.key for each in store.learning.unread(10)], ["d"], "what came since")


@_check
def judging_again_changes_nothing(opened: Opened) -> None:
    with closing(opened()) as store:
        _learned(store, "a", "b", "c")
        a, b, c = store.learning.unread(10)
        store.learning.judge([Judged("a", "runner", Quality.STALE, _ODD), _good(b.experience)], b.position)
        store.learning.judge([_good(a.experience)], a.position)
        expect(store.learning.unread(10), [c], "the cursor never goes back")
        expect(store.learning.refused(), [Judged("a", "runner", Quality.STALE, _ODD)], "the first verdict stands")
        twice = Judged("c", "runner", Quality.DUPLICATE, "one"), Judged("c", "runner", Quality.STALE, "two")
        store.learning.judge(twice, c.position)
        expect(store.learning.refused()[0], twice[0], "of two in one call the first")
        store.learning.judge([], 0)
        expect(store.learning.unread(10), [], "nor to the beginning")


@_check
def verdicts_are_counted(opened: Opened) -> None:
    with closing(opened()) as store:
        _learned(store, *"abcd")
        end = store.learning.unread(10)[-1].position
        reasons = [
            ("a", "x", Quality.GOOD),
            ("b", "x", Quality.STALE),
            ("c", "y", Quality.STALE),
            ("d", "y", "malformed"),
        ]
        store.learning.judge([Judged(key, agent, Quality(quality), f"{key}!") for key, agent, quality in reasons], end)
        none = dict.fromkeys(Quality, 0)
        all_agents = {Quality.GOOD: 1, Quality.STALE: 2, Quality.MALFORMED: 1}
        expect(store.learning.verdicts(), none | all_agents, "of all agents")
        expect(store.learning.verdicts("x"), none | {Quality.GOOD: 1, Quality.STALE: 1}, "of one agent")
        expect(store.learning.verdicts("z"), none, "of no agent")
        expect([each.key for each in store.learning.refused()], ["d", "c", "b"], "refused, newest first")
        expect([each.key for each in store.learning.refused(1)], ["d"], "limited")


@_check
def the_stream_cannot_be_skipped(opened: Opened) -> None:
    with closing(opened()) as store:
        expect_error(RefusedInput, store.learning.judge, [], 1)
        _learned(store, "a")
        (seen,) = store.learning.unread(10)
        for wrong in (seen.position + 1, -1, 10**40):
            expect_error(RefusedInput, store.learning.judge, [_good(seen.experience)], wrong)
        spoiled = Judged("a", "runner", "splendid", "")  # type: ignore[arg-type]
        expect_error(RefusedInput, store.learning.judge, [spoiled], seen.position)
        expect((store.learning.unread(10), store.learning.verdicts()[Quality.GOOD]), ([seen], 0), "nothing was changed")


@_check
def collecting_twice_collects_once(opened: Opened) -> None:
    odd: dict[str, object] = {"text": _ODD, _ODD: [1e300, -0.0, 5e-324, 0.1, 2**70, None, True, {"": {}}]}
    given = [*_some("b", "a"), sample.experience("c", state=odd, outcome={"message": "🧪" * 10_000})]
    with closing(opened()) as store:
        expect(store.learning.collect([], AT), 0, "of none")
        expect(store.learning.collect([*given, *_some("b", credited=9.0)], AT), 3, "each key once")
        expect(store.learning.collect([*_some("a", credited=9.0), *_some("d")], AT + _HOUR), 1, "one is new")
        expect(store.learning.waiting("runner"), (4, AT), "how many wait, and since when")
    with closing(opened()) as store:
        batch = store.learning.close_batch("runner", AT, 1)
        found = store.learning.members(batch.number if batch else 0)
        expect(_keys(found), ["b", "a", "c", "d"], "in the order of their coming")
        expect(found[:3], given, "unchanged, the first of each key")
        expect(repr(found[2].state[_ODD]), repr(odd[_ODD]), "to the sign of zero")
        expect(store.learning.collect(given, AT), 0, "also when they were trained with")


@_check
def refused_experiences_are_not_collected(opened: Opened) -> None:
    good = sample.experience("good")
    with closing(opened()) as store:
        for wrong in (float("nan"), float("inf"), 10_001.0):
            spoiled = good.with_reward(good.reward.model_copy(update={"credited": wrong}))
            expect_error(RefusedInput, store.learning.collect, [good, spoiled], AT)
        hidden = good.model_copy(update={"outcome": {"deep": [{"x": float("nan")}]}})
        expect_error(RefusedInput, store.learning.collect, [sample.experience("other"), hidden], AT)
        expect_error(RefusedInput, store.learning.collect, [good], AT.replace(tzinfo=None))
        expect(store.learning.agents_waiting(), [], "nothing was collected")


@_check
def a_batch_takes_everything_that_waits(opened: Opened) -> None:
    with closing(opened()) as store:
        expect(store.learning.waiting("runner"), (0, None), "of an empty store")
        expect(store.learning.close_batch("runner", AT, 0), None, "nothing is no batch")
        store.learning.collect([*_some(3, 1, 2), *_some("x", agent="other")], AT)
        expect(store.learning.agents_waiting(), ["other", "runner"], "sorted")
        expect(store.learning.close_batch("runner", AT, 4), None, "too few")
        first = store.learning.close_batch("runner", AT + _HOUR, 3)
        got = first and (first.agent, first.size, first.first, first.last, first.closed_at)
        expect(got, ("runner", 3, "3", "2", AT + _HOUR), "the batch")
        expect(store.learning.close_batch("runner", AT, 0), None, "once")
        expect((store.learning.waiting("runner"), store.learning.agents_waiting()), ((0, None), ["other"]), "who waits")
        other = store.learning.close_batch("other", AT, 1)
        store.learning.collect(_some("later"), AT)
        second = store.learning.close_batch("runner", AT, 1)
        expect(store.learning.batches(), [second, other, first], "newest first")
        expect(store.learning.batches("runner"), [second, first], "of one agent")
        expect(_keys(store.learning.members(first.number if first else 0)), ["3", "1", "2"], "members, oldest first")
        expect(store.learning.members(99), [], "of no batch")
        expect(store.audit.verify().problem, None, "the trail")


def _batch(store: Store, *keys: object, **changes: Any) -> int:
    store.learning.collect(_some(*keys, **changes), AT)
    batch = store.learning.close_batch(changes.get("agent", "runner"), AT, 1)
    if batch is None:
        raise AssertionError("what was collected made no batch")
    return batch.number


@_check
def old_experiences_come_back_for_replay(opened: Opened) -> None:
    with closing(opened()) as store:
        first, _, second, third = (
            _batch(store, 1, 2),
            _batch(store, "x", agent="other"),
            _batch(store, 3, 4),
            _batch(store, 5),
        )
        before = store.learning.trained_before
        expect(_keys(before("runner", third, 3)), ["2", "3", "4"], "the newest of earlier batches, oldest first")
        expect(_keys(before("runner", third, 99)), ["1", "2", "3", "4"], "all of them")
        expect(_keys(before("runner", second, 99)), ["1", "2"], "before the second")
        expect((before("runner", first, 99), before("runner", third, 0)), ([], []), "none")


@_check
def what_is_let_go_stays_counted(opened: Opened) -> None:
    with closing(opened()) as store:
        first, second = _batch(store, 1, 2, 3), _batch(store, 4, 5)
        store.learning.collect(_some("waits"), AT)
        expect(store.learning.trim(5), 0, "as many as there are")
        sizes = [(each.number, each.size) for each in store.learning.batches()]
        expect((store.learning.trim(3), store.learning.trim(3)), (2, 0), "two too many, once")
        expect(_keys(store.learning.members(first)), ["3"], "the newest stay")
        expect(_keys(store.learning.trained_before("runner", second, 99)), ["3"], "for replay as well")
        expect([(each.number, each.size) for each in store.learning.batches()], sizes, "batches keep their size")
        expect(store.learning.collect(_some(1, 2), AT), 0, "a late delivery does not bring them back")
        expect((store.learning.trim(0), store.learning.members(second)), (3, []), "all of them")
        expect(store.learning.waiting("runner")[0], 1, "what waits stays")
        batch = store.learning.close_batch("runner", AT, 1)
        expect(_keys(store.learning.members(batch.number if batch else 0)), ["waits"], "and can be trained with")
        expect_error(RefusedInput, store.learning.trim, -1)


@_check
def keys_and_verdicts_are_forgotten_and_nothing_else(opened: Opened) -> None:
    with closing(opened()) as store:
        _learned(store, "a", "b", "c")
        judged = [_good(each.experience) for each in store.learning.unread(10)]
        store.learning.judge(judged, 0)
        held = _batch(store, 1, 2, 3)
        store.learning.collect(_some("waits"), AT)
        expect(store.learning.forget(AT + _HOUR, 3), 0, "what is held or waits, and as many verdicts as there are")
        store.learning.trim(1)
        expect(store.learning.forget(AT, 3), 0, "what was collected then or later")
        expect(store.learning.forget(AT + _HOUR, 1), 4, "two keys that were let go, two verdicts")
        expect(store.learning.verdicts()[Quality.GOOD], 1, "the newest verdict")
        expect((_keys(store.learning.members(held)), store.learning.waiting("runner")[0]), (["3"], 1), "what was held")
        expect(store.learning.collect(_some(1, 3, "waits"), AT), 1, "only the forgotten could come again")
        expect(store.audit.verify().problem, None, "the trail")
        expect_error(RefusedInput, store.learning.forget, AT, -1)


def _decided(store: Store, run: str, policy: str, hours: int, credited: float, **outcome: object) -> None:
    agent = str(outcome.pop("agent", "runner"))
    made = sample.decision(agent=agent, run_id=run, policy=policy, at=AT + hours * _HOUR)
    store.decisions.record(made, sample.SampleState(situation=sample.SITUATION))
    lived = sample.experience(made.id, credited, agent=agent, run_id=run, decision=made, outcome=outcome)
    store.experiences.learn(lived, None)


@_check
def results_are_counted_by_run_and_policy(opened: Opened) -> None:
    """Run 1: tabular earned 1, 2, 6 (mean 3), one of three failed; the candidate earned −4 once. Run 2: 0.5 and 1.0."""
    fine: dict[str, object] = {"failed": None, "cut_short": False, "unearned": None}
    with closing(opened()) as store:
        _decided(store, "run-2", "candidate-7", 4, 0.5, **fine)
        _decided(store, "run-2", "candidate-7", 5, 1.0, failed="It broke.", cut_short=False)
        _decided(store, "run-1", "tabular", 1, 1.0, **fine)
        _decided(store, "run-1", "tabular", 3, 2.0)
        _decided(store, "run-1", "tabular", 2, 6.0, failed=_ODD)
        _decided(store, "run-1", "candidate-7", 2, -4.0, **fine)
        _decided(store, "run-1", "tabular", 2, 999.0, failed=None, cut_short=True)
        _decided(store, "run-1", "tabular", 2, 999.0, **fine | {"unearned": "Nothing ran."})
        _decided(store, "run-3", "tabular", 2, 999.0, agent="other")
        _decided(store, "run-4", _ODD, -1, 999.0, **fine)
        unfinished = sample.decision(run_id="run-5", at=AT + _HOUR)
        store.decisions.record(unfinished, sample.SampleState(situation=sample.SITUATION))
        expected = [
            UnitResult("run-1", "tabular", 3, 3.0, 2 / 3, AT + _HOUR),
            UnitResult("run-1", "candidate-7", 1, -4.0, 1.0, AT + 2 * _HOUR),
            UnitResult("run-2", "candidate-7", 2, 0.75, 0.5, AT + 4 * _HOUR),
        ]
        expect(store.learning.results("runner", AT), expected, "since the beginning")
        later = [UnitResult("run-1", "tabular", 1, 2.0, 1.0, AT + 3 * _HOUR), expected[2]]
        expect(store.learning.results("runner", AT + 3 * _HOUR), later, "the very moment counts")
        everything = store.learning.results("runner", AT - _HOUR)
        expect(everything, [UnitResult("run-4", _ODD, 1, 999.0, 1.0, AT - _HOUR), *expected], "policies of any name")
        expect(store.learning.results("runner", AT + 99 * _HOUR), [], "nothing yet")


@_check
def readers_skip_nothing_while_others_learn(opened: Opened) -> None:
    """Whoever reads and judges while four openings write sees each experience once, in growing positions."""
    wanted = {f"{worker} {number}" for worker in range(4) for number in range(15)}

    def learn(worker: int) -> None:
        with closing(opened()) as store:
            for number in range(15):
                taught = sample.lesson(1.0) if (worker + number) % 2 else None
                store.experiences.learn(sample.experience(f"{worker} {number}"), taught)

    read: list[tuple[int, str]] = []
    with closing(opened()) as store, ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(learn, worker) for worker in range(4)]
        ended = False
        while not ended:
            ended = all(each.done() for each in writers)  # before the last look, which then sees everything
            seen = store.learning.unread(7)
            while seen:
                read.extend((each.position, each.experience.key) for each in seen)
                store.learning.judge([_good(each.experience) for each in seen], seen[-1].position)
                seen = store.learning.unread(7)
        for writer in writers:
            writer.result()
        expect(read == sorted(read), True, "positions grew")
        expect(Counter(key for _, key in read), Counter(wanted), "each once")
        expect(store.learning.verdicts()[Quality.GOOD], len(wanted), "verdicts")


@_check
def collectors_and_closers_at_once_lose_nothing(opened: Opened) -> None:
    """Four openings collect the same forty in different orders and close batches meanwhile."""

    def work(worker: int) -> int:
        with closing(opened()) as store:
            order = [(number * 7 + worker * 11) % 40 for number in range(40)]
            new = 0
            for start in range(0, 40, 8):
                new += store.learning.collect(_some(*order[start : start + 8]), AT)
                store.learning.close_batch("runner", AT, 5)
            return new

    with ThreadPoolExecutor(4) as pool:
        expect(sum(pool.map(work, range(4))), 40, "new ones")
    with closing(opened()) as store:
        store.learning.close_batch("runner", AT, 1)
        batches = store.learning.batches()
        members = {each.number: _keys(store.learning.members(each.number)) for each in batches}
        expect(
            Counter(key for keys in members.values() for key in keys), Counter(map(str, range(40))), "in one batch each"
        )
        told = [(each.size, each.first, each.last) for each in batches]
        expect(told, [(len(keys), keys[0], keys[-1]) for keys in members.values()], "what batches say of themselves")
        expect(store.audit.verify().problem, None, "the trail")
