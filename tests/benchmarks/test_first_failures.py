"""First failures on recorded runs: who is asked what, how long each takes, and what is told of it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from benchmarks.first_failures_history import PROJECTS, History, Pair
from benchmarks.first_failures_methods import (
    Decay,
    FailedFirst,
    Method,
    Optimal,
    Own,
    first_failure_seconds,
    never_failed_before,
    walk,
)
from benchmarks.first_failures_recording import Recorded, Recording, Suite, Told, Verdict, run
from benchmarks.first_failures_report import METHODS, SLICES, table, totals

from benchmarks import first_failures_methods as methods

TESTS = ["slow", "quick", "other"]
SECONDS = {"slow": 4.0, "quick": 0.5, "other": 1.0}


def told(*failing: str, broken: bool = False) -> Told:
    ran = {test: Verdict("f" if test in failing else "p", SECONDS[test]) for test in TESTS}
    return Told(TESTS, ["tests/test_it.py"] if broken else [], ran)


def recorded(number: int, plain: Told | None, testmon: Sequence[str] = ()) -> Recorded:
    pair = Pair(number, f"mutated {number}", f"reverted {number}", "it.py", 1, "AddNot")
    return Recorded(pair, plain, Told(list(testmon), [], {}))


def history(recording: Recording) -> History:
    return History(PROJECTS["toolz"], Path(), "base", tuple(one.pair for one in recording.pairs))


def walked(method: Method, *pairs: Recorded, continuing: bool = True) -> dict[int, float]:
    recording = Recording(told(), list(pairs))
    return walk(history(recording), recording, [method], continuing)


def test_time_to_the_first_failure_is_what_ran_up_to_its_end() -> None:
    assert first_failure_seconds(["quick", "other", "slow"], told("other").ran) == 1.5
    with pytest.raises(ValueError, match="no test of this order failed"):
        first_failure_seconds(TESTS, told().ran)


def test_a_first_failure_is_one_whose_tests_never_failed_for_an_earlier_mutation() -> None:
    pairs = [told("slow"), told("slow", "quick"), None, told(broken=True), told(), told("quick"), told("other")]
    recording = Recording(told(), [recorded(number, plain) for number, plain in enumerate(pairs)])
    assert list(never_failed_before(recording)) == [0, 6]


def test_what_hung_broke_or_survived_is_not_judged() -> None:
    pairs = [recorded(0, None), recorded(1, told("slow", broken=True)), recorded(2, told()), recorded(3, told("slow"))]
    assert walked(Own(), *pairs) == {3: 4.0}


def test_the_failure_is_forgotten_by_failed_first_when_the_revert_is_green_and_not_by_decay() -> None:
    pairs = [recorded(0, told("other")), recorded(1, told("other"))]
    assert walked(FailedFirst(), *pairs) == {0: 5.5, 1: 5.5}
    assert walked(Decay(0), *pairs)[1] == 1.0


def test_a_fresh_method_never_learns_of_the_mutations() -> None:
    learned: list[str] = []

    class Listening(Own):
        def learn(self, commit: str, told: Told) -> None:
            learned.append(commit)

    walked(Listening(), recorded(0, told("other")), continuing=False)
    assert learned == ["base"]
    walked(Listening(), recorded(0, told("other")))
    assert learned == ["base", "base", "mutated 0", "reverted 0"]


def test_testmon_runs_what_it_chose_and_pays_for_what_it_missed() -> None:
    assert walked(methods.Testmon({0: ["other"]}), recorded(0, told("other"))) == {0: 1.0}
    assert walked(methods.Testmon({0: ["other"]}), recorded(0, told("quick"))) == {0: 5.5}


def test_optimal_is_the_quickest_failing_test() -> None:
    assert walked(Optimal(), recorded(0, told("slow", "quick"))) == {0: 0.5}


def test_a_run_beyond_its_limit_is_ended_and_unknown(tmp_path: Path) -> None:
    assert run(["sleep", "60"], tmp_path, {"PATH": "/usr/bin:/bin"}, 0.2) is None
    assert run(["echo", "done"], tmp_path, {"PATH": "/usr/bin:/bin"}, 60) == "done\n"


def test_a_slice_without_commits_is_unknown_not_zero() -> None:
    seconds = {method: {0: 1.0} for method in METHODS}
    figures = {
        "commits": 0,
        "mean_seconds": dict.fromkeys(METHODS),
        "median_seconds": dict.fromkeys(METHODS),
        "whet_ratio": dict.fromkeys(("decay", "ff", "random", "testmon")),
    }
    project = {"project": "some", "version": "1", "tests": 3, "suite_seconds": 5.5, "mutations": 1, "failing": 1}
    project |= {"survived": 0, "not_collected": 0, "hung": 0, "testmon_missed": 0}
    project |= {
        "slices": dict.fromkeys(SLICES, figures),
        "seconds": {"going_on": seconds, "fresh": seconds, "first": []},
    }
    together = totals([project])
    assert together["first_failures"]["met"] == dict.fromkeys(("decay", "ff", "random", "testmon"))
    assert together["all_failures"]["whet_ratio"]["testmon"] == 1.0
    assert "| some | 0 | unknown (unknown) |" in table({"projects": [project], "all": together})


def test_a_suite_told_nothing_is_an_error(tmp_path: Path) -> None:
    made = History(PROJECTS["toolz"], tmp_path, "base", ())
    (tmp_path / "checkout").mkdir()
    suite = Suite(tmp_path, made, "checkout", Path("/bin/false"))
    with pytest.raises(RuntimeError, match="told nothing"):
        suite.run((), 60)
