"""An orderer as bytes and back."""

import io
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.skills.ordering.made_sheets import HISTORIES, QUESTIONS, learned, quickly, sheet, unhurried

from whet.core.sheets import Sheet
from whet.skills.ordering import Orderer
from whet.skills.ordering.saving import VERSION

STATE = learned(sheet(outcomes, code_version="one") for outcomes in ("pfpppp", "pppppp", "fppppf", "sfppps")).dump()


@quickly
@given(HISTORIES, HISTORIES, QUESTIONS)
def test_a_loaded_one_goes_on_as_the_one_that_was_saved(
    before: list[Sheet], after: list[Sheet], question: tuple[list[str], dict[str, float] | None]
) -> None:
    orderer = learned(before)
    loaded = Orderer.load(orderer.dump())
    assert loaded.dump() == orderer.dump()
    for one in after:
        orderer.learn(one)
        loaded.learn(one)
    assert loaded.weights() == orderer.weights()
    assert repr(loaded.rank(*question)) == repr(orderer.rank(*question))
    assert loaded.after_failure(question[0][:1], [], question[0]) == orderer.after_failure(
        question[0][:1], [], question[0]
    )
    assert loaded.dump() == orderer.dump()


def test_the_promise_is_kept_with_all_it_counts() -> None:
    orderer = learned(
        [sheet("pppppf"), sheet("pppppf"), sheet("p-pppf", complete=False), sheet("p-pppp", complete=False)]
    )
    loaded = Orderer.load(orderer.dump())
    for one in (orderer, loaded):
        assert (one.promise.failing_runs, one.promise.selections) == (3, 2)
        one.learn(sheet("pfpppp"))
    assert loaded.promise.incidents == orderer.promise.incidents
    assert loaded.promise.incidents[-1].stands_for == 3


@unhurried
@given(st.binary(max_size=300))
@example(b"")
@example(b"PK\x03\x04")
@example(b"PK\x05\x06" + bytes(18))
@example(b"\x80\x04N.")
def test_what_is_no_state_is_refused(garbage: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        Orderer.load(garbage)


def test_an_array_alone_is_refused() -> None:
    file = io.BytesIO()
    np.save(file, np.zeros(3))
    with pytest.raises(ValueError, match="not the state of an orderer"):
        Orderer.load(file.getvalue())


@unhurried
@given(st.integers(0, len(STATE) - 1), st.integers(1, 255))
def test_a_damaged_state_is_refused_or_the_damage_did_not_matter(place: int, flipped: int) -> None:
    damaged = bytearray(STATE)
    damaged[place] ^= flipped
    try:
        loaded = Orderer.load(bytes(damaged))
    except ValueError:
        return
    assert loaded.dump() == STATE


@unhurried
@given(st.integers(0, len(STATE) - 1))
def test_a_state_that_was_cut_off_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match=r"."):
        Orderer.load(STATE[:length])


def rewritten(told: dict[str, Any] | list[Any] | None = None, **arrays: Any) -> bytes:
    """The state with other entries; None leaves an array out."""
    with np.load(io.BytesIO(STATE)) as kept:
        every = dict(kept)
    if isinstance(told, dict):
        told = json.loads(every["told"].tobytes()) | told
    if told is not None:
        every["told"] = np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)
    every = {name: array for name, array in (every | arrays).items() if array is not None}
    file = io.BytesIO()
    np.savez_compressed(file, **every)
    return file.getvalue()


def test_the_state_can_be_rewritten() -> None:
    assert Orderer.load(rewritten()).dump() == STATE
    assert Orderer.load(rewritten({"sheets": 7})).sheets == 7


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(rewritten({"version": VERSION - 1}), id="an older version"),
        pytest.param(rewritten({"version": VERSION + 1}), id="a newer version"),
        pytest.param(rewritten({"experts": {"whole run": ["coin"]}}), id="other experts"),
        pytest.param(rewritten(["version"]), id="no mapping"),
        pytest.param(rewritten({"tests": ["t0"]}), id="too few tests"),
        pytest.param(rewritten({"versions": []}), id="versions of nothing"),
        pytest.param(rewritten({"incidents": [[0.5, 1, 1, 1]]}), id="other incidents"),
        pytest.param(rewritten(told=None, column_flakes=None), id="a column is missing"),
        pytest.param(rewritten(told=None, column_luck=np.zeros(6)), id="a column too many"),
        pytest.param(rewritten(told=None, losses_budget=None), id="no losses"),
        pytest.param(rewritten(told=None, losses_budget=np.zeros(2)), id="losses of other experts"),
        pytest.param(rewritten(told=None, hazard_ran=np.zeros(2)), id="other kinds"),
    ],
)
def test_another_version_is_refused(state: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        Orderer.load(state)


def test_dumping_changes_nothing() -> None:
    orderer = Orderer.load(STATE)
    assert orderer.dump() == orderer.dump() == STATE
