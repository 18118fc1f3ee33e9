"""Candidates, and runs that they and others decided, as the store holds them."""

import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from whet.checks.store_samples import decision, experience
from whet.core.candidates import Candidate, Lineage, NewCandidate, Stage, Step
from whet.core.learning_log import UnitResult
from whet.core.ports import Store
from whet.improvement.rollout.assignment import assigned, policy_name
from whet.improvement.rollout.plan import Plan
from whet.store.experiences import _row
from whet.store.schema import decisions, experiences
from whet.store.sql_store import SqlStore

AGENT, BASE = "test-executor", "tabular-thompson"
START = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
# Enough to be judged, and few enough for a test to write them.
QUICK = Plan(fewest_units=30, fewest_decisions=30, judged_from=20, most_units=60)


def lineage() -> Lineage:
    return Lineage(batch=1, experiences=1000, first="a", last="z", parent=None, code_version="0.1", seed=7)


def candidate(number: int = 12, share: float = 0.1, stage: Stage = Stage.CANARY, **changes: Any) -> Candidate:
    fields: dict[str, Any] = {"key": f"batch:{number}", "agent": AGENT, "kind": "tables", "artefact": "ab" * 32}
    times = {"since": START, "made_at": START}
    return Candidate(
        **({"number": number, "stage": stage, "share": share, "lineage": lineage()} | fields | times | changes)
    )


def added(store: Store, key: str, agent: str = AGENT) -> Candidate:
    new = NewCandidate(key=key, agent=agent, kind="tables", artefact="ab" * 32, lineage=lineage())
    return store.candidates.add(new, START)


def proven(store: Store, key: str = "batch:1", agent: str = AGENT) -> Candidate:
    made = added(store, key, agent)
    step = Step(number=made.number, seen=Stage.TRAINED, seen_share=0.0, to=Stage.PROVEN, share=0.0, why="all gates")
    moved = store.candidates.move(step.model_copy(update={"evidence": {"gates": {"safety": 0.99}}}), START)
    assert moved is not None
    return moved


def at(store: Store, number: int) -> Candidate:
    found = store.candidates.get(number)
    assert found is not None
    return found


def drawn(
    units: Iterable[str], policy: str, reward: float, dice: random.Random, *, spread: float = 3.0,
    success: float = 0.9, when: datetime = START, decisions_each: int = 1,
) -> list[UnitResult]:  # fmt: skip
    """One result per unit, around these means."""
    return [
        UnitResult(
            unit, policy, decisions_each, dice.gauss(reward, spread), float(dice.random() < success), when + HOUR
        )
        for unit in units
    ]


def units_of(chosen: Candidate, wanted: int, prefix: str) -> tuple[list[str], list[str]]:
    """So many that the candidate decides, and as many others as the share brings along."""
    own: list[str] = []
    others: list[str] = []
    for number in range(100 * wanted):
        unit = f"{prefix}-{number}"
        (own if assigned(chosen, unit) else others).append(unit)
        if len(own) == wanted:
            return own, others
    raise AssertionError("no unit is assigned to the candidate")


def lived(
    chosen: Candidate, wanted: int, dice: random.Random, *, gain: float, when: datetime, base: str = BASE,
    reward: float = 50.0, success: float = 0.9, success_gain: float = 0.0, spread: float = 3.0,
) -> list[UnitResult]:  # fmt: skip
    """Runs after `when` in which this candidate decided where it should, and was better by so much."""
    own, others = units_of(chosen, wanted, f"{when:%d-%H}-{dice.getrandbits(32)}")
    better = {"spread": spread, "success": success + success_gain, "when": when}
    mine = drawn(own, policy_name(chosen.number), reward + gain, dice, **better)  # type: ignore[arg-type]
    return [*mine, *drawn(others, base, reward, dice, spread=spread, success=success, when=when)]


def remember(store: SqlStore, results: Sequence[UnitResult], agent: str = AGENT) -> None:
    """As rows of decisions and experiences, in one transaction: whole runs, and many of them."""
    made = [_rows(result, number, agent) for result in results for number in range(result.decisions)]
    store._database.write(lambda connection: connection.execute(decisions.insert(), [row for row, _ in made]))
    store._database.write(lambda connection: connection.execute(experiences.insert(), [row for _, row in made]))


_DECISION = {**decision().model_dump(), "state": {}}
_EXPERIENCE = _row(experience("key"))


def _rows(result: UnitResult, number: int, agent: str) -> tuple[dict[str, Any], dict[str, Any]]:
    key = f"{result.unit}/{result.policy}/{number}"
    where = {"agent": agent, "run_id": result.unit, "at": result.at}
    outcome = {"duration_seconds": 1.0, "failed": None if result.success else "It broke.", "cut_short": False}
    earned = {"key": key, "decision_id": key, "outcome": outcome, "reward_credited": result.reward}
    return _DECISION | where | {"id": key, "policy": result.policy}, _EXPERIENCE | where | earned
