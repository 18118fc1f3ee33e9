"""What every `Sheets` must do. Run all of it against an implementation of your own::

    @pytest.mark.parametrize("check", whet.checks.sheets.CHECKS)
    def test_my_sheets(check, tmp_path):
        check(lambda: MyStore(tmp_path))

As with `whet.checks.store`, the function opens the same, initially empty, store each time.
"""

import hashlib
import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from whet.checks.expectations import expect, expect_error
from whet.core.errors import RefusedInput
from whet.core.ports import Store
from whet.core.sheets import Added, Executed, Sheet, SheetKey, Snapshot

Opened = Callable[[], Store]
Check = Callable[[Opened], None]
CHECKS: list[Check] = []

START = datetime(2024, 2, 29, 12, 30, 0, 250_001, tzinfo=UTC)
_ODD = "nul \0 surrogate \ud800\udfff substitute \x1a0000 emoji 🧪 quote ' \" \\ % _ {} \r\n" * 40


def _check(check: Check) -> Check:
    CHECKS.append(check)
    return check


def sheet(number: int = 0, **changes: Any) -> Sheet:
    """The `number`-th run: three tests, of which the second failed."""
    fields: dict[str, Any] = {
        "id": f"run {number}",
        "at": START + timedelta(minutes=number),
        "source": "pytest",
        "tests": ("t.py::a", "t.py::b", "t.py::c"),
        "outcomes": "pfs",
        "seconds": (0.5, 0.25, math.nan),
        "branch": "main",
    }
    return Sheet(**(fields | changes))


def plain(sheet: Sheet) -> dict[str, object]:
    """Everything in it, comparable: whatever the sequences are, and NaN as None."""
    seconds = [None if math.isnan(each) else each for each in sheet.seconds]
    return {**sheet._asdict(), "tests": list(sheet.tests), "seconds": seconds}


def _ids(sheets: Iterable[Sheet]) -> list[str]:
    return [each.id for each in sheets]


@_check
def sheets_come_back_unchanged(opened: Opened) -> None:
    rich = sheet(
        id=_ODD,
        tests=(_ODD, "", "t.py::c"),
        outcomes="xXe",
        branch=_ODD,
        commit="c0ffee",
        code_version=_ODD,
        complete=False,
        nearness=bytes((0, 100, 255)),
        source="junit",
    )
    empty = sheet(1, tests=(), outcomes="", seconds=(), branch=None)
    with closing(opened()) as store:
        expect(store.sheets.add([rich, empty]), Added(2, 3, 0), "what was added")
    with closing(opened()) as store:
        expect([plain(each) for each in store.sheets.read()], [plain(rich), plain(empty)], "after opening again")
        expect([each.tests for each in store.sheets.read(after=rich.key)], [[]], "a run of nothing")
        newest = store.sheets.latest([_ODD])
        expect(newest and plain(newest), plain(rich), "the latest of its branch")


@_check
def times_are_moments(opened: Opened) -> None:
    """12:00 in a zone two hours ahead is before 11:00 in UTC."""
    ahead = sheet(id="ahead", at=datetime(2024, 1, 1, 12, tzinfo=timezone(timedelta(hours=2))))
    utc = sheet(id="utc", at=datetime(2024, 1, 1, 11, tzinfo=UTC))
    with closing(opened()) as store:
        store.sheets.add([utc, ahead])
        expect([(each.id, each.at) for each in store.sheets.read()], [("ahead", ahead.at), ("utc", utc.at)], "order")


@_check
def equal_times_are_ordered_by_id(opened: Opened) -> None:
    """As Python orders text: by code point, whatever the database's collation."""
    ids = ["B", "a", "b", "", "\0", "\x01", "ä", "🧪", "\ue000", "\ud800", "a" * 5000, "Z z", "z"]
    with closing(opened()) as store:
        store.sheets.add(sheet(id=each) for each in ids)
        expect(_ids(store.sheets.read()), sorted(ids), "all")
        for each in ids:
            after = [other for other in sorted(ids) if other > each]
            expect(_ids(store.sheets.read(after=SheetKey(START, each))), after, f"after {each[:9]!r}")
            expect(store.sheets.count(upto=SheetKey(START, each)), len(ids) - len(after), f"up to {each[:9]!r}")
            newest = store.sheets.latest(before=SheetKey(START, each))
            earlier = [other for other in ids if other < each]
            expect(newest and newest.id, max(earlier) if earlier else None, f"the latest before {each[:9]!r}")
        newest = store.sheets.latest()
        expect(newest and newest.id, max(ids), "the latest")


@_check
def known_sheets_change_nothing(opened: Opened) -> None:
    with closing(opened()) as store:
        expect(store.sheets.add([sheet(0), sheet(1), sheet(0, outcomes="ppp")]), Added(2, 6, 1), "the first counts")
        expect(store.sheets.add([sheet(1, branch="other"), sheet(2)]), Added(1, 3, 1), "one new, one known")
        expect(store.sheets.add([]), Added(0, 0, 0), "none")
        expect(
            [(s.id, s.outcomes, s.branch) for s in store.sheets.read()],
            [(f"run {n}", "pfs", "main") for n in range(3)],
            "",
        )


@_check
def branches_are_told_apart(opened: Opened) -> None:
    named = ["main", None, "topic", "Main", "main", None]
    with closing(opened()) as store:
        expect((store.sheets.branches(), store.sheets.latest(), store.sheets.count()), ({}, None, 0), "empty")
        store.sheets.add(sheet(number, branch=branch) for number, branch in enumerate(named))
        expect(store.sheets.branches(), {"main": 2, None: 2, "topic": 1, "Main": 1}, "the branches")
        for asked in (None, [], ["main"], [None], {"topic", None}, ["nowhere"], ("main", "main")):
            wanted = [n for n, branch in enumerate(named) if asked is None or branch in asked]
            expect(_ids(store.sheets.read(asked)), [f"run {n}" for n in wanted], f"read {asked}")
            expect(store.sheets.count(asked), len(wanted), f"count {asked}")
            newest = store.sheets.latest(asked)
            expect(newest and newest.id, f"run {wanted[-1]}" if wanted else None, f"latest of {asked}")
        key = sheet(3).key
        expect(_ids(store.sheets.read(["main", None], after=key)), ["run 4", "run 5"], "later ones of a lane")
        expect(store.sheets.count(["main", None], upto=key), 2, "those of a lane up to a key of another")


@_check
def the_latest_can_be_a_whole_run_with_a_commit(opened: Opened) -> None:
    with closing(opened()) as store:
        store.sheets.add(
            [
                sheet(0, commit="c0"),
                sheet(1, commit="c1", branch="topic"),
                sheet(2),
                sheet(3, commit="c3", complete=False),
            ]
        )
        asked: list[tuple[dict[str, Any], str | None]] = [
            ({}, "run 3"),
            ({"complete": True}, "run 2"),
            ({"committed": True}, "run 3"),
            ({"complete": True, "committed": True}, "run 1"),
            ({"branches": ["main"], "complete": True, "committed": True}, "run 0"),
            ({"branches": [None], "complete": True}, None),
            ({"before": sheet(3).key}, "run 2"),
            ({"before": sheet(3).key, "committed": True}, "run 1"),
            ({"before": sheet(0).key}, None),
        ]
        for wanted, id_ in asked:
            newest = store.sheets.latest(**wanted)
            expect(newest and newest.id, id_, f"latest of {wanted}")


@_check
def the_last_outcome_of_a_test_counts(opened: Opened) -> None:
    again = sheet(tests=("a", "b", "a"), outcomes="fps", seconds=(1.0, 2.0, 3.0), nearness=bytes((1, 2, 3)))
    with closing(opened()) as store:
        expect(store.sheets.add([again]), Added(1, 2, 0), "a test stands once")
        found = plain(next(store.sheets.read()))
        expect([found[name] for name in ("tests", "outcomes", "seconds")], [["b", "a"], "ps", [2.0, 3.0]], "the sheet")
        expect(found["nearness"], bytes((2, 3)), "its nearness")


@_check
def what_is_no_sheet_is_refused(opened: Opened) -> None:
    wrong: list[dict[str, Any]] = [
        {"tests": ("a",)},
        {"outcomes": "pp"},
        {"outcomes": "ppP"},
        {"seconds": (1.0, 2.0)},
        {"seconds": (1.0, -0.1, 1.0)},
        {"seconds": (1.0, math.inf, 1.0)},
        {"seconds": (1.0, -math.inf, 1.0)},
        {"seconds": (1.0, 1e39, 1.0)},
        {"seconds": (1.0, "1", 1.0)},
        {"nearness": b"\0\0"},
        {"nearness": bytes((0, 101, 0))},
        {"at": START.replace(tzinfo=None)},
        {"at": datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))},
    ]
    with closing(opened()) as store:
        store.sheets.add([sheet(0)])
        for changes in wrong:
            expect_error(RefusedInput, store.sheets.add, [sheet(1), sheet(2, **changes), sheet(3)])
            expect(store.sheets.count(), 1, f"sheets after {changes} was refused")
        expect(_ids(store.sheets.read()), ["run 0"], "nothing of what stood beside it")


@_check
def snapshots_move_forward(opened: Opened) -> None:
    first, second = Snapshot(3, sheet(2).key, b"\0state" * 1000), Snapshot(5, SheetKey(START, _ODD), b"")
    with closing(opened()) as store:
        expect(store.sheets.snapshot(_ODD), None, "before any")
        store.sheets.keep(_ODD, first)
        store.sheets.keep("other", second)
        expect(store.sheets.snapshot(_ODD), first, "the lane's own")
        store.sheets.keep(_ODD, second)
        store.sheets.keep(_ODD, first)
        expect(store.sheets.snapshot(_ODD), second, "more sheets")
        store.sheets.keep(_ODD, second._replace(state=b"relearned"))
    with closing(opened()) as store:
        expect(store.sheets.snapshot(_ODD), second._replace(state=b"relearned"), "as many sheets")
        store.sheets.keep(_ODD, first, instead_of=second._replace(sheets=6))
        store.sheets.keep(_ODD, first, instead_of=second._replace(last=first.last))
        expect(store.sheets.snapshot(_ODD), second._replace(state=b"relearned"), "not the one that was of no use")
        store.sheets.keep(_ODD, first, instead_of=second)
        expect(store.sheets.snapshot(_ODD), first, "in its place")


@_check
def new_names_are_read_for_old(opened: Opened) -> None:
    given = sheet(tests=(_ODD, "b", "c"), outcomes="fps")
    with closing(opened()) as store:
        store.sheets.add([given])
        store.sheets.keep("lane", Snapshot(1, given.key, b""))
        store.sheets.rename({_ODD: "second"})
        expect(store.sheets.snapshot("lane"), None, "a snapshot holds old names")
        store.sheets.rename({"second": "third"})
        expect(store.sheets.renamed(), {_ODD: "third", "second": "third"}, "to the end")
        store.sheets.add([sheet(1, tests=(_ODD, "third", "c"), outcomes="fps")])
        expect([list(each.tests) for each in store.sheets.read()], [["third", "b", "c"], ["third", "c"]], "old and new")
        newest = store.sheets.latest()
        expect(newest and newest.outcomes, "ps", "what stood later under the same name")
        store.sheets.keep("lane", Snapshot(1, given.key, b"learned"))
        store.sheets.rename({_ODD: "third"})
        expect(store.sheets.snapshot("lane"), Snapshot(1, given.key, b"learned"), "nothing new was said")


@_check
def names_that_come_back_are_followed_by_time(opened: Opened) -> None:
    """Back and forth; a name that is free again is another test's; all of one call at once."""
    with closing(opened()) as store:
        store.sheets.rename({"a": "b"})
        store.sheets.rename({"b": "a"})
        expect(store.sheets.renamed(), {"b": "a"}, "moved back")
        store.sheets.rename({"a": "b"})
        expect(store.sheets.renamed(), {"a": "b"}, "and forth")
        store.sheets.rename({"x": "y"})
        store.sheets.rename({"w": "x"})
        expect(store.sheets.renamed(), {"a": "b", "x": "y", "w": "x"}, "what is called x now was called w")
        store.sheets.rename({"1": "2", "2": "3"})
        expect(store.sheets.renamed(), {"a": "b", "x": "y", "w": "x", "1": "2", "2": "3"}, "moved up together")
        store.sheets.rename({name: name for name in "abxw12"})
        expect(store.sheets.renamed(), {}, "taken back")


@_check
def quarantine_lasts_until_released(opened: Opened) -> None:
    with closing(opened()) as store:
        expect((store.sheets.quarantined(), store.sheets.release("a")), ({}, False), "none")
        store.sheets.quarantine("a", "flaky since Monday")
        store.sheets.quarantine(_ODD, _ODD)
        store.sheets.quarantine("a", "still flaky")
        expect(store.sheets.quarantined(), {"a": "still flaky", _ODD: _ODD}, "by test, the last reason")
        store.sheets.rename({_ODD: "new"})
    with closing(opened()) as store:
        expect(store.sheets.quarantined(), {"a": "still flaky", "new": _ODD}, "by its new name")
        expect([store.sheets.release(test) for test in ("new", "new", "a")], [True, False, True], "released")
        expect(store.sheets.quarantined(), {}, "all released")
        store.sheets.quarantine("new", "again")
        expect(store.sheets.quarantined(), {"new": "again"}, "and again")


@_check
def lines_are_known_with_their_source(opened: Opened) -> None:
    one, two = b"first = 1\n", b"\0second\xff" * 500
    digests = [hashlib.sha256(each).hexdigest() for each in (one, two)]
    with closing(opened()) as store:
        expect((store.sheets.mapped(), store.sheets.executed(["f.py"])), ({}, []), "before any")
        store.sheets.map_tests(
            {"a": {"f.py": [1, 9, 1000], _ODD: {2}}, _ODD: {"f.py": []}, "idle": {}}, {"f.py": one, _ODD: one}
        )
    with closing(opened()) as store:
        expect(store.sheets.mapped(), {"a": 4, _ODD: 0, "idle": 0}, "how many lines each")
        first = Executed("a", "f.py", digests[0], frozenset((1, 9, 1000)))
        second = Executed("a", _ODD, digests[0], frozenset((2,)))
        nothing = Executed(_ODD, "f.py", digests[0], frozenset())
        expect(set(store.sheets.executed(["f.py", "g.py"])), {first, nothing}, "who executed one file")
        expect(store.sheets.executed([_ODD]), [second], "and another")
        expect((store.sheets.source(digests[0]), store.sheets.source(digests[1])), (one, None), "the content")
        store.sheets.map_tests({_ODD: {"f.py": [3]}}, {"f.py": two, "unused": b"unused"})
        third = Executed(_ODD, "f.py", digests[1], frozenset((3,)))
        expect(set(store.sheets.executed(["f.py"])), {first, third}, "others keep theirs")
        expect([store.sheets.source(each) for each in digests], [one, two], "both contents are needed")
        store.sheets.map_tests({"a": {}}, {})
        expect([store.sheets.source(each) for each in digests], [None, two], "what nobody needs is gone")
        expect_error(RefusedInput, store.sheets.map_tests, {"a": {"f.py": [-1]}}, {"f.py": one})
        expect_error(RefusedInput, store.sheets.map_tests, {"a": {"f.py": [1]}}, {})
        expect(store.sheets.mapped(), {"a": 0, _ODD: 1, "idle": 0}, "refused maps change nothing")


@_check
def lines_follow_a_renamed_test(opened: Opened) -> None:
    with closing(opened()) as store:
        store.sheets.map_tests({"old": {"f.py": [1, 2]}}, {"f.py": b""})
        store.sheets.rename({"old": "new"})
        expect(store.sheets.mapped(), {"new": 2}, "by its new name")
        store.sheets.map_tests({"new": {"f.py": [7]}}, {"f.py": b""})
        expect(store.sheets.mapped(), {"new": 1}, "the newest map counts")
        expect([(e.test, e.lines) for e in store.sheets.executed(["f.py"])], [("new", frozenset((7,)))], "its lines")


@_check
def reading_is_one_picture(opened: Opened) -> None:
    with closing(opened()) as store:
        store.sheets.add(sheet(number) for number in range(3))
        reading = store.sheets.read()
        seen = [next(reading).id]
        store.sheets.add([sheet(9)])
        store.sheets.rename({"t.py::a": "renamed"})
        rest = list(reading)
        expect(seen + _ids(rest), ["run 0", "run 1", "run 2"], "what was there when it began")
        expect(rest[-1].tests[0], "t.py::a", "under the names of then")
        next(store.sheets.read())  # dropped half-way
        expect((store.sheets.count(), len(list(store.sheets.read()))), (4, 4), "afterwards")


@_check
def many_sheets_keep_their_order(opened: Opened) -> None:
    """More than any batch, added backwards, each with a name of its own."""
    with closing(opened()) as store:
        given = [sheet(number, tests=("a", f"t{number}", "b")) for number in range(1_203)]
        expect(store.sheets.add(reversed(given)), Added(1_203, 3_609, 0), "added")
        expect([(s.id, list(s.tests)) for s in store.sheets.read()], [(s.id, list(s.tests)) for s in given], "order")


@_check
def threads_add_the_same_set(opened: Opened) -> None:
    with closing(opened()) as store, ThreadPoolExecutor(6) as pool:

        def work(worker: int) -> int:
            given = [sheet(number, tests=("a", f"{number} b", f"{worker}")) for number in range(12)]
            return sum(store.sheets.add([each]).sheets for each in given[worker:] + given[:worker])

        expect(sum(pool.map(work, range(6))), 12, "each is added once")
        found = list(store.sheets.read())
        expect(_ids(found), [f"run {number}" for number in range(12)], "all of them")
        expect([each.tests[1] for each in found], [f"{number} b" for number in range(12)], "with their own names")
