"""What every `Views` must do. Run all of it against an implementation of your own, as with `whet.checks.store`."""

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from itertools import product
from typing import Any

from whet.checks.expectations import expect, expect_close
from whet.checks.store_samples import SITUATION, SampleState, decision, experience, finding, lesson, pending, run_record
from whet.core.candidates import Lineage, NewCandidate
from whet.core.feedback import PagedStore
from whet.core.records import Experience, Review
from whet.core.views import Asked, Page, Standing

Opened = Callable[[], PagedStore]
Check = Callable[[Opened], None]
CHECKS: list[Check] = []

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
EARLIEST, LATEST = date(2026, 1, 1), date(2027, 1, 1)


def _check(check: Check) -> Check:
    CHECKS.append(check)
    return check


def walked(read: Callable[[int | None], Page[Any]]) -> list[Any]:
    """Every item of a list, page by page."""
    found: list[Any] = []
    before: int | None = None
    while True:
        page = read(before)
        found.extend(page.items)
        before = page.before
        if before is None:
            return found


def candidate(key: str) -> NewCandidate:
    lineage = Lineage(batch=1, experiences=9, first=None, last=None, parent=None, code_version="1", seed=0)
    return NewCandidate(key=key, agent="runner", kind="tables", artefact="a" * 64, lineage=lineage)


def lived(number: int, **changes: Any) -> Experience:
    """Three runs a day, four decisions each."""
    run, day = f"run-{number // 4}", number // 12
    outcome = {"duration_seconds": 0.5, "failed": None, "cut_short": False}
    told: dict[str, Any] = {"run_id": run, "at": START + timedelta(days=day), "outcome": outcome}
    return experience(f"key-{number}", credited=float(number % 7) - 2.5, **told | changes)


@_check
def lists_are_walked_page_by_page_without_loss(opened: Opened) -> None:
    with closing(opened()) as store:
        for number in range(7):
            store.runs.start(run_record(f"run-{number}"))
            store.decisions.record(
                decision(id=f"decision-{number}", run_id=f"run-{number % 2}"), SampleState(situation=SITUATION)
            )
            store.runs.note_findings(f"run-{number}", [finding(f"test-{number}")])
        views = store.views
        runs = walked(lambda before: views.runs(before, 3))
        expect([line.run.id for line in runs], [f"run-{n}" for n in reversed(range(7))], "runs, newest first")
        ids = [line.decision.id for line in walked(lambda before: views.decisions(before=before, limit=2))]
        expect(ids, [f"decision-{n}" for n in reversed(range(7))], "decisions, newest first")
        ids = [
            line.decision.id for line in walked(lambda before: views.decisions(run_id="run-1", before=before, limit=2))
        ]
        expect(ids, ["decision-5", "decision-3", "decision-1"], "decisions of one run")
        expect(views.decisions(agent="another").items, [], "decisions of an agent that has none")
        tests = [line.finding.test for line in walked(lambda before: views.findings(Asked(), before, 4))]
        expect(tests, [f"test-{n}" for n in reversed(range(7))], "findings, newest first")
        for number in range(3):
            store.candidates.add(candidate(f"key-{number}"), START)
        keys = [each.key for each in walked(lambda before: views.candidates(before, 2))]
        expect(keys, ["key-2", "key-1", "key-0"], "candidates, newest first")
        entries = walked(lambda before: views.audit(before, 5))
        expect([e.seq for e in entries], list(range(len(entries), 0, -1)), "audit entries")
        expect(views.head(), len(entries), "the head is the newest entry")


@_check
def an_empty_store_answers(opened: Opened) -> None:
    with closing(opened()) as store:
        views = store.views
        empty = (views.runs(), views.findings(Asked()), views.decisions(), views.waiting(), views.candidates())
        expect([page.items for page in empty], [[]] * 5, "lists")
        expect(
            (views.head(), views.learners(), views.run("x"), views.decision("x")), (0, [], None, None), "single ones"
        )
        expect(views.totals(None, LATEST) + views.days(EARLIEST, LATEST), [], "sums")


@_check
def a_run_and_a_decision_are_told_with_what_came_of_them(opened: Opened) -> None:
    with closing(opened()) as store:
        store.runs.start(run_record("run-0"))
        store.decisions.record(decision(id="first", run_id="run-0"), SampleState(situation=SITUATION, label="seen"))
        expect(store.views.run("run-0").reward, None, "reward before anything was earned")  # type: ignore[union-attr]
        store.experiences.learn(lived(0, decision=decision(id="first")), lesson(1.0))
        store.runs.note_findings("run-0", [finding("a"), finding("b"), finding("a")])
        line, told = store.views.run("run-0"), store.views.decision("first")
        if line is None or told is None or told.experience is None:
            raise AssertionError("what was stored must be found")
        expect((line.decisions, line.reward, line.successes, line.findings), (1, -2.5, 1, 2), "the run")
        expect((told.state["label"], told.experience.key), ("seen", "key-0"), "the decision")
        expect(store.views.decisions().items[0].credited, -2.5, "its credit in the list")
        expect([f.finding.test for f in store.views.found_in("run-0")], ["a", "b"], "its findings, newest first")


@_check
def sums_are_those_of_the_experiences(opened: Opened) -> None:
    """However they came in; what a budget cut short is decided but not judged."""
    with closing(opened()) as store:
        told = [_varied(number) for number in range(40)]
        for each in told:
            store.experiences.learn(each, lesson(1.0) if each.agent == "runner" else None)
            expect(store.experiences.learn(each, None), False, "the same key again")
        expect_totals(store, told)
        expect(sum(line.explored for line in store.views.days(EARLIEST, LATEST)), 10, "explored")


def _varied(number: int) -> Experience:
    outcome = {"failed": "broke" if number % 5 == 0 else None, "cut_short": number % 11 == 3, "duration_seconds": 1}
    decided = decision(policy=f"policy-{number % 3}", explored=number % 4 == 0)
    return lived(number, outcome=outcome, decision=decided, agent=("runner", "hunter")[number % 2])


def expect_totals(store: PagedStore, told: Sequence[Experience]) -> None:
    """Days and their totals against the same sums made anew."""
    judged = [each for each in told if not each.outcome["cut_short"]]
    rewards, squares = [each.reward.credited for each in judged], [each.reward.credited**2 for each in judged]
    lines, totals = store.views.days(EARLIEST, LATEST), store.views.totals(None, LATEST)
    for found in (lines, totals):
        expect(sum(line.decisions for line in found), len(told), "decisions")
        expect(sum(line.judged for line in found), len(judged), "judged")
        expect(sum(line.successes for line in found), sum(e.outcome["failed"] is None for e in judged), "successes")
        expect_close(math.fsum(line.reward for line in found), math.fsum(rewards), "reward")
    expect_close(math.fsum(line.squares for line in lines), math.fsum(squares), "squares")
    expect(sum(total.runs for total in totals), len({each.run_id for each in told}), "runs")
    expect_close(math.fsum(t.reward_reward for t in totals), _over_runs(judged, _reward, _reward), "ΣR²")
    expect_close(math.fsum(t.reward_judged for t in totals), _over_runs(judged, _reward, len), "ΣRn")
    expect_close(math.fsum(t.judged_judged for t in totals), _over_runs(judged, len, len), "Σn²")
    expect_close(math.fsum(t.success_success for t in totals), _over_runs(judged, _successes, _successes), "ΣS²")
    expect_close(math.fsum(t.success_judged for t in totals), _over_runs(judged, _successes, len), "ΣSn")


_Of = Callable[[Sequence[Experience]], float]


def _over_runs(told: Sequence[Experience], one: _Of, other: _Of) -> float:
    groups = [[e for e in told if e.run_id == run] for run in sorted({e.run_id for e in told})]
    return math.fsum(one(group) * other(group) for group in groups)


def _reward(told: Sequence[Experience]) -> float:
    return math.fsum(each.reward.credited for each in told)


def _successes(told: Sequence[Experience]) -> float:
    return float(sum(each.outcome["failed"] is None for each in told))


@_check
def findings_are_filtered_by_any_combination(opened: Opened) -> None:
    kinds, severities = ("failing-test", "flaky-test"), ("high", "low")
    with closing(opened()) as store:
        for number, (own_kind, own_severity) in enumerate(product(kinds, severities)):
            for twin in range(2):
                made = finding(f"t{number}-{twin}").model_copy(update={"kind": own_kind, "severity": own_severity})
                store.runs.note_findings("run-1", [made])
                if twin:
                    store.feedback.mark(made.fingerprint(), "real", "ada")
        for chosen in product((None, *kinds), (None, *severities), (None, *Standing)):
            kind, severity, standing = chosen
            page = store.views.findings(Asked(kind=kind, severity=severity, standing=standing), limit=100)
            per_standing = {None: 2, Standing.FALSE_ALARM: 0}.get(standing, 1)
            expected = (2 if kind is None else 1) * (2 if severity is None else 1) * per_standing
            expect(len(page.items), expected, f"findings of {kind}, {severity}, {standing}")


@_check
def a_finding_met_again_is_one_line_as_last_seen(opened: Opened) -> None:
    with closing(opened()) as store:
        for run, evidence in (("run-1", "first"), ("run-2", "second")):
            store.runs.note_findings(run, [finding("a", evidence)])
        store.runs.note_findings("run-2", [finding("b")])
        lines = store.views.findings(Asked()).items
        expect([line.finding.test for line in lines], ["b", "a"], "one line each, newest first")
        expect((lines[1].finding.evidence, lines[1].first_run, lines[1].last_run), ("second", "run-1", "run-2"), "a")
        new = sum(day.new for day in store.views.found(date(2000, 1, 1), date(3000, 1, 1)))
        expect(new, 2, "new findings counted once each")


@_check
def what_waits_is_what_decisions_say_is_pending(opened: Opened) -> None:
    with closing(opened()) as store:
        for number in range(12):
            made = pending if number % 3 else decision
            store.decisions.record(made(id=f"d{number}", state_key=f"s{number % 4}"), SampleState(situation=SITUATION))
            _expect_pending(store)
        store.decisions.rule("d10", Review.APPROVED, "go", "ada")
        _expect_pending(store)
        store.decisions.revoke("runner", "s2")
        _expect_pending(store)


def _expect_pending(store: PagedStore) -> None:
    waiting = [line.decision.id for line in walked(lambda before: store.views.waiting(before, 2))]
    expect(waiting, [each.id for each in reversed(store.decisions.pending())], "what waits, newest first")


@_check
def learning_statistics_come_newest_last(opened: Opened) -> None:
    with closing(opened()) as store:
        for number in range(5):
            store.runs.note_learning(f"run-{number}", "runner", {"success_rate": number / 10})
            store.runs.note_learning(f"run-{number}", "hunter", {"success_rate": 1.0})
        expect(store.views.learners(), ["hunter", "runner"], "agents")
        rates = [row["success_rate"] for row in store.views.learning("runner", 3)]
        expect(rates, [0.2, 0.3, 0.4], "the newest three, oldest first")


@_check
def finished_runs_add_their_seconds_once(opened: Opened) -> None:
    with closing(opened()) as store:
        store.runs.start(run_record("run-0").model_copy(update={"started_at": START}))
        store.experiences.learn(lived(0), None)
        for _ in range(2):
            store.runs.finish("run-0", "finished", {"used_seconds": 12.5})
        expect(sum(total.seconds for total in store.views.totals(EARLIEST, LATEST)), 12.5, "seconds")
