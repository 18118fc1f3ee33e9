"""Small valid records for the store's contract suite."""

from typing import Any

from whet.core.keys import Atom
from whet.core.ports import Cell, Lesson, Move, RunRecord, Scope, TestVerdict
from whet.core.records import (
    ActionKind,
    Alternative,
    Decision,
    Experience,
    Finding,
    Part,
    Review,
    Reward,
    Situation,
    State,
    now,
)

SITUATION = Situation(suite="small", pace="fast", failing=None, changed=True, history="some", budget="ample")
OWN = Cell(Scope.INDIVIDUAL, "runner", "state", "go")
CATEGORY = Cell(Scope.CATEGORY, "core-testing", "category", "faster")
FLEET = Cell(Scope.FLEET, "fleet", "fleet", "faster")


class SampleState(State):
    tests: int = 3
    label: str = ""

    def discrete(self) -> tuple[Atom, ...]:
        return (self.tests, self.label)


def decision(agent: str = "runner", state_key: str = "state", **changes: Any) -> Decision:
    weighed = Alternative(
        action="go", value=1.5, uncertainty=0.25, visits=4, source="individual", probability=0.75, confidence=0.5
    )
    fields: dict[str, Any] = {
        "run_id": "run-1",
        "agent": agent,
        "state_key": state_key,
        "proposed": "go",
        "action": "go",
        "probability": 0.75,
        "confidence": 0.5,
        "explored": False,
        "policy": "tabular",
        "policy_version": "v1",
        "decided_by": "policy",
        "alternatives": (weighed,),
    }
    return Decision(**(fields | changes))


def pending(**changes: Any) -> Decision:
    return decision(review=Review.PENDING, **changes)


def reward(credited: float = 1.0) -> Reward:
    parts = (Part(name="speed", points=2.0, weight=0.5, because="faster"), Part(name="cost", points=None))
    return Reward(profile="composite", parts=parts, raw=2.0, shaped=1.5, credited=credited)


def experience(key: str, credited: float = 1.0, **changes: Any) -> Experience:
    agent = changes.get("agent", "runner")
    fields: dict[str, Any] = {
        "key": key,
        "run_id": "run-1",
        "agent": agent,
        "category": "core-testing",
        "decision": decision(agent=agent),
        "kind": ActionKind.FASTER,
        "state": {"tests": 3, "ratio": 0.1, "tiny": 1e-300, "nested": {"list": [1, None, True, "x"]}},
        "state_key": "state",
        "category_key": "category",
        "fleet_key": "fleet",
        "outcome": {"duration_seconds": 0.25},
        "reward": reward(credited),
        "next_state_key": "next",
        "next_actions": ("go", "stop"),
        "done": False,
    }
    return Experience(**(fields | changes))


def lesson(target: float, rate: float = 0.1, averaged: bool = True, cell: Cell = OWN) -> Lesson:
    return Lesson(target=target, own=(Move(cell=cell, rate=rate, averaged=averaged),))


def verdict(test: str = "t.py::test_a", outcome: str = "passed", **changes: Any) -> TestVerdict:
    fields: dict[str, Any] = {"duration_seconds": 0.5, "condition": "own-order"}
    return TestVerdict(test=test, outcome=outcome, **(fields | changes))


def run_record(run_id: str = "run-1") -> RunRecord:
    return RunRecord(id=run_id, project="shop", code_version="abc", budget_seconds=60, seed=2**80, started_at=now())


def finding(test: str = "t.py::test_a", evidence: str = "assert 1 == 2") -> Finding:
    return Finding(kind="failing-test", title="fails", severity="high", evidence=evidence, test=test)
