import math
from enum import StrEnum
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agents.catalogue import AGENTS
from whet.agents.commander import CommanderState
from whet.core.errors import RefusedInput
from whet.core.keys import Atom
from whet.core.records import Count, Probability, Situation, State
from whet.improvement.world import World, shipped
from whet.policies.deep.encoding import Encoder
from whet.policies.deep.fields import squash

SITUATION = Situation(suite="small", pace="slow", failing=None, changed=True, history="none", budget="ample")
SITUATION_NUMBERS = [0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1]


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Sample(State):
    count: Count
    share: Probability | None
    colour: Colour
    mood: Literal["good", "bad"] | None
    sure: bool
    parts: tuple[int, ...] = ()

    def discrete(self) -> tuple[Atom, ...]:
        return (self.count,)


def sample(**chosen: Any) -> Sample:
    values = {"count": 100, "share": 0.25, "colour": Colour.BLUE, "mood": "bad", "sure": True, "parts": (1, 2)}
    return Sample(situation=SITUATION, **(values | chosen))


def test_every_field_by_hand() -> None:
    """count 1, share flag and value, colour 2, mood flag and 2, sure 2, parts 1: ten numbers, then nothing."""
    encoder = Encoder(Sample)
    assert (encoder.layout.tokens, encoder.layout.width) == (2, 19)
    row = encoder.row(sample())
    assert row[:19].tolist() == SITUATION_NUMBERS
    assert row[19:] == pytest.approx([1, 0, 0.25, 0, 1, 0, 0, 1, 0, 1, math.log(3) / math.log(101), *[0] * 8])


def test_unknown_is_a_flag_of_its_own_and_not_a_zero() -> None:
    encoder = Encoder(Sample)
    unknown, zero = encoder.row(sample(share=None)), encoder.row(sample(share=0.0))
    assert unknown[20:22].tolist() == [1.0, 0.0]
    assert zero[20:22].tolist() == [0.0, 0.0]


@given(value=st.floats(-1e300, 1e300))
def test_a_squashed_number_keeps_its_sign_and_stays_small(value: float) -> None:
    assert squash(-value) == -squash(value)
    assert abs(squash(value)) < 151


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_has_a_layout_with_the_situation_first(name: str) -> None:
    encoder = Encoder(AGENTS[name].state_type)
    assert [field.path[0] for field in encoder.groups[0]] == ["situation"] * 6
    named = [field.path[0] for group in encoder.groups[1:] for field in group]
    assert named == [each for each in AGENTS[name].state_type.model_fields if each != "situation"]
    assert all(sum(field.coding.size for field in group) <= encoder.layout.width for group in encoder.groups)


@pytest.mark.parametrize("world", shipped(), ids=lambda world: world.name)
def test_every_state_that_was_recorded_has_a_row(world: World) -> None:
    encoder, states = Encoder(AGENTS[world.agent].state_type), world.states()
    rows = np.stack([encoder.row(state) for state in states])
    assert rows.shape == (len(states), encoder.layout.size)
    assert np.abs(rows).max() < 5.0
    different = {state.model_dump_json() for state in states}
    assert len(np.unique(rows, axis=0)) == len(different)


def test_the_commander_tells_its_crew_apart() -> None:
    told = {"situation": SITUATION, "budget_left": 0.5, "suites_left": 2.0, "turns_done": 1, "blocked": ()}
    encoder = Encoder(CommanderState)
    crew = [name for name in AGENTS if name != "fleet-commander"]
    rows = [encoder.row(CommanderState(visits={sent: 1 for sent in crew if sent == name}, **told)) for name in crew]
    assert len(np.unique(np.stack(rows), axis=0)) == len(crew)


def test_the_layout_is_the_same_each_time_and_another_for_another_state() -> None:
    digests = {name: Encoder(agent.state_type).layout.digest for name, agent in AGENTS.items()}
    assert digests == {name: Encoder(agent.state_type).layout.digest for name, agent in AGENTS.items()}
    assert len(set(digests.values())) == len(AGENTS)


def test_another_choice_more_is_another_layout() -> None:
    class Other(State):
        count: Count
        share: Probability | None
        colour: Colour
        mood: Literal["good", "fair"] | None
        sure: bool
        parts: tuple[int, ...] = ()

        def discrete(self) -> tuple[Atom, ...]:
            return ()

    before, after = Encoder(Sample).layout, Encoder(Other).layout
    assert before.size == after.size
    with pytest.raises(RefusedInput, match="another layout"):
        after.refuse_another(before, "The policy")


def test_memories_come_behind_with_a_flag_each_and_those_without_room_are_left_out() -> None:
    encoder = Encoder(Sample, memories=2, memory_width=3)
    rows = [np.full(3, value, dtype=np.float32) for value in (7.0, 8.0, 9.0)]
    assert encoder.row(sample(), rows[:1])[38:].tolist() == [7, 7, 7, 0, 0, 0, 1, 0]
    assert encoder.row(sample(), rows)[38:].tolist() == [7, 7, 7, 8, 8, 8, 1, 1]
    with pytest.raises(RefusedInput, match="has 3 numbers"):
        encoder.row(sample(), [np.zeros(4, dtype=np.float32)])


def test_a_state_of_another_type_is_refused() -> None:
    with pytest.raises(RefusedInput, match="cannot be read as"):
        Encoder(CommanderState).row(sample())


@pytest.mark.parametrize("bad", [math.nan, math.inf, 10**400, "many", None])
def test_a_state_that_got_past_its_own_validation_is_refused(bad: Any) -> None:
    broken = sample().model_copy(update={"count": bad})
    with pytest.raises(RefusedInput, match=r"cannot be encoded|not finite"):
        Encoder(Sample).row(broken)


def test_a_field_without_a_coding_is_refused_by_name() -> None:
    class Odd(Sample):
        note: str

    with pytest.raises(RefusedInput, match="'note'"):
        Encoder(Odd)
