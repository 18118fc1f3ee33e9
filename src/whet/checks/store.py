"""What every `Store` must do. Run all of it against an implementation of your own::

    @pytest.mark.parametrize("check", whet.checks.store.CHECKS)
    def test_my_store(check, tmp_path):
        check(lambda: MyStore(tmp_path))

Each check gets a function that opens the same, initially empty, store; it is called again to
see what a second opening finds.
"""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from whet.checks import store_samples as sample
from whet.checks.expectations import expect, expect_close, expect_error
from whet.core.errors import RefusedInput, WhetError
from whet.core.ports import Cell, Entry, Lesson, Move, Scope, Store
from whet.core.records import Review

Opened = Callable[[], Store]
Check = Callable[[Opened], None]
CHECKS: list[Check] = []

_ODD = "nul \0 surrogate \ud800\udfff substitute \x1a0000 \x1a~1.0 emoji 🧪 quote ' \" \\ % _ {} \r\n"


def _check(check: Check) -> Check:
    CHECKS.append(check)
    return check


def _entry(store: Store, cell: Cell = sample.OWN) -> Entry | None:
    return store.tables.read([cell]).get(cell)


@_check
def averaged_visits_average(opened: Opened) -> None:
    """Targets 10, 20, 0: means 10, 15, 10; squared deviations from 10 sum to 200."""
    with closing(opened()) as store:
        for number, target in enumerate((10.0, 20.0, 0.0)):
            store.experiences.learn(sample.experience(f"k{number}"), sample.lesson(target))
        entry = store.tables.read([sample.OWN])[sample.OWN]
    expect((entry.visits, entry.q_value, entry.mean), (3, 10.0, 10.0), "after targets 10, 20, 0")
    expect_close(entry.m2, 200.0, "sum of squares")
    expect_close(entry.variance() or 0.0, 100.0, "variance")


@_check
def averaged_visits_keep_the_rate_once_it_is_larger(opened: Opened) -> None:
    """After ten visits 1/11 < 0.1, so the eleventh moves a tenth of the way: 0 + 0.1 · 100."""
    with closing(opened()) as store:
        for number in range(10):
            store.experiences.learn(sample.experience(f"k{number}"), sample.lesson(0.0))
        store.experiences.learn(sample.experience("last"), sample.lesson(100.0))
        expect_close(store.tables.read([sample.OWN])[sample.OWN].q_value, 10.0, "the eleventh visit")


@_check
def plain_moves_crawl_from_zero(opened: Opened) -> None:
    """Rate 0.5 towards 8: 4, then 6."""
    with closing(opened()) as store:
        values = []
        for key in ("a", "b"):
            store.experiences.learn(sample.experience(key), sample.lesson(8.0, rate=0.5, averaged=False))
            values.append(store.tables.read([sample.OWN])[sample.OWN].q_value)
    expect(values, [4.0, 6.0], "values after each visit")


@_check
def borrowed_values_are_replaced_or_moved(opened: Opened) -> None:
    other = sample.OWN._replace(action="stop")
    with closing(opened()) as store:
        expect(store.tables.initialise({sample.OWN: 50.0, other: 50.0}), 2, "cells set")
        expect(_entry(store), Entry(q_value=50.0, visits=0, mean=0.0, m2=0.0), "a borrowed cell")
        store.experiences.learn(sample.experience("a"), sample.lesson(10.0))
        store.experiences.learn(sample.experience("b"), sample.lesson(10.0, averaged=False, cell=other))
        expect(_entry(store), Entry(q_value=10.0, visits=1, mean=10.0, m2=0.0), "averaged: replaced")
        expect(_entry(store, other), Entry(q_value=46.0, visits=1, mean=10.0, m2=0.0), "plain: 50 + 0.1 · (10 − 50)")
        expect(store.tables.initialise({sample.OWN: 7.0}), 0, "nothing is overwritten")
        expect_error(RefusedInput, store.tables.initialise, {sample.FLEET: float("nan")})


@_check
def faint_values_do_no_harm(opened: Opened) -> None:
    """A value that fades for years, or a target of next to nothing, underflows; it must not stop the learning."""
    with closing(opened()) as store:
        store.tables.initialise({sample.OWN: 1e-300})
        for number, target in enumerate((0.0, 5e-324, -1e-298, 0.0)):
            taught = sample.lesson(target, rate=0.1, averaged=number % 2 == 0)
            given = sample.experience(f"k{number}", credited=target)
            expect(store.experiences.learn(given, taught), True, f"learned {target}")
        other = sample.OWN._replace(action="stop")
        store.experiences.learn(sample.experience("new"), sample.lesson(5e-324, averaged=False, cell=other))
        store.tables.replay(sample.lesson(5e-324, rate=1e-300, averaged=False))
        entry = store.tables.read([sample.OWN])[sample.OWN]
    expect_close(entry.q_value, 0.0, "faded")
    expect(entry.visits, 4, "visits")


@_check
def lessons_propagate_the_learned_value(opened: Opened) -> None:
    """Own: 0.5 · 20 = 10. The shared tables get 10, not 20: averaged 10, plain 0.05 · 10."""
    taught = Lesson(
        target=20.0,
        own=(Move(cell=sample.OWN, rate=0.5, averaged=False), Move(cell=sample.OWN, rate=1.0)),
        shared=(
            Move(cell=sample.FLEET, rate=0.05, averaged=False),
            Move(cell=sample.CATEGORY, rate=0.1),
            Move(cell=sample.OWN, rate=1.0),
        ),
    )
    with closing(opened()) as store:
        store.experiences.learn(sample.experience("a"), taught)
        expect(_entry(store), Entry(q_value=10.0, visits=1, mean=20.0, m2=0.0), "named three times, moved once")
        expect(_entry(store, sample.CATEGORY), Entry(q_value=10.0, visits=1, mean=10.0, m2=0.0), "category")
        expect(_entry(store, sample.FLEET), Entry(q_value=0.5, visits=1, mean=10.0, m2=0.0), "fleet")


@_check
def replay_moves_without_counting(opened: Opened) -> None:
    with closing(opened()) as store:
        store.tables.replay(sample.lesson(5.0))
        expect(store.tables.owners(), [], "replay makes no cells")
        store.experiences.learn(sample.experience("a"), sample.lesson(10.0))
        store.tables.replay(sample.lesson(20.0, rate=0.05, averaged=False))
        expect(_entry(store), Entry(q_value=10.5, visits=1, mean=10.0, m2=0.0), "10 + 0.05 · (20 − 10)")


@_check
def tables_are_listed_and_wiped(opened: Opened) -> None:
    cells = [sample.OWN, sample.CATEGORY, sample.FLEET, sample.OWN._replace(owner="another")]
    with closing(opened()) as store:
        store.tables.initialise(dict.fromkeys(cells, 1.0))
        named = sorted((cell.scope, cell.owner) for cell in cells)
        expect(store.tables.owners(), named, "owners, sorted")
        expect(list(store.tables.rows(Scope.INDIVIDUAL, "runner")), [sample.OWN], "rows of one table")
        absent = sample.OWN._replace(state_key="elsewhere")
        expect(set(store.tables.read([*cells, absent])), set(cells), "absent cells are absent")
        expect(store.tables.wipe(Scope.INDIVIDUAL, "runner"), 1, "cells forgotten")
        expect(store.tables.wipe(Scope.INDIVIDUAL, "runner"), 0, "cells of no table")
        expect(set(store.tables.read(cells)), set(cells[1:]), "the other tables")


@_check
def restored_tables_are_exact(opened: Opened) -> None:
    """A snapshot taken before more was learned comes back to the bit; what came since, and only there, is gone."""
    borrowed, other = sample.OWN._replace(state_key="borrowed"), sample.OWN._replace(owner="another")
    with closing(opened()) as store:
        store.tables.initialise({borrowed: 1 / 3, other: 7.0})
        for number in range(3):
            store.experiences.learn(sample.experience(f"k{number}"), sample.lesson(0.1 * number))
        kept = store.tables.rows(Scope.INDIVIDUAL, "runner")
        later = sample.OWN._replace(state_key="later")
        store.experiences.learn(sample.experience("k3"), sample.lesson(99.0, cell=later))
        store.experiences.learn(sample.experience("k4"), sample.lesson(99.0))
        store.tables.restore(Scope.INDIVIDUAL, "runner", kept)
        entry = store.audit.entries(1)[0]
        expect((entry.kind, entry.subject, entry.payload), ("restored", "individual/runner", {"cells": 2}), "audited")
    with closing(opened()) as store:
        found = store.tables.rows(Scope.INDIVIDUAL, "runner")
        expect(repr(sorted(found.items())), repr(sorted(kept.items())), "as it was, to the last digit")
        expect(store.tables.read([other])[other].q_value, 7.0, "another table")
        store.experiences.learn(sample.experience("k5"), sample.lesson(1.0))
        expect(store.tables.read([sample.OWN])[sample.OWN].visits, 4, "learning goes on from there")


@_check
def tables_are_restored_anywhere(opened: Opened) -> None:
    extreme = Entry(q_value=-1e6, visits=2**63 - 1, mean=5e-324, m2=1.7976931348623157e308)
    rows = {sample.OWN: extreme, sample.OWN._replace(state_key=_ODD): Entry(q_value=0.1, visits=0, mean=0.3, m2=0.2)}
    with closing(opened()) as store:
        store.tables.restore(Scope.INDIVIDUAL, "runner", rows)
        expect(store.tables.rows(Scope.INDIVIDUAL, "runner"), rows, "where there was no table")
        before = (store.tables.rows(Scope.INDIVIDUAL, "runner"), store.audit.verify())
        foreign = {sample.OWN: extreme, sample.FLEET: extreme}
        expect_error(RefusedInput, store.tables.restore, Scope.INDIVIDUAL, "runner", foreign)
        for wrong in (
            {"q_value": float("nan")},
            {"q_value": 1.1e6},
            {"m2": -1.0},
            {"mean": float("inf")},
            {"visits": 2**63},
        ):
            spoiled = {sample.OWN: extreme.model_copy(update=wrong)}
            expect_error(RefusedInput, store.tables.restore, Scope.INDIVIDUAL, "runner", spoiled)
        expect((store.tables.rows(Scope.INDIVIDUAL, "runner"), store.audit.verify()), before, "nothing was changed")
        store.tables.restore(Scope.INDIVIDUAL, "runner", {})
        expect((store.tables.rows(Scope.INDIVIDUAL, "runner"), store.tables.owners()), ({}, []), "to nothing")
        store.tables.restore(Scope.INDIVIDUAL, "nobody", {})
        expect(store.tables.owners(), [], "nothing to nothing")


@_check
def experiences_come_back_unchanged(opened: Opened) -> None:
    odd: dict[str, object] = {"text": _ODD, _ODD: [1e300, -0.0, 5e-324, 0.1, 2**70, None, True, {"": {}}]}
    given = sample.experience("k" + _ODD.replace("\ud800\udfff", ""), state=odd, outcome={"message": "🧪" * 10_000})
    with closing(opened()) as store:
        expect(store.experiences.learn(given, None), True, "a new experience")
    with closing(opened()) as store:
        expect(store.experiences.recent(), [given], "the same after opening again")
        expect(repr(store.experiences.recent()[0].state[_ODD]), repr(odd[_ODD]), "to the sign of zero")
        expect(store.experiences.of_decision(given.decision.id), given, "by its decision")
        expect(store.experiences.of_decision("none"), None, "of no decision")


@_check
def repeated_delivery_changes_nothing(opened: Opened) -> None:
    with closing(opened()) as store:
        store.experiences.learn(sample.experience("a"), sample.lesson(10.0))
        before = (_entry(store), store.audit.verify(), store.experiences.recent())
        again = sample.experience("a", credited=9.0)
        expect(store.experiences.learn(again, sample.lesson(99.0, cell=sample.FLEET)), False, "a repeated key")
        expect((_entry(store), store.audit.verify(), store.experiences.recent()), before, "everything")
        expect(_entry(store, sample.FLEET), None, "the repeated lesson's cell")


@_check
def refused_values_leave_no_trace(opened: Opened) -> None:
    good = sample.experience("bad")
    with closing(opened()) as store:
        store.experiences.learn(sample.experience("a"), sample.lesson(10.0))
        before = (_entry(store), store.audit.verify(), store.experiences.count(), store.tables.owners())
        for wrong in (float("nan"), float("inf"), -float("inf"), 10_001.0):
            spoiled = good.with_reward(good.reward.model_copy(update={"credited": wrong}))
            expect_error(RefusedInput, store.experiences.learn, spoiled, sample.lesson(1.0))
            lesson = sample.lesson(1.0).model_copy(update={"target": wrong * 1000})
            expect_error(RefusedInput, store.experiences.learn, good, lesson)
            expect_error(RefusedInput, store.tables.replay, lesson)
        hidden = good.model_copy(update={"outcome": {"deep": [{"x": float("nan")}]}})
        expect_error(RefusedInput, store.experiences.learn, hidden, sample.lesson(1.0))
        after = (_entry(store), store.audit.verify(), store.experiences.count(), store.tables.owners())
        expect(after, before, "everything")


@_check
def experiences_are_read_on_by_project(opened: Opened) -> None:
    """Oldest first, after a position, with their surprise; another project's are not there."""
    with closing(opened()) as store:
        for run_id, project in (("r1", "shop"), ("r2", "other")):
            store.runs.start(sample.run_record(run_id).model_copy(update={"project": project}))
        for key, run_id in (("a", "r1"), ("b", "r2"), ("c", "r1"), ("d", "nowhere"), ("e", "r1")):
            store.experiences.learn(sample.experience(key, run_id=run_id), None)
        store.experiences.set_priorities({"c": 7.5})
        everything = store.experiences.after(0, "shop", 10)
        expect([(each.experience.key, each.surprise) for each in everything], [("a", 1.0), ("c", 7.5), ("e", 1.0)], "a")
        rest = store.experiences.after(everything[0].position, "shop", 1)
        expect([each.experience.key for each in rest], ["c"], "after the first, one")
        expect(store.experiences.after(everything[-1].position, "shop", 10), [], "after the last")
        expect(store.experiences.after(0, "shop", 0), [], "none asked for")


@_check
def experiences_are_listed_newest_first(opened: Opened) -> None:
    with closing(opened()) as store:
        for key, agent, run_id in (("a", "x", "r1"), ("b", "y", "r1"), ("c", "x", "r2")):
            store.experiences.learn(sample.experience(key, agent=agent, run_id=run_id), None)
        listed = store.experiences.recent
        expect([e.key for e in listed()], ["c", "b", "a"], "all")
        expect([e.key for e in listed(agent="x")], ["c", "a"], "of one agent")
        expect([e.key for e in listed(run_id="r1", limit=1)], ["b"], "of one run, limited")
        expect((store.experiences.count(), store.experiences.count("x"), store.experiences.count("z")), (3, 2, 0), "n")


@_check
def samples_follow_priority(opened: Opened) -> None:
    """Priorities 1, 32, 0 weigh 1, 32^0.6 = 8, 0: the second is drawn 8/9 of the time, the third never."""
    draws = 9_000
    with closing(opened()) as store:
        for key in ("low", "high", "never"):
            store.experiences.learn(sample.experience(key), None)
        store.experiences.set_priorities({"low": 1.0, "high": 32.0, "never": 0.0, "unknown": 3.0})
        drawn = [e.key for e in store.experiences.sample("runner", draws, seed=1)]
        expect([e.key for e in store.experiences.sample("runner", draws, seed=1)], drawn, "the same seed")
        expect([e.key for e in store.experiences.sample("runner", draws, seed=2)] != drawn, True, "another seed")
        expect(store.experiences.sample("nobody", 5, seed=1), [], "of no experience")
        for wrong in (float("nan"), float("inf"), -1.0):
            expect_error(RefusedInput, store.experiences.set_priorities, {"low": wrong})
    counts = Counter(drawn)
    expect((counts["never"], len(drawn)), (0, draws), "draws")
    expect(7_850 < counts["high"] < 8_150, True, f"five standard deviations (150) around 8,000: {counts['high']}")


@_check
def decisions_come_back_unchanged(opened: Opened) -> None:
    first, second = sample.decision(policy=_ODD), sample.decision(agent="other", run_id="run-2")
    with closing(opened()) as store:
        store.decisions.record(first, sample.SampleState(situation=sample.SITUATION, label=_ODD))
        store.decisions.record(second, sample.SampleState(situation=sample.SITUATION))
        ((found, state),) = store.decisions.find(first.id[:12])
        expect(found, first, "by prefix")
        expect(state["label"], _ODD, "its state")
        expect(store.decisions.find(first.id.upper() + "x"), [], "another prefix")
        expect(store.decisions.find("_" * 12), [], "no wildcards")
        expect(store.decisions.recent(), [second, first], "newest first")
        expect(store.decisions.recent(agent="runner"), [first], "of one agent")
        expect(store.decisions.recent(run_id="run-2"), [second], "of one run")
        expect((store.decisions.count(), store.decisions.count("other")), (2, 1), "counts")
        expect_error(WhetError, store.decisions.record, first, sample.SampleState(situation=sample.SITUATION))


@_check
def decisions_are_found_by_how_their_ids_begin(opened: Opened) -> None:
    ids = ["ab", "ab9", "ab9:", "aba", "abz", "abzz", "ab_z", "ab-", "ABZ", "ac", "a", "b", "zz", "zza", f"ab{_ODD}"]
    with closing(opened()) as store:
        for each in ids:
            made = sample.decision().model_copy(update={"id": each})
            store.decisions.record(made, sample.SampleState(situation=sample.SITUATION))
        for prefix in ("", "a", "ab", "ab9", "abz", "ab_", "zz", "z", "A", "ab\0", f"ab{_ODD}", "abc", "_b", "a" * 300):
            found = [decision.id for decision, _ in store.decisions.find(prefix)]
            expect(found, [each for each in ids if each.startswith(prefix)], f"ids that begin with {prefix!r}")


@_check
def people_rule_and_take_it_back(opened: Opened) -> None:
    state = sample.SampleState(situation=sample.SITUATION)
    older, newer, elsewhere = (sample.pending(state_key=key) for key in ("s", "s", "other"))
    with closing(opened()) as store:
        for each in (older, newer, elsewhere, sample.decision(state_key="third")):
            store.decisions.record(each, state)
        expect(store.decisions.pending(), [newer, elsewhere], "one per state, the newest, oldest first")
        ruling = store.decisions.rule(newer.id, Review.OVERRIDDEN, "stop", "kim")
        expect((ruling.action, ruling.verdict, ruling.by), ("stop", "overridden", "kim"), "the ruling")
        expect(store.decisions.ruling("runner", "s"), ruling, "stands")
        expect(store.decisions.pending(), [elsewhere], "a ruled state does not wait")
        expect(store.decisions.find(newer.id)[0][0].review, Review.OVERRIDDEN, "the decision's review")
        approved = store.decisions.rule(newer.id, Review.APPROVED, "go", "lee")
        expect(store.decisions.ruling("runner", "s"), approved, "the later word")
        expect((store.decisions.revoke("runner", "s"), store.decisions.revoke("runner", "s")), (True, False), "revoked")
        expect(store.decisions.ruling("runner", "s"), None, "no word stands")
        expect_error(WhetError, store.decisions.rule, "unknown", Review.APPROVED, "go", "kim")
        for wrong in (Review.PENDING, Review.NOT_NEEDED):
            expect_error(WhetError, store.decisions.rule, older.id, wrong, "go", "kim")
        kinds = [entry.kind for entry in reversed(store.audit.entries())]
        expect(kinds, ["decided"] * 4 + ["overridden", "approved", "revoked"], "audited")


@_check
def runs_start_and_end(opened: Opened) -> None:
    first, second = sample.run_record("r1"), sample.run_record("r2")
    with closing(opened()) as store:
        store.runs.start(first)
        store.runs.start(second)
        expect(store.runs.recent(), [second, first], "newest first")
        store.runs.finish("r1", "interrupted", {"tests": 3, "why": _ODD})
        ended = store.runs.recent()[1]
        expect((ended.status, ended.summary), ("interrupted", {"tests": 3, "why": _ODD}), "the end")
        expect(ended.ended_at is not None and ended.ended_at >= first.started_at, True, "when")
        expect([run.id for run in store.runs.recent(limit=1)], ["r2"], "limited")
        expect_error(WhetError, store.runs.finish, "unknown", "finished", {})
        expect_error(WhetError, store.runs.start, first)
        expect([e.kind for e in store.audit.entries()], ["run-ended", "run-started", "run-started"], "audited")


@_check
def findings_are_new_once(opened: Opened) -> None:
    one, two, again = sample.finding("one"), sample.finding("two"), sample.finding("one", evidence="later" + _ODD)
    with closing(opened()) as store:
        expect(store.runs.note_findings("r1", [one, two, one]), [True, True, False], "in one run")
        expect(store.runs.note_findings("r2", [again]), [False], "in the next")
        expect(store.runs.findings(), [again, two], "newest first, one per fingerprint")
        expect(sorted(f.evidence for f in store.runs.findings("r1")), [one.evidence] * 2, "as seen in its run")
        expect(store.runs.findings("r3"), [], "of no run")


@_check
def learning_is_noted(opened: Opened) -> None:
    with closing(opened()) as store:
        store.runs.note_learning("r1", "a", {"reward": 1.5, "episodes": 3, "rate": None})
        store.runs.note_learning("r2", "b", {"reward": 2.5})
        noted = store.runs.learning()
        expect(
            [(row["run_id"], row["agent"], row["reward"]) for row in noted], [("r1", "a", 1.5), ("r2", "b", 2.5)], "n"
        )
        expect((noted[0]["episodes"], noted[0]["rate"]), (3, None), "whole numbers and the unmeasured")
        expect([row["run_id"] for row in store.runs.learning("b")], ["r2"], "of one agent")
        expect_error(RefusedInput, store.runs.note_learning, "r3", "a", {"reward": float("nan")})


@_check
def history_counts_runs_of_each_test(opened: Opened) -> None:
    """`a` fails in its first and third of four runs: ages 3 and 1, 0.7³ + 0.7 = 1.043. `b` has two runs."""
    a, b = _ODD * 100, "b"
    with closing(opened()) as store:
        for run, outcome in enumerate(("failed", "passed", "error", "passed")):
            verdicts = [sample.verdict(a, outcome, duration_seconds=run)]
            store.history.record(f"r{run}", f"v{run // 2}", verdicts)
            if run in (0, 3):
                later = "failed" if run == 3 else "passed"
                store.history.record(f"r{run}", f"v{run // 2}", [sample.verdict(b, later, condition="shuffled")] * 2)
        known = store.history.tests("v1")
        first, second = known[a], known[b]
        expect(set(known), {a, b}, "test ids of any length")
        expect((first.executions, first.failures), (4, 2), "over all runs")
        expect((first.same_code_executions, first.same_code_failures), (2, 1), "on this code")
        expect((first.last_outcome, first.mean_seconds, first.last_failed_runs_ago), ("passed", 1.5, 1), "a")
        expect_close(first.decayed_failures, 1.043, "decayed")
        expect((second.executions, second.failures, second.last_failed_runs_ago), (4, 2, 0), "b")
        expect_close(second.decayed_failures, 1.0, "one failed run counts once")
        expect(
            sorted(store.history.conditions("v1")),
            sorted([(a, "own-order", 2, 1), (b, "shuffled", 2, 2)]),
            "conditions",
        )
        expect(store.history.tests("unseen")[a].same_code_executions, 0, "on code that never ran")


@_check
def history_remembers_traits(opened: Opened) -> None:
    with closing(opened()) as store:
        store.history.record("r", "v", [sample.verdict("a", network=False, slept_seconds=0.5), sample.verdict("b")])
        store.history.record("s", "v", [sample.verdict("a", network=True), sample.verdict("a", slept_seconds=0.2)])
        expect(store.history.traits(), {"a": (True, 0.5), "b": (None, None)}, "traits")


@_check
def coverage_is_replaced(opened: Opened) -> None:
    with closing(opened()) as store:
        expect(store.history.coverage(), (None, {}), "before any measurement")
        store.history.cover("v1", {"old": {"f.py": [1]}})
        store.history.cover("v2", {_ODD: {"f.py": [9, 1, 1000], _ODD: []}, "nothing": {}})
    with closing(opened()) as store:
        expect(store.history.coverage(), ("v2", {_ODD: {"f.py": (1, 9, 1000), _ODD: ()}, "nothing": {}}), "the map")
        expect_error(RefusedInput, store.history.cover, "v3", {"t": {"f.py": [-1]}})


@_check
def audit_holds_and_knows_its_past(opened: Opened) -> None:
    with closing(opened()) as store:
        expect(store.audit.verify().problem, None, "an empty trail")
        old = store.audit.append("noted", _ODD, {"x": [1e300, 0.1, -0.0], _ODD: _ODD})
        store.audit.append("noted", "later", {})
        newest, first = store.audit.entries()
        expect((newest.seq, first.seq, first.subject), (2, 1, _ODD), "newest first")
        expect((repr(first.payload["x"]), first.payload[_ODD]), ("[1e+300, 0.1, -0.0]", _ODD), "payload")
    with closing(opened()) as store:
        report = store.audit.verify(expected_head=old)
        expect((report.problem, report.entries, report.head), (None, 2, newest.digest), "a trail and its past")
        expect(store.audit.verify(expected_head="f" * 64).problem is None, False, "a head that never was")
        expect_error(RefusedInput, store.audit.append, "noted", "bad", {"x": float("inf")})


@_check
def threads_lose_no_update(opened: Opened) -> None:
    threads, each = 8, 10
    with closing(opened()) as store, ThreadPoolExecutor(threads) as pool:

        def work(worker: int) -> None:
            for number in range(each):
                store.experiences.learn(sample.experience(f"{worker}-{number}"), sample.lesson(float(number)))

        list(pool.map(work, range(threads)))
        entry = store.tables.read([sample.OWN])[sample.OWN]
        expect((entry.visits, store.experiences.count()), (threads * each,) * 2, "visits and experiences")
        expect_close(entry.mean, 4.5, "the mean of 0…9")
        expect_close(entry.m2, threads * 82.5, "squared deviations of 0…9 sum to 82.5")
        expect(store.audit.verify().problem, None, "the trail")
