"""The gate: whose word holds, what is held back, and how likely what runs was to run."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.ports import Choice, Ruling
from whet.core.records import Action, ActionKind, Alternative, Decision, Review, now
from whet.fleet.gate import Gate

PLAIN = Action(name="plain", kind=ActionKind.AS_CONFIGURED, summary="as it is")
QUICK = Action(name="quick", kind=ActionKind.FASTER, summary="with workers")
PARTLY = Action(name="partly", kind=ActionKind.FOCUSED, summary="some tests", hides=True)
ACTIONS = (PLAIN, QUICK, PARTLY)
GATE = Gate(review_below=0.05, review_hiding_below=0.6)


def weighed(action: str, probability: float, confidence: float | None, value: float | None = 1.0) -> Alternative:
    return Alternative(
        action=action,
        value=value,
        uncertainty=1.0,
        visits=0,
        source="none",
        probability=probability,
        confidence=confidence,
    )


def decide(proposal: str, weighing: tuple[Alternative, ...], ruling: Ruling | None = None) -> Decision:
    choice = Choice(action=proposal, explored=True, version="v1", alternatives=weighing)
    names = {a.action for a in weighing}
    return GATE.decide(
        run_id="r",
        agent="test-executor",
        state_key="s",
        policy="p",
        choice=choice,
        allowed=[a for a in ACTIONS if a.name in names],
        default=PLAIN,
        ruling=ruling,
    )


def word(action: str, verdict: str = "overridden") -> Ruling:
    return Ruling.model_validate(
        {
            "agent": "test-executor",
            "state_key": "s",
            "action": action,
            "verdict": verdict,
            "decision_id": "d",
            "by": "kim",
            "at": now(),
        }
    )


@st.composite
def weighings(draw: st.DrawFn) -> tuple[Alternative, ...]:
    raw = draw(st.tuples(*[st.floats(0.001, 1.0)] * 3))
    sure = draw(st.tuples(*[st.sampled_from([0.0, 0.04, 0.05, 0.3, 0.59, 0.6, 1.0])] * 3))
    known = draw(st.tuples(*[st.sampled_from([None, 1.0])] * 3))
    return tuple(weighed(a.name, p / sum(raw), c, v) for a, p, c, v in zip(ACTIONS, raw, sure, known, strict=True))


@given(weighings())
def test_each_decision_states_the_chance_that_its_action_runs(weighing: tuple[Alternative, ...]) -> None:
    """Over all proposals, weighed by how often the policy makes them: what runs adds up, and to one."""
    really: dict[str, float] = defaultdict(float)
    stated: dict[str, set[float]] = defaultdict(set)
    for proposal in weighing:
        decision = decide(proposal.action, weighing)
        really[decision.action] += proposal.probability
        stated[decision.action].add(round(decision.probability, 9))
    assert all(len(chances) == 1 for chances in stated.values())
    assert {action: max(chances) for action, chances in stated.items()} == pytest.approx(dict(really), abs=1e-8)
    assert sum(max(chances) for chances in stated.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("proposal", "confidence", "ran"),
    [("quick", 0.04, "plain"), ("quick", 0.05, "quick"), ("partly", 0.59, "plain"), ("partly", 0.6, "partly")],
)
def test_what_may_hide_something_must_be_more_certain(proposal: str, confidence: float, ran: str) -> None:
    weighing = (weighed("plain", 0.2, 0.9), weighed(proposal, 0.8, confidence))
    decision = decide(proposal, weighing)
    assert (decision.action, decision.proposed, decision.confidence) == (ran, proposal, confidence)
    held = ran == "plain"
    assert decision.decided_by == ("safe-default" if held else "policy")
    assert decision.review is (Review.PENDING if held else Review.NOT_NEEDED)
    assert decision.probability == pytest.approx(1.0 if held else 0.8)
    assert decision.explored is not held


def test_the_default_needs_no_confidence() -> None:
    decision = decide("plain", (weighed("plain", 0.7, 0.0), weighed("quick", 0.3, 0.9)))
    assert (decision.action, decision.decided_by) == ("plain", "policy")
    assert decision.probability == pytest.approx(0.7)


def test_where_nothing_is_known_the_default_runs_for_certain_and_nobody_is_asked() -> None:
    decision = decide("quick", (weighed("plain", 0.5, 0.5, None), weighed("quick", 0.5, 0.5, None)))
    assert (decision.action, decision.decided_by) == ("plain", "safe-default")
    assert (decision.probability, decision.review) == (1.0, Review.NOT_NEEDED)


def test_a_fixed_order_is_followed_though_nothing_is_known() -> None:
    decision = decide("quick", (weighed("plain", 0.0, None, None), weighed("quick", 1.0, None, None)))
    assert (decision.action, decision.decided_by, decision.probability) == ("quick", "policy", 1.0)


@pytest.mark.parametrize(("verdict", "review"), [("approved", Review.APPROVED), ("overridden", Review.OVERRIDDEN)])
def test_a_persons_word_holds(verdict: str, review: Review) -> None:
    weighing = (weighed("plain", 0.5, 0.9), weighed("partly", 0.5, 0.0))
    decision = decide("plain", weighing, word("partly", verdict))
    assert (decision.action, decision.decided_by, decision.probability) == ("partly", "person", 1.0)
    assert (decision.review, decision.explored) == (review, False)


def test_a_persons_word_for_what_is_not_possible_here_is_not_followed() -> None:
    weighing = (weighed("plain", 0.5, 0.9), weighed("quick", 0.5, 0.9))
    assert decide("quick", weighing, word("partly")).decided_by == "policy"
