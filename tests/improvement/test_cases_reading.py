import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import WhetError
from whet.improvement.cases import (
    Case,
    is_case_file,
    label,
    read_cases,
    require_differences,
    require_executable,
    require_outcomes,
    split,
)
from whet.improvement.cases_features import WIDTH, features
from whet.improvement.cases_running import Recorded
from whet.improvement.cases_steps import Step, headers_of, steps_of
from whet.improvement.training_cases import HELD_OUT, lesson_of

RECORD = {
    "test_name": "Create an order with quantity 0",
    "preconditions": "Signed in.\nAuthorization: Bearer customer",
    "steps": [{"action": "Send POST /orders", "data": '{"quantity": 0}', "expected_result": "Status 400"}],
}


def _written(folder: Path, *records: dict[str, Any]) -> list[Case]:
    (folder / "cases.json").write_text(json.dumps(records))
    return read_cases(folder / "cases.json")


def test_a_record_becomes_a_case_that_can_be_executed(tmp_path: Path) -> None:
    (case,) = _written(tmp_path, RECORD)
    assert case.steps == (Step("POST", "/orders", {"quantity": 0}, 400, {}),)
    assert case.headers == {"Authorization": "Bearer customer"}
    assert case.outcome is None


def test_cases_without_outcomes_are_labelled_and_not_trained_on(tmp_path: Path) -> None:
    cases = _written(tmp_path, RECORD, {**RECORD, "steps": "GET /items -> 200", "status": "failed", "comment": "500"})
    assert label(cases) == (2, 1, 1, 2)
    with pytest.raises(WhetError, match=r"1 of 2 cases.*not what came back.*live against a service"):
        require_outcomes(cases)
    with pytest.raises(WhetError, match="would be invented"):
        Recorded(cases)


@pytest.mark.parametrize("status", ["skipped", "blocked", "untested", "actual"])
def test_a_case_that_was_not_run_has_no_outcome(status: str, tmp_path: Path) -> None:
    assert _written(tmp_path, {**RECORD, "status": status})[0].outcome is None


def test_recorded_outcomes_are_taken_as_they_are(tmp_path: Path) -> None:
    failed, passed = _written(
        tmp_path,
        {**RECORD, "status": "failed", "comment": "500 instead of 400"},
        {**RECORD, "steps": "GET /items -> 200", "status": "passed"},
    )
    runner = Recorded([failed, passed])
    assert runner.run(failed) == ("500 instead of 400", 1)
    assert runner.run(passed) == (None, 1)


def test_cases_that_say_nothing_executable_are_refused(tmp_path: Path) -> None:
    cases = _written(tmp_path, {"test_name": "Looks nice", "steps": "Open the page. It looks nice."})
    with pytest.raises(WhetError, match="None of the cases can be executed"):
        require_executable(cases)
    with pytest.raises(WhetError, match="Export the results of a run"):
        require_outcomes(cases)


def test_a_copy_under_another_name_is_the_same_case(tmp_path: Path) -> None:
    assert len(_written(tmp_path, RECORD, {**RECORD, "test_name": "A copy"})) == 1


@pytest.mark.parametrize(
    ("told", "step"),
    [
        ("1. GET /items?limit=0 -> 400", Step("GET", "/items?limit=0", None, 400, {})),
        (['POST /a {"x": [1]} returns 201'], Step("POST", "/a", {"x": [1]}, 201, {})),
        ([{"action": "DELETE /a/1", "expected_result": "204"}], Step("DELETE", "/a/1", None, 204, {})),
        (
            [{"action": "GET /a", "expected_result": 'Status 200 with {"x": 1}'}],
            Step("GET", "/a", None, 200, {"x": 1}),
        ),
    ],
)
def test_steps_are_read_in_every_form(told: object, step: Step) -> None:
    assert steps_of(told) == (step,)


def test_half_executable_steps_are_not_executed() -> None:
    assert steps_of("1. GET /items -> 200\n2. Look at the colours") == ()


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_no_steps_break_the_reader(told: object) -> None:
    for step in steps_of(told):
        assert 100 <= step.status < 600
    headers_of(told if isinstance(told, str) else "")


def test_the_split_depends_on_what_a_case_does_alone(tmp_path: Path) -> None:
    cases = _written(tmp_path, *({**RECORD, "steps": f"GET /items/{number} -> 200"} for number in range(90)))
    training, held_out = split(cases, 1 / 3, seed=1)
    assert 15 <= len(held_out) <= 45
    assert {case.key for case in training}.isdisjoint(case.key for case in held_out)
    assert split(cases[::-1], 1 / 3, seed=1)[1] == held_out[::-1]
    assert split(cases, 1 / 3, seed=2)[1] != held_out


def test_features_are_bounded_and_tell_values_apart(tmp_path: Path) -> None:
    zero, one = _written(tmp_path, RECORD, {**RECORD, "steps": 'POST /orders {"quantity": 1} -> 400'})
    assert features(zero).shape == (WIDTH,)
    assert (features(zero) != features(one)).any()
    assert (features(zero) == features(zero)).all()


@pytest.mark.parametrize(
    ("outcomes", "why"),
    [
        ([("passed", "")] * 3, "all passed"),
        ([("failed", "500"), ("failed", "500"), ("failed", "500")], "all failed with the same cause"),
        ([("failed", ""), ("failed", ""), ("failed", "500")], "each failed with a cause of its own"),
    ],
)
def test_outcomes_that_pay_alike_are_not_learned_from(
    outcomes: list[tuple[str, str]], why: str, tmp_path: Path
) -> None:
    with pytest.raises(WhetError, match=f"3 cases to train on: {why}.*some passed and some failed.*--service URL"):
        require_differences(_lived(tmp_path, outcomes))


@pytest.mark.parametrize(
    "outcomes",
    [
        [("passed", ""), ("failed", ""), ("passed", "")],
        [("passed", ""), ("failed", "500")],
        [("failed", "500"), ("failed", "500"), ("failed", "no answer")],
    ],
)
def test_outcomes_that_differ_are_learned_from(outcomes: list[tuple[str, str]], tmp_path: Path) -> None:
    require_differences(_lived(tmp_path, outcomes))


def _lived(folder: Path, outcomes: list[tuple[str, str]]) -> list[Case]:
    records = [
        {"test_name": f"Case {number}", "steps": f"GET /items/{number} -> 200", "status": status, "comment": cause}
        for number, (status, cause) in enumerate(outcomes)
    ]
    return _written(folder, *records)


def test_a_lesson_is_refused_by_what_is_trained_on_not_by_what_is_held_out(tmp_path: Path) -> None:
    """All failures of the file lie on the held-out side."""
    cases = _lived(tmp_path, [("passed", "")] * 40)
    held_out = {case.key for case in split(cases, HELD_OUT)[1]}
    mixed = [replace(case, outcome="f" if case.key in held_out else "p") for case in cases]
    with pytest.raises(WhetError, match="all passed"):
        lesson_of(mixed, None)


@pytest.mark.parametrize("content", ['[{"test_name": "a", "steps": "GET', '[{"test_name": "a", "steps": "b"},', "\x00"])
def test_a_broken_file_is_said_to_be_broken_and_where(content: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(content)
    for read in (is_case_file, read_cases):
        with pytest.raises(
            WhetError, match=r"broken.json is not valid JSON .*(?<! at) at line 1, column \d+. Write or export"
        ):
            read(broken)


def test_what_is_no_case_file_is_said_to_be_none(tmp_path: Path) -> None:
    _written(tmp_path, RECORD)
    (tmp_path / "world.json").write_text('{"agent": "test-executor"}')
    assert is_case_file(tmp_path / "cases.json")
    assert not is_case_file(tmp_path / "world.json")
    assert not is_case_file(tmp_path / "nowhere.json")
    with pytest.raises(WhetError, match="no test cases"):
        read_cases(tmp_path / "world.json")
