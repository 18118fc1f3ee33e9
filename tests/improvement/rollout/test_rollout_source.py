"""Which policy answers: the canary for its units, else production, else settings; what is refused never."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.improvement.rollout.rollout_scenes import AGENT, QUICK, START, added, at, proven

from whet.checks.store_samples import SITUATION, SampleState
from whet.core.candidates import Candidate
from whet.core.errors import RefusedInput
from whet.core.memories import Recalled
from whet.core.ports import Choice, Policy
from whet.core.records import Action, ActionKind, State
from whet.improvement.rollout.assignment import assigned
from whet.improvement.rollout.people import promote, rollback
from whet.improvement.rollout.source import RolledOut
from whet.improvement.rollout.stepping import roll_out
from whet.policies.static import FixedPolicy
from whet.store import open_store
from whet.store.sql_store import SqlStore

ACTIONS = (
    Action(name="go", kind=ActionKind.FASTER, summary="go"),
    Action(name="stop", kind=ActionKind.STOPPED, summary="s"),
)
UNITS = [f"run-{number}" for number in range(200)]


@dataclass
class Settings:
    """The policy that settings choose."""

    policy: Policy = field(default_factory=lambda: FixedPolicy("stop"))

    def policy_for(self, agent: str, unit: str) -> Policy:
        return self.policy


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with open_store(f"sqlite:///{tmp_path / 'whet.db'}") as opened:
        yield opened


@dataclass
class Scene:
    store: SqlStore
    broken: Mapping[int, Exception] = field(default_factory=dict)
    warned: list[str] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)
    weighing: Sequence[Action] = ()  # a policy that weighs these, allowed or not

    def source(self, explicit: Sequence[str] = ()) -> RolledOut:
        return RolledOut(Settings(), self.store.candidates, self._open, self.warned.append, explicit)

    def names(self, agent: str = AGENT, explicit: Sequence[str] = ()) -> dict[str, str]:
        source = self.source(explicit)
        return {unit: source.policy_for(agent, unit).name for unit in UNITS}

    def _open(self, candidate: Candidate) -> Policy:
        self.opened.append(candidate.number)
        if candidate.number in self.broken:
            raise self.broken[candidate.number]
        return Heedless(self.weighing) if self.weighing else FixedPolicy("go")


@dataclass
class Heedless:
    actions: Sequence[Action]
    name: str = "heedless"

    def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
        return FixedPolicy("go").choose(state, self.actions)


def _canary(store: SqlStore) -> int:
    number = proven(store, "batch:canary").number
    roll_out(store, QUICK, START)
    return number


def _production(store: SqlStore) -> int:
    return promote(store, added(store, "batch:production").number, "anna", QUICK, START).number


def test_without_candidates_settings_decide(store: SqlStore) -> None:
    proven(store, agent="coverage-analyzer")
    roll_out(store, QUICK, START)
    assert set(Scene(store).names().values()) == {"always-stop"}


def test_a_canary_decides_its_units_and_production_the_others(store: SqlStore) -> None:
    production = _production(store)
    canary = _canary(store)
    names = Scene(store).names()
    assert set(names.values()) == {f"candidate-{production}", f"candidate-{canary}"}
    chosen = {unit for unit, name in names.items() if name == f"candidate-{canary}"}
    assert chosen == {unit for unit in UNITS if assigned(at(store, canary), unit)}
    assert 5 <= len(chosen) <= 40
    assert set(Scene(store).names("coverage-analyzer").values()) == {"always-stop"}


def test_the_candidate_answers_under_its_name(store: SqlStore) -> None:
    number = _production(store)
    policy = Scene(store).source().policy_for(AGENT, "run")
    assert policy.name == f"candidate-{number}"
    assert policy.choose(SampleState(situation=SITUATION), ACTIONS).action == "go"


def test_what_is_not_allowed_never_runs_whatever_the_candidate_says(store: SqlStore) -> None:
    _production(store)
    policy = Scene(store, weighing=ACTIONS).source().policy_for(AGENT, "run")
    choice = policy.choose(SampleState(situation=SITUATION), ACTIONS[1:])
    assert choice.action == "stop"
    assert {each.action: each.probability for each in choice.alternatives} == {"stop": 1.0}


def test_a_line_of_settings_is_kept(store: SqlStore) -> None:
    _production(store)
    scene = Scene(store)
    assert set(scene.names(explicit=[AGENT]).values()) == {"always-stop"}
    assert scene.opened == []


def test_within_a_run_nothing_changes_and_the_next_sees_the_change(store: SqlStore) -> None:
    number = _production(store)
    source = Scene(store).source()
    before = source.policy_for(AGENT, "first")
    rollback(store, number, "ben", "slow", START)
    assert source.policy_for(AGENT, "first") is before
    assert source.policy_for(AGENT, "second").name == "always-stop"


def test_an_artefact_is_opened_once(store: SqlStore) -> None:
    number = _production(store)
    scene = Scene(store)
    scene.names()
    assert scene.opened == [number]


@pytest.mark.parametrize(
    "refusal", [RefusedInput("Its signature does not match.", "Train it again."), FileNotFoundError("no such file")]
)
def test_what_is_refused_never_decides_and_the_reason_is_handed_on(store: SqlStore, refusal: Exception) -> None:
    production = _production(store)
    canary = _canary(store)
    one = Scene(store, {canary: refusal})
    assert set(one.names().values()) == {f"candidate-{production}"}
    assert one.warned[0] == f"Candidate {canary} does not decide for {AGENT}, though it should: {refusal}"
    both = Scene(store, {canary: refusal, production: refusal})
    assert set(both.names().values()) == {"always-stop"}
    assert {warning.split(" ")[1] for warning in both.warned} == {str(canary), str(production)}


def test_a_mistake_in_the_program_is_not_taken_for_a_refusal(store: SqlStore) -> None:
    number = _production(store)
    with pytest.raises(ZeroDivisionError):
        Scene(store, {number: ZeroDivisionError()}).names()


def test_the_oldest_units_are_let_go(store: SqlStore) -> None:
    source = Scene(store).source()
    ask: Callable[[int], Policy] = lambda number: source.policy_for(AGENT, str(number))  # noqa: E731
    for number in range(4200):
        source._decided[AGENT, f"old-{number}"] = FixedPolicy("go")
    assert ask(1).name == "always-stop"
    assert (AGENT, "old-0") not in source._decided
    assert (AGENT, "1") in source._decided
