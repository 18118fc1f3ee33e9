"""The benchmark as a user starts it: one run, the whole table, figures of the documented shape."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.ordering import METHODS, histories_at_hand, main
from benchmarks.ordering_chart import render
from benchmarks.ordering_docs import markdown, put
from benchmarks.ordering_report import not_beaten, told_plainly
from tests.benchmarks.recorded import executions, never, now_and_then, written

COMMAND: tuple[str | Path, ...] = (sys.executable, Path(__file__).parents[2] / "benchmarks" / "ordering.py")
MEASURES = {"napfd", "recall", "apfd", "apfdc", "first_rank", "first_time", "ms_per_cycle"}


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """What the benchmark printed and wrote for two small histories."""
    folder = tmp_path_factory.mktemp("scored")
    failing = written(folder / "failing.csv", executions(30, 8, now_and_then, again=0.2))
    green = written(folder / "green.csv", executions(5, 3, never))
    command = [*COMMAND, failing, green, "--json", folder / "out.json", "--seeds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    assert "failing: full feedback: whet" in done.stderr
    return done.stdout, json.loads((folder / "out.json").read_text())


def test_the_json_has_the_documented_shape(scored: tuple[str, dict[str, Any]]) -> None:
    failing, green = scored[1]["datasets"]
    assert (failing["name"], failing["cycles"], failing["tests"]) == ("failing", 30, 8)
    assert 0 < failing["first_failure_cycles"] <= failing["failing_cycles"] < 30
    for part in ("methods", "first_failures", "budget_feedback"):
        assert set(failing[part]) == {"whet", *METHODS}
        assert all(set(row) == MEASURES for row in failing[part].values())
        assert set(failing["deviations"][part]) == {"whet", *METHODS}
        assert set(failing["deviations"][part]["whet"].values()) == {None}, "one replay does not differ from itself"
    assert failing["selection"]["miss_rate"] is not None
    assert failing["reranking"]["cycles"] > 0
    assert (green["failing_cycles"], green["methods"], green["selection"]) == (0, {}, None)


def test_our_row_takes_each_measure_from_the_order_with_that_goal(scored: tuple[str, dict[str, Any]]) -> None:
    rows = scored[1]["datasets"][0]["methods"]
    for measure in ("napfd", "recall", "apfd", "first_rank"):
        assert rows["whet"][measure] == rows["whet_within_budget"][measure]
    for measure in ("apfdc", "first_time"):
        assert rows["whet"][measure] == rows["whet_whole_run"][measure]


def test_the_whole_table_is_printed(scored: tuple[str, dict[str, Any]]) -> None:
    printed, told = scored
    failing = printed.split("green:")[0]
    assert all(failing.count(f"  {name} ") == 3 for name in ("whet", *METHODS))
    assert f"{told['datasets'][0]['methods']['whet']['napfd']:.4f}" in failing
    assert "not beaten yet" in failing
    assert "no cycle failed" in printed


def test_one_kind_of_feedback_leaves_the_other_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "some.csv", executions(12, 5, now_and_then))
    main([str(path), "--seeds", "1", "--feedback", "budget", "--json", str(tmp_path / "out.json")])
    (dataset,) = json.loads((tmp_path / "out.json").read_text())["datasets"]
    assert (dataset["methods"], dataset["first_failures"]) == ({}, {})
    assert set(dataset["budget_feedback"]) == {"whet", *METHODS}
    assert "learning from everything" not in capsys.readouterr().out


def test_replays_are_told_with_their_mean_and_spread(tmp_path: Path) -> None:
    path = written(tmp_path / "some.csv", executions(40, 8, now_and_then))
    main([str(path), "--seeds", "3", "--feedback", "budget", "--json", str(tmp_path / "out.json")])
    (dataset,) = json.loads((tmp_path / "out.json").read_text())["datasets"]
    deviations = dataset["deviations"]["budget_feedback"]
    assert deviations["random"]["napfd"] > 0.0
    assert deviations["optimal"]["napfd"] is None, "hindsight is replayed once"
    saved = [one["time_saved"] for one in dataset["selection"]["replays"]]
    assert len(saved) == 3
    assert dataset["selection"]["spread"]["time_saved"] == [min(saved), max(saved)]
    assert dataset["selection"]["time_saved"] == pytest.approx(sum(saved) / 3)


def test_a_folder_without_histories_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHET_CI_HISTORY", str(tmp_path))
    with pytest.raises(SystemExit, match=r"there are no histories in .* set WHET_CI_HISTORY"):
        main([])


def test_the_histories_of_a_folder_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHET_CI_HISTORY", str(tmp_path))
    written(tmp_path / "b.csv", executions(2, 2, never))
    written(tmp_path / "a.csv", executions(2, 2, never))
    assert [path.name for path in histories_at_hand()] == ["a.csv", "b.csv"]


def test_what_is_no_history_is_refused_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit, match="has the columns a, b"):
        main([str(path)])


def _row(napfd: float, apfd: float, apfdc: float, first_time: float) -> dict[str, float]:
    return {"napfd": napfd, "apfd": apfd, "apfdc": apfdc, "first_time": first_time, "ms_per_cycle": 0.1}


ROWS = {
    "whet": _row(0.5, 0.6, 0.7, 0.2),
    "whet_whole_run": _row(0.4, 0.9, 0.7, 0.2),
    "decay": _row(0.5, 0.65, 0.6, 0.1),
    "random": _row(0.49999, 0.62, 0.1, 0.3),
    "optimal": _row(0.9, 0.9, 0.9, 0.05),
}


def test_what_is_not_beaten_is_named_best_first_and_hindsight_is_no_rival() -> None:
    assert not_beaten(ROWS) == {"apfd": ["decay", "random"], "first_time": ["decay"]}


def _told() -> dict[str, Any]:
    selection: dict[str, float | None] = {
        "promised_risk": 0.05,
        "missed_cycles": 1,
        "failing_cycles": 2,
        "miss_rate": 0.5,
    }
    spread = {"miss_rate": None, "time_saved": (0.1, 0.15)}
    selection |= {"failing_cycles_selected": 0, "miss_rate_of_selections": None, "missed_executions_share": 0.25}
    selection |= {"time_saved": 0.125, "full_runs": 1, "cycles": 4, "full_runs_without_promise": 0}
    dataset: dict[str, Any] = {
        "name": "<some>",
        "cycles": 4,
        "failing_cycles": 2,
        "first_failure_cycles": 0,
        "tests": 3,
    }
    dataset |= {"executions": 12, "methods": ROWS, "first_failures": {}, "budget_feedback": {}}
    dataset |= {"deviations": {"methods": dict.fromkeys(("whet", "decay"), dict.fromkeys(MEASURES, 0.0125))}}
    dataset |= {
        "selection": selection | {"spread": spread},
        "reranking": {"cycles": 0, "static": None, "reranked": None},
    }
    return {"seeds": 2, "datasets": [dataset]}


def test_the_best_of_each_column_is_marked_and_the_rest_is_told_plainly() -> None:
    lines = told_plainly(_told()["datasets"][0]).splitlines()
    ours = next(line for line in lines if line.startswith("  whet"))
    assert ours.split() == ["whet", "*0.5000", "0.6000", "*0.7000", "0.2000", "0.10"]
    assert "    APFD: ours 0.6000; decay 0.6500, random 0.6200" in lines
    assert any("missed 1 of 2 failing cycles (50.0%; of the 0 not run whole unknown)" in line for line in lines)
    assert any("by replay unknown missed, 10.0% to 15.0% saved" in line for line in lines)
    assert any("between replays: whet ± 0.0125 / ± 0.0125" in line for line in lines)


def test_the_document_holds_what_was_measured(tmp_path: Path) -> None:
    document = tmp_path / "ordering.md"
    document.write_text("before\n<!-- scores -->\nold\n<!-- /scores -->\nafter\n")
    put(document, markdown(_told()))
    text = document.read_text()
    assert text.startswith("before\n<!-- scores -->\nMean of 2 replays")
    assert text.endswith("<!-- /scores -->\nafter\n")
    assert "old" not in text
    assert "| whet | **0.5000** / 0.6000 / **0.7000** / 0.2000 |" in text
    assert "- <some>, 1st failure: ours 0.2000; decay 0.1000" in text
    assert "- <some>: whet ± 0.0125" in text


def test_a_document_without_marks_is_left_alone(tmp_path: Path) -> None:
    document = tmp_path / "ordering.md"
    document.write_text("nothing to fill in\n")
    with pytest.raises(SystemExit, match="<!-- scores -->"):
        put(document, "text")
    assert document.read_text() == "nothing to fill in\n"


def test_in_the_chart_only_what_is_better_stands_above_ours() -> None:
    page = render(_told())
    first = page.split("<figure>")[1]
    assert [first.index(f">{name}</text>") for name in ("whet", "decay", "random")] == sorted(
        first.index(f">{name}</text>") for name in ("whet", "decay", "random")
    )
    assert "&lt;some&gt;" in page
    assert "<some>" not in page
