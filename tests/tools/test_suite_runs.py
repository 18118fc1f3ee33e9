"""pytest really runs, as planned, and its verdicts arrive."""

import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from whet.core.errors import RefusedInput
from whet.tools.process import Limits
from whet.tools.suite import Suite, SuitePlan, SuiteRun, TestResult

MakeSuite = Callable[[dict[str, str]], Suite]

OUTCOMES = """
    import pytest

    @pytest.fixture
    def broken():
        raise RuntimeError("no fixture")

    @pytest.fixture
    def messy():
        yield
        raise RuntimeError("no end")

    def test_passes(): pass
    def test_fails(): assert 1 == 2, "sums"
    def test_errs(broken): pass
    def test_ends_badly(messy): pass
    def test_skips(): pytest.skip("not today")
    @pytest.mark.xfail
    def test_xfails(): assert 0
    @pytest.mark.xfail(strict=False)
    def test_xpasses(): pass
"""
# Ids of these hold what would be misread on a command line or in a file of lines.
ODD = r"""
    import pytest
    IDS = ["a::b", "c[d]", "e]", "sl/ash", "new\nline", "tab\t", "quote'\"", "é", "", "-x", "*", "\x00", "漢字", " "]

    @pytest.mark.parametrize("value", range(len(IDS)), ids=IDS)
    def test_odd(value): assert value != 3

    class TestInside:
        def test_method(self): pass
"""
ORDERED = {
    "test_b.py": "def test_1(): pass\ndef test_2(): pass\n",
    "test_a.py": "def test_1(): pass\ndef test_2(): pass\n",
}
OWN = ["test_a.py::test_1", "test_a.py::test_2", "test_b.py::test_1", "test_b.py::test_2"]


def ran(run: SuiteRun) -> list[str]:
    return [test.id for test in run.tests]


def verdicts(run: SuiteRun) -> dict[str, str]:
    return {test.id.rpartition("::")[2]: test.outcome for test in run.tests}


def test_every_outcome_is_told(suite_of: MakeSuite, limits: Limits) -> None:
    heard: list[tuple[str, int, int | None]] = []

    def listen(test: TestResult, done: int, total: int | None) -> None:
        heard.append((test.id, done, total))

    run = suite_of({"tests/test_o.py": OUTCOMES}).run(SuitePlan(), limits, listen)
    assert run.exit_code == 1
    assert run.problem() is None
    assert verdicts(run) == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_errs": "error",
        "test_ends_badly": "error",
        "test_skips": "skipped",
        "test_xfails": "xfailed",
        "test_xpasses": "xpassed",
    }
    messages = {test.id.rpartition("::")[2]: test.message for test in run.tests}
    assert "sums" in messages["test_fails"]
    assert "no fixture" in messages["test_errs"]
    assert "no end" in messages["test_ends_badly"]
    assert "not today" in messages["test_skips"]
    assert run.collected == 7
    assert heard == [(test, place, 7) for place, test in enumerate(ran(run), start=1)]
    failing = run.tests[1]
    assert (failing.file, failing.line) == ("tests/test_o.py", 14)
    assert run.places[failing.id].line == 14
    assert failing.started_seconds is not None
    assert run.first_failure_seconds == failing.ended_seconds >= failing.started_seconds
    assert run.peak_memory_mb is not None


def test_workers_give_the_same_verdicts(suite_of: MakeSuite, limits: Limits) -> None:
    suite = suite_of({"test_o.py": OUTCOMES})
    alone = suite.run(SuitePlan(), limits)
    shared = suite.run(SuitePlan(workers=2), limits)
    assert verdicts(shared) == verdicts(alone)
    assert {t.id: (t.file, t.line, t.message) for t in shared.tests} == {
        t.id: (t.file, t.line, t.message) for t in alone.tests
    }
    assert shared.ids == alone.ids
    assert shared.exit_code == 1
    assert "gw" in shared.output_tail or "workers" in shared.output_tail


def test_collecting_runs_nothing(suite_of: MakeSuite, limits: Limits) -> None:
    suite = suite_of(ORDERED)
    run = suite.collect(limits)
    assert list(run.ids) == OWN
    assert run.collected == 4
    assert run.tests == ()
    assert run.problem() is None


def test_odd_ids_make_the_round_trip(suite_of: MakeSuite, limits: Limits) -> None:
    suite = suite_of({"tests/sub dir/test_odd.py": ODD})
    everything = suite.run(SuitePlan(workers=0), limits)
    assert len(set(everything.ids)) == 15
    assert ran(everything) == list(everything.ids)
    chosen = tuple(reversed(everything.ids[1::2]))
    again = suite.run(SuitePlan(select=chosen, workers=0), limits)
    assert ran(again) == list(chosen)
    assert again.collected == 15
    shared = suite.run(SuitePlan(select=chosen, workers=2), limits)
    assert sorted(ran(shared)) == sorted(chosen)


def test_only_the_files_of_selected_tests_are_imported(suite_of: MakeSuite, limits: Limits) -> None:
    suite = suite_of({**ORDERED, "test_c.py": "raise RuntimeError('must not be imported')"})
    run = suite.run(SuitePlan(select=(OWN[2], "test_b.py::gone")), limits)
    assert run.problem() is None
    assert ran(run) == [OWN[2]]


def test_files_named_in_the_settings_can_be_left_out(suite_of: MakeSuite, limits: Limits) -> None:
    settings = "[pytest]\ntestpaths = test_a.py test_b.py\n"
    run = suite_of({"pytest.ini": settings, **ORDERED}).run(SuitePlan(select=(OWN[2],)), limits)
    assert run.problem() is None
    assert ran(run) == [OWN[2]]


def test_orders(suite_of: MakeSuite, limits: Limits) -> None:
    suite = suite_of(ORDERED)
    explicit = (OWN[3], OWN[1], "gone")
    assert ran(suite.run(SuitePlan(), limits)) == OWN
    assert ran(suite.run(SuitePlan(order="reversed"), limits)) == OWN[::-1]
    assert ran(suite.run(SuitePlan(order=explicit), limits)) == [OWN[3], OWN[1], OWN[0], OWN[2]]
    assert list(suite.run(SuitePlan(order="reversed", workers=2), limits).ids) == OWN[::-1]


def test_a_shuffle_is_its_seed(suite_of: MakeSuite, limits: Limits) -> None:
    suite = suite_of({"test_many.py": "".join(f"def test_{n}(): pass\n" for n in range(20))})
    first, same, other = (suite.run(SuitePlan(order="shuffled", seed=seed), limits) for seed in (7, 7, 8))
    assert ran(first) == ran(same) == list(first.ids)
    assert first.ids != other.ids


def test_seeds_reach_the_tests(suite_of: MakeSuite, limits: Limits) -> None:
    code = """
        import os, random
        import numpy
        FIRST = []
        def drawn(): return random.random(), numpy.random.random(), hash("text"), os.environ["PYTHONHASHSEED"]
        def test_first(): FIRST.append(drawn())
        def test_second(): assert 0, repr((FIRST == [drawn()], FIRST))
    """
    suite = suite_of({"test_seeds.py": code})
    first, same, other = (
        suite.run(SuitePlan(seed=seed, hash_seed=seed), limits).tests[1].message for seed in (1, 1, 2)
    )
    assert "(True" in first
    assert first == same != other


def test_parallel_projects_can_be_run_in_one_process(suite_of: MakeSuite, limits: Limits) -> None:
    where = "import os\ndef test_where(): assert 0, os.environ.get('PYTEST_XDIST_WORKER', 'alone')\n"
    suite = suite_of({"pytest.ini": "[pytest]\naddopts = -n 2 --dist loadfile\n", "test_w.py": where})
    assert "gw" in suite.run(SuitePlan(), limits).tests[0].message
    assert "alone" in suite.run(SuitePlan(workers=0), limits).tests[0].message
    assert suite.collect(limits).ids == ("test_w.py::test_where",)


def test_options_of_absent_plugins_are_not_used(suite_of: MakeSuite, limits: Limits) -> None:
    addopts = "[pytest]\naddopts = -p no:xdist -p no:cacheprovider --strict-config --strict-markers\n"
    suite = suite_of({"pytest.ini": addopts, **ORDERED})
    assert suite.run(SuitePlan(workers=0, no_retries=True), limits).problem() is None


def test_groups_of_workers_do_not_change_ids(suite_of: MakeSuite, limits: Limits) -> None:
    code = """
        import pytest
        @pytest.mark.xdist_group("together")
        def test_one(): pass
        def test_two(): pass
    """
    suite = suite_of({"pytest.ini": "[pytest]\naddopts = -n 2 --dist loadgroup\n", "test_g.py": code})
    run = suite.run(SuitePlan(), limits)
    assert sorted(ran(run)) == sorted(run.ids) == ["test_g.py::test_one", "test_g.py::test_two"]
    assert run.running == ()


def test_network_is_noticed(suite_of: MakeSuite, limits: Limits) -> None:
    code = """
        import socket
        def test_connects():
            with socket.create_server(("127.0.0.1", 0)) as server:
                socket.create_connection(server.getsockname()).close()
        def test_local(tmp_path):
            with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
                server.bind(str(tmp_path / "s")); server.listen()
                client.connect(str(tmp_path / "s"))
    """
    suite = suite_of({"test_net.py": code})
    for workers in (0, 2):
        run = suite.run(SuitePlan(workers=workers), limits)
        assert {test.id: test.network for test in run.tests} == {
            "test_net.py::test_connects": True,
            "test_net.py::test_local": False,
        }


def test_retry_plugins_can_be_switched_off(suite_of: MakeSuite, limits: Limits) -> None:
    # Registered under the name of pytest-rerunfailures, and reporting as it does.
    retrier = """
        import pytest
        from _pytest.runner import runtestprotocol

        class Retrier:
            def pytest_configure(self, config):
                config.addinivalue_line("markers", "flaky: is retried")

            def pytest_runtest_protocol(self, item, nextitem):
                for attempt in (1, 2):
                    reports = runtestprotocol(item, nextitem=nextitem, log=False)
                    again = attempt == 1 and any(report.failed for report in reports)
                    for report in reports:
                        if again and report.failed:
                            report.outcome = "rerun"
                        item.ihook.pytest_runtest_logreport(report=report)
                    if not again:
                        return True

        def pytest_configure(config):
            if not config.pluginmanager.hasplugin("rerunfailures"):
                config.pluginmanager.register(Retrier(), "rerunfailures")
    """
    flaky = """
        import pytest
        TRIES = []
        @pytest.mark.flaky
        def test_flaky():
            TRIES.append(1)
            assert len(TRIES) > 1
    """
    settings = "[pytest]\naddopts = --strict-markers\n"
    suite = suite_of({"pytest.ini": settings, "conftest.py": retrier, "test_f.py": flaky})
    retried = suite.run(SuitePlan(), limits)
    assert [(test.outcome, test.retries) for test in retried.tests] == [("passed", 1)]
    plain = suite.run(SuitePlan(no_retries=True), limits)
    assert [(test.outcome, test.retries) for test in plain.tests] == [("failed", 0)]
    assert plain.problem() is None


def test_the_first_failure_can_stop_it(suite_of: MakeSuite, limits: Limits) -> None:
    suite = suite_of({"test_s.py": "def test_1(): assert 0\ndef test_2(): pass\n"})
    assert len(suite.run(SuitePlan(stop_first=True), limits).tests) == 1
    shared = suite.run(SuitePlan(stop_first=True, workers=1), limits)
    assert shared.tests[0].outcome == "failed"
    assert shared.problem() is None


def test_the_users_own_traces_stay_as_they_are(suite_of: MakeSuite, limits: Limits, tmp_path: Path) -> None:
    suite = suite_of({"test_s.py": "def test_1(tmp_path): assert 0\n", ".pytest_cache/v/cache/lastfailed": "{}"})
    before = sorted(suite.project.root.rglob("*"))
    run = suite.run(SuitePlan(), limits)
    written = set(suite.project.root.rglob("*")) - set(before)
    assert all("__pycache__" in path.parts for path in written)
    assert (suite.project.root / ".pytest_cache/v/cache/lastfailed").read_text() == "{}"
    assert run.exit_code == 1


def test_nothing_is_left_in_the_temporary_directory(
    suite_of: MakeSuite, limits: Limits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    suite = suite_of({"test_s.py": "def test_1(tmp_path): assert 0, f'<{tmp_path}>'\n"})
    with suite:
        run = suite.run(SuitePlan(coverage="lines"), limits)
        kept = Path(run.tests[0].message.partition("<")[2].partition(">")[0])
        assert kept.is_relative_to(tmp_path)
        assert not kept.exists()
        assert run.coverage_file is not None
        assert run.coverage_file.is_file()
    assert [place.name for place in tmp_path.iterdir()] == ["project"]


def test_the_command_does_the_same_without_whet(suite_of: MakeSuite, limits: Limits) -> None:
    suite = suite_of({"dir with space/test_odd.py": ODD})
    everything = suite.collect(limits)
    chosen = everything.ids[3:5]
    run = suite.run(SuitePlan(select=chosen, workers=0, hash_seed=3), limits)
    assert shlex.split(run.command)[-2:] == list(chosen)
    by_hand = subprocess.run(["sh", "-c", run.command], capture_output=True, text=True)
    assert by_hand.returncode == run.exit_code == 1
    assert "1 failed, 1 passed" in by_hand.stdout


def test_coverage_is_measured_in_one_process(suite_of: MakeSuite, limits: Limits) -> None:
    with pytest.raises(RefusedInput, match="with 2 workers"):
        suite_of(ORDERED).run(SuitePlan(coverage="lines", workers=2), limits)
