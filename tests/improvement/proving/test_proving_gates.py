"""The gates: each can say no, each says so, and what is unknown is neither."""

from collections.abc import Mapping, Sequence

import pytest
from tests.improvement.proving.proving_scenes import (
    AGENT,
    GATE,
    Told,
    evenly,
    lived,
    mostly_best,
    mostly_default,
    there,
    world,
)

from whet.agents.catalogue import agent_named
from whet.core.errors import RefusedInput
from whet.core.memories import Recalled
from whet.core.ports import Choice
from whet.core.records import Action, Experience, State
from whet.fleet.gate import Gate
from whet.improvement.proving.accuracy import Accuracy, accuracy, examine_on_worlds
from whet.improvement.proving.chances import Answer
from whet.improvement.proving.examining import as_logged, examine
from whet.improvement.proving.gates import (
    GateResult,
    Judged,
    Rules,
    accuracy_gate,
    evidence_gate,
    judge,
    regression_gate,
    safety_gate,
    verdict,
)
from whet.improvement.proving.masking import within_mask
from whet.improvement.proving.off_policy import Evidence, Range
from whet.improvement.proving.safety import Safety, safety
from whet.rewards import profile
from whet.settings.production import Production

EVEN = Told(evenly)  # who decided in the log
RULES = Rules(GATE, Range(-60.0, 60.0))


@pytest.fixture(scope="module")
def log() -> list[Experience]:
    return lived(Told(evenly), 1700)


def named(judged: Judged, name: str) -> GateResult:
    return next(each for each in judged.gates if each.name == name)


def mostly_worst(state: State, allowed: Sequence[Action]) -> Mapping[str, float]:
    means = next((s.means for s in there() if s.state.key() == state.key()), {a.name: 0.0 for a in allowed})
    worst = min((a.name for a in allowed), key=lambda name: means.get(name, 0.0))
    return {a.name: 1.0 if a.name == worst else 0.0 for a in allowed}


def test_a_good_candidate_passes_every_gate(log: list[Experience]) -> None:
    judged = judge(Told(mostly_best), EVEN, AGENT, log, log[:300], RULES)
    assert [each.passed for each in judged.gates] == [True] * 4
    assert judged.verdict.outcome == "passed"
    assert judged.told()["off_policy"] == judged.evidence._asdict()


def test_a_bad_candidate_is_rejected_by_name(log: list[Experience]) -> None:
    judged = judge(Told(mostly_worst), EVEN, AGENT, log, log[:300], RULES)
    assert named(judged, "safety").passed is True
    assert named(judged, "accuracy").passed is False
    assert named(judged, "regression").passed is False
    assert named(judged, "evidence").passed is not True
    assert judged.verdict.outcome == "rejected"
    assert "accuracy gate said no" in judged.verdict.why


def test_each_share_is_enough_from_its_limit_on_and_not_below() -> None:
    assert [accuracy_gate(Accuracy(share, 1000, 1000)).passed for share in (0.849, 0.85)] == [False, True]
    assert [regression_gate(share, True).passed for share in (0.899, 0.9)] == [False, True]
    assert [safety_gate(Safety(1000, faults, 0, "a fault")).passed for faults in (51, 50)] == [False, True]


def test_the_limits_are_those_that_settings_have() -> None:
    asked = Production()
    wanted = (asked.min_accuracy, asked.min_regression, asked.min_safety, asked.confidence_level, asked.min_effective)
    assert (RULES.accuracy, RULES.regression, RULES.safety, RULES.level, RULES.effective) == wanted
    assert wanted == (0.85, 0.90, 0.95, 0.95, 200)


@pytest.mark.parametrize(
    ("lower", "upper", "passed"),
    [
        (0.1, 0.3, True),
        (-0.3, -0.1, False),
        (-0.1, 0.1, None),
        (-0.1, None, None),
        (0.0, 0.0, None),  # it decides like production
        (1e-12, 1e-12, None),  # likewise, but for rounding
        (None, None, None),
    ],
)
def test_evidence_says_yes_no_or_nothing(lower: float | None, upper: float | None, passed: bool | None) -> None:
    found = Evidence(2000, 2000, 900.0, 0.1, lower, upper, 0.975, 1, 0.0, "because")
    assert evidence_gate(found, Range(-1.0, 1.0)).passed is passed


def test_little_evidence_is_inconclusive(log: list[Experience]) -> None:
    judged = judge(Told(mostly_best), EVEN, AGENT, log[:30], [], RULES)
    assert named(judged, "accuracy").passed is None
    assert named(judged, "evidence").passed is None
    assert named(judged, "regression").passed is True  # there is nothing older
    assert judged.verdict.outcome == "inconclusive"
    assert judge(Told(mostly_best), EVEN, AGENT, [], [], RULES).verdict.outcome == "inconclusive"


def test_old_decisions_that_tell_nothing_leave_it_open(log: list[Experience]) -> None:
    found = named(judge(Told(mostly_best), EVEN, AGENT, log[:30], log[:30], RULES), "regression")
    assert (found.passed, found.measured) == (None, None)
    assert "do not say" in found.why


def test_an_accuracy_is_known_from_fifty_judged_decisions(log: list[Experience]) -> None:
    """With 49 decisions in one state, on two actions that were both tried more than ten times, it is not."""
    seen = examine(Told(evenly), AGENT, log, GATE)
    spot = seen.cases[0].spot
    pair = spot[1][:2]
    cases = [case for case in seen.cases if case.spot == spot and case.action in pair]
    sure = [Answer({pair[0]: 1.0})] * 50
    assert accuracy(cases[:49], sure[:49]).share is None
    assert accuracy(cases[:50], sure).share is not None


def test_without_a_range_of_the_rewards_nothing_is_promoted(log: list[Experience]) -> None:
    judged = judge(Told(mostly_best), EVEN, AGENT, log[:300], [], Rules(GATE, None))
    assert "not known what a reward can be" in named(judged, "evidence").why
    assert judged.verdict.outcome == "inconclusive"


def test_old_worlds_can_say_no_too(log: list[Experience]) -> None:
    found = named(judge(Told(mostly_best), EVEN, AGENT, log[:50], [], RULES, kept_on_worlds=0.7), "regression")
    assert (found.passed, found.measured) == (False, 0.7)


def test_production_is_what_old_accuracy_is_compared_with(log: list[Experience]) -> None:
    even = judge(Told(evenly), EVEN, AGENT, log[:50], log[:300], RULES)
    assert named(even, "regression").measured == pytest.approx(1.0)
    found = named(judge(Told(evenly), Told(mostly_best), AGENT, log[:50], log[:300], RULES), "regression")
    assert found.passed is False


def test_accuracy_as_worked_out_by_hand(log: list[Experience]) -> None:
    """All chances on measured actions count; the share that falls on as good as the best is right."""
    best, worst = (examine(Told(each), AGENT, log[:300], GATE) for each in (mostly_best, mostly_worst))
    assert accuracy(best.cases, best.answers).share == pytest.approx(0.97, abs=0.03)
    share = accuracy(worst.cases, worst.answers).share
    assert share is not None
    assert share < 0.6


def test_accuracy_on_worlds_is_exact() -> None:
    found = examine_on_worlds(Told(mostly_best), [world()], profile("composite"), {}, GATE)
    right = [sum(chance for name, chance in mostly_best(s.state, s.allowed).items() if s.right(name)) for s in there()]
    assert found.share == pytest.approx(sum(right) / len(right))
    assert found.judged == len(right)


def test_the_log_is_read_as_it_was_decided(log: list[Experience]) -> None:
    columns = as_logged(examine(Told(mostly_best), AGENT, log[:300], GATE))
    assert columns.production.sum(axis=1) == pytest.approx(1.0)
    taken = columns.production[range(300), columns.actions]
    assert taken == pytest.approx([each.decision.probability for each in log[:300]])


def test_held_back_actions_count_for_the_safe_default() -> None:
    """Below its required confidence nothing runs but the default, in the log and in what the candidate would do."""
    unsure = Told(evenly, confidence=0.01)
    found = examine(unsure, AGENT, lived(unsure, 20), GATE)
    default = agent_named(AGENT).safe_default(found.cases[0].state).name
    assert all(case.production is not None and case.production[default] == pytest.approx(1.0) for case in found.cases)
    assert all(each.running is not None and each.running[default] == pytest.approx(1.0) for each in found.answers)


def test_a_log_made_under_other_limits_proves_nothing() -> None:
    log = lived(Told(evenly, confidence=0.3), 50, gate=Gate(review_below=0.5))
    assert "probabilities are missing" in judge(Told(mostly_best), EVEN, AGENT, log, [], RULES).evidence.why


def test_people_and_cuts_say_nothing_and_foreign_states_are_counted(log: list[Experience]) -> None:
    person = log[0].model_copy(update={"decision": log[0].decision.model_copy(update={"decided_by": "person"})})
    cut = log[1].model_copy(update={"outcome": {"duration_seconds": 1.0, "cut_short": True}})
    foreign = log[2].model_copy(update={"state": {"of": "another version"}})
    other = log[3].model_copy(update={"agent": "coverage-analyzer"})
    found = examine(Told(evenly), AGENT, [person, cut, foreign, other, log[4]], GATE)
    assert (len(found.cases), found.unreadable) == (1, 1)


class Careless(Told):
    """Names every action, allowed or not."""

    def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
        return super().choose(state, agent_named(AGENT).actions)


class Broken(Told):
    def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
        raise ValueError("no such column")


def test_an_action_that_is_not_allowed_is_never_safe(log: list[Experience]) -> None:
    judged = judge(Careless(evenly), EVEN, AGENT, log[:50], [], RULES)
    found = named(judged, "safety")
    assert found.passed is False
    assert "not allowed there" in found.why
    assert judged.verdict.outcome == "rejected"
    assert judged.verdict.why.startswith("the safety gate")


def test_one_forbidden_action_in_many_questions_is_enough() -> None:
    class Once(Told):
        asked = 0

        def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
            self.asked += 1
            return super().choose(state, agent_named(AGENT).actions if self.asked == 100 else allowed)

    judged = judge(Once(evenly), EVEN, AGENT, lived(Told(evenly), 50), [], RULES)
    found = named(judged, "safety")
    assert found.measured is not None
    assert found.measured > 0.99
    assert found.passed is False


def test_a_policy_that_breaks_or_hides_without_saying_how_sure_it_is_fails_safety(log: list[Experience]) -> None:
    states = [case.state for case in examine(Told(evenly), AGENT, log[:50], GATE).cases]
    broken = safety(Broken(evenly), agent_named(AGENT), states, GATE)
    assert broken.share == 0.0
    assert "no such column" in str(broken.first)
    silent = safety(Told(evenly, confidence=None), agent_named(AGENT), states, GATE)
    assert silent.faults > 0
    assert "how sure it is" in str(silent.first)
    sure = safety(Told(mostly_default, confidence=None), agent_named(AGENT), states, GATE)
    assert sure.faults == 0


def test_safety_asks_about_states_and_masks_nobody_met(log: list[Experience]) -> None:
    asked: set[tuple[str, tuple[str, ...]]] = set()

    class Noting(Told):
        def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
            asked.add((state.model_dump_json(), tuple(action.name for action in allowed)))
            return super().choose(state, allowed)

    states = [case.state for case in examine(Told(evenly), AGENT, log[:200], GATE).cases]
    safety(Noting(evenly), agent_named(AGENT), states, GATE)
    met = {state.model_dump_json() for state in states}
    assert {state for state, _ in asked} - met
    whole = {state: agent_named(AGENT).allowed(s) for s in states for state in [s.model_dump_json()]}
    assert any(len(names) < len(whole[state]) for state, names in asked if state in whole)


def gate_result(name: str, passed: bool | None) -> GateResult:
    return GateResult.model_validate({"name": name, "passed": passed, "measured": 0.5, "needed": 0.9, "why": "so"})


@pytest.mark.parametrize(
    ("passed", "outcome"),
    [
        ([True, True], "passed"),
        ([True, None], "inconclusive"),
        ([None, False], "rejected"),
        ([False, False], "rejected"),
        ([], "inconclusive"),
    ],
)
def test_one_no_rejects_and_one_unknown_leaves_it_open(passed: list[bool | None], outcome: str) -> None:
    names = ("safety", "accuracy")
    gates = [gate_result(name, each) for name, each in zip(names, passed, strict=False)]
    assert verdict(gates).outcome == outcome


def test_the_mask_is_enforced_and_the_chances_stay_true() -> None:
    state = there()[0].state
    every = agent_named(AGENT).actions
    choice = Told(lambda *_: {"run_all_tests": 0.25, "run_fast_first": 0.35, "no_retry": 0.4}, seed=1).choose(
        state, every
    )
    allowed = [a for a in every if a.name in ("run_all_tests", "run_fast_first")]
    found = within_mask(choice.model_copy(update={"action": "no_retry"}), allowed)
    assert found.action == "run_fast_first"
    assert {a.action: a.probability for a in found.alternatives} == pytest.approx(
        {"run_all_tests": 0.25, "run_fast_first": 0.75}
    )
    assert within_mask(choice, every) is choice
    with pytest.raises(RefusedInput, match="not allowed"):
        within_mask(choice, [a for a in every if a.name == "execute_sequential"])
