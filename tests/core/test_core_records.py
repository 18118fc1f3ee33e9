"""Records refuse what is not theirs: unknown fields, changes, numbers that are none."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from whet.core.keys import Atom
from whet.core.ports import Cell, Entry, Lesson, Move, Scope, TestVerdict
from whet.core.records import (
    Action,
    ActionKind,
    Alternative,
    Decision,
    Experience,
    Finding,
    Measures,
    Outcome,
    Part,
    Record,
    Reward,
    Situation,
    State,
    Valuation,
)

SITUATION: dict[str, Any] = {
    "suite": "small",
    "pace": "fast",
    "failing": None,
    "changed": True,
    "history": "some",
    "budget": "ample",
}
ALTERNATIVE: dict[str, Any] = {
    "action": "go",
    "value": 1.0,
    "uncertainty": 1.0,
    "visits": 1,
    "source": "individual",
    "probability": 0.5,
    "confidence": 0.5,
}
DECISION: dict[str, Any] = {
    "run_id": "r",
    "agent": "a",
    "state_key": "k",
    "proposed": "go",
    "action": "go",
    "probability": 0.5,
    "confidence": 0.5,
    "explored": False,
    "policy": "p",
    "policy_version": "1",
    "decided_by": "policy",
    "alternatives": (Alternative(**ALTERNATIVE),),
}
REWARD: dict[str, Any] = {"profile": "p", "parts": (), "raw": 1.0, "shaped": 1.0, "credited": 1.0}
EXPERIENCE: dict[str, Any] = {
    "key": "e",
    "run_id": "r",
    "agent": "a",
    "category": "c",
    "decision": Decision(**DECISION),
    "kind": ActionKind.FASTER,
    "state": {},
    "state_key": "k",
    "category_key": "c",
    "fleet_key": "f",
    "outcome": {},
    "reward": Reward(**REWARD),
    "next_state_key": None,
    "done": True,
}
OUTCOME: dict[str, Any] = {"duration_seconds": 1.0, "peak_memory_mb": 1.0}
FINDING: dict[str, Any] = {"kind": "failing-test", "title": "t", "severity": "low", "evidence": "e"}
CELL = Cell(Scope.INDIVIDUAL, "a", "s", "go")
SAMPLES: list[tuple[type[Record], dict[str, Any]]] = [
    (Action, {"name": "go", "kind": ActionKind.FASTER, "summary": "Go."}),
    (Alternative, ALTERNATIVE),
    (Decision, DECISION),
    (Entry, {"q_value": 1.0, "visits": 1, "mean": 1.0, "m2": 0.0}),
    (Experience, EXPERIENCE),
    (Finding, FINDING),
    (Lesson, {"target": 1.0, "own": (Move(cell=CELL, rate=0.1),)}),
    (Measures, {"coverage_before": 1.0}),
    (Move, {"cell": CELL, "rate": 0.1}),
    (Outcome, OUTCOME),
    (Part, {"name": "p", "points": 1.0}),
    (Reward, REWARD),
    (Situation, SITUATION),
    (TestVerdict, {"test": "t", "outcome": "passed", "duration_seconds": 1.0, "condition": "own-order"}),
    (Valuation, {"measures": Measures()}),
]
each = pytest.mark.parametrize(("record", "fields"), SAMPLES, ids=[r.__name__ for r, _ in SAMPLES])
NO_NUMBERS = [float("nan"), float("inf"), float("-inf")]


@each
def test_an_unknown_field_is_refused(record: type[Record], fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        record(**(fields | {"colour": "red"}))


@each
def test_a_record_does_not_change(record: type[Record], fields: dict[str, Any]) -> None:
    made = record(**fields)
    with pytest.raises(ValidationError, match="frozen"):
        setattr(made, next(iter(fields)), "other")


@each
def test_a_record_survives_json(record: type[Record], fields: dict[str, Any]) -> None:
    made = record(**fields)
    assert record.model_validate_json(made.model_dump_json()) == made


def _float_fields() -> list[tuple[type[Record], dict[str, Any], str]]:
    return [
        (record, fields, name)
        for record, fields in SAMPLES
        for name, field in record.model_fields.items()
        if "float" in str(field.annotation)
    ]


FLOATS = _float_fields()


def test_the_floats_were_found() -> None:
    found = {(record.__name__, name) for record, _, name in FLOATS}
    assert {("Reward", "raw"), ("Reward", "shaped"), ("Reward", "credited"), ("Outcome", "duration_seconds")} <= found
    assert {("Outcome", "peak_memory_mb"), ("Decision", "probability"), ("Part", "points"), ("Part", "weight")} <= found
    assert {("Entry", "q_value"), ("Lesson", "target"), ("Move", "rate"), ("Alternative", "value")} <= found


@pytest.mark.parametrize("bad", NO_NUMBERS)
@pytest.mark.parametrize(("record", "fields", "name"), FLOATS, ids=[f"{r.__name__}.{n}" for r, _, n in FLOATS])
def test_what_is_no_number_is_refused_everywhere(
    record: type[Record], fields: dict[str, Any], name: str, bad: float
) -> None:
    with pytest.raises(ValidationError):
        record(**(fields | {name: bad}))


@pytest.mark.parametrize("record", [Reward, Part])
@pytest.mark.parametrize("bad", [10_000.1, -10_000.1])
def test_points_have_a_range(record: type[Record], bad: float) -> None:
    names = {Reward: ("raw", "shaped", "credited"), Part: ("points",)}
    fields = dict(SAMPLES)[record]
    for name in names[record]:
        with pytest.raises(ValidationError):
            record(**(fields | {name: bad}))


@pytest.mark.parametrize(
    ("record", "name", "bad"),
    [
        (Decision, "probability", 0.0),
        (Decision, "probability", 1.01),
        (Decision, "confidence", -0.01),
        (Decision, "decided_by", "nobody"),
        (Outcome, "duration_seconds", -1.0),
        (Entry, "m2", -1e-9),
        (Entry, "visits", -1),
        (Move, "rate", 0.0),
        (Move, "rate", 1.01),
        (Lesson, "own", ()),
        (Lesson, "target", 1e6 + 1),
        (Action, "name", "Run Tests"),
        (Action, "kind", "quicker"),
        (Experience, "key", ""),
        (Experience, "key", "x" * 201),
        (Measures, "coverage_after", 100.1),
        (Measures, "user_rating", 0.0),
    ],
)
def test_out_of_range_is_refused(record: type[Record], name: str, bad: object) -> None:
    with pytest.raises(ValidationError, match=name):
        record(**(dict(SAMPLES)[record] | {name: bad}))


def test_ids_and_times_are_made_new_each_time() -> None:
    one, other = Decision(**DECISION), Decision(**DECISION)
    assert one.id != other.id
    assert one.at.tzinfo is not None


def test_with_reward_changes_the_reward_alone() -> None:
    before = Experience(**EXPERIENCE)
    after = before.with_reward(Reward(**(REWARD | {"credited": 9.0})))
    assert (after.reward.credited, before.reward.credited) == (9.0, 1.0)
    assert after.model_copy(update={"reward": before.reward}) == before


@pytest.mark.parametrize(("points", "weight", "expected"), [(4.0, 0.5, 2.0), (None, 3.0, 0.0), (-2.0, 1.0, -2.0)])
def test_a_part_not_measured_earns_and_costs_nothing(points: float | None, weight: float, expected: float) -> None:
    assert Part(name="p", points=points, weight=weight).weighted() == expected


def test_variance_needs_two_visits() -> None:
    assert Entry(q_value=1.0, visits=1, mean=1.0, m2=0.0).variance() is None
    assert Entry(q_value=1.0, visits=3, mean=1.0, m2=8.0).variance() == 4.0


class Spot(State):
    where: int

    def discrete(self) -> tuple[Atom, ...]:
        return (self.where,)


class Place(Spot):
    """The same bins under another name."""


HERE = Situation(**SITUATION)


def test_a_state_must_say_its_bins() -> None:
    with pytest.raises(TypeError, match="abstract"):
        State(situation=HERE)  # type: ignore[abstract]  # what the test is about


def test_a_state_is_filed_under_its_bins_and_its_name() -> None:
    assert Spot(situation=HERE, where=1).key() == Spot(situation=HERE, where=1).key()
    keys = {
        s.key() for s in (Spot(situation=HERE, where=1), Spot(situation=HERE, where=2), Place(situation=HERE, where=1))
    }
    assert len(keys) == 3


OPTIONS: dict[str, list[Any]] = {
    "suite": ["empty", "small", "medium", "large"],
    "pace": ["unknown", "fast", "moderate", "slow"],
    "failing": [None, False, True],
    "changed": [None, False, True],
    "history": ["none", "some", "rich"],
    "budget": ["tight", "ample"],
}
situations = st.builds(Situation, **{name: st.sampled_from(values) for name, values in OPTIONS.items()})


@given(situations, situations)
def test_situations_share_a_category_key_only_when_equal(one: Situation, other: Situation) -> None:
    assert (one.category_key() == other.category_key()) == (one == other)


@given(situations, situations)
def test_the_fleet_sees_pace_failures_and_budget(one: Situation, other: Situation) -> None:
    same = (one.pace, one.failing, one.budget) == (other.pace, other.failing, other.budget)
    assert (one.fleet_key() == other.fleet_key()) == same
    assert one.category_key() != other.fleet_key()


def test_a_finding_is_known_by_its_test_or_its_place() -> None:
    at_test = Finding(**FINDING, test="t", file="f.py", line=3)
    assert (
        at_test.fingerprint() == Finding(**(FINDING | {"title": "else"}), test="t", file="f.py", line=9).fingerprint()
    )
    in_file = Finding(**FINDING, file="f.py", line=3)
    assert in_file.fingerprint() != Finding(**FINDING, file="f.py", line=9).fingerprint()
    assert in_file.fingerprint() != Finding(**(FINDING | {"kind": "coverage-gap"}), file="f.py", line=3).fingerprint()


def test_a_finding_with_a_cause_is_known_by_it() -> None:
    fault = Finding(**(FINDING | {"kind": "api-fault"}), cause="500 at books.py")
    assert fault.fingerprint() == fault.model_copy(update={"title": "else", "line": 9}).fingerprint()
    assert fault.fingerprint() != fault.model_copy(update={"cause": "500 at loans.py"}).fingerprint()
