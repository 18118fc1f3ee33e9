"""What a replay refuses, and that nothing has changed then."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.policies.deep.replay.replay_items import SCHEMA, filled, items

from whet.core.errors import RefusedInput
from whet.policies.deep.replay import Column, Replay, Schema

PLACES = np.array([0, 1])
WITH_NAN = np.array([[np.nan, 0, 0]], dtype=np.float32)

BATCHES: dict[str, Any] = {
    "a column is missing": {name: column for name, column in items(1).items() if name != "done"},
    "a column too many": items(1) | {"colour": np.zeros(1)},
    "no array": items(1) | {"reward": [0.5]},
    "no array comes first": items(1) | {"state": [[0.5, 0.5, 0.5]]},
    "another type": items(1) | {"reward": np.zeros(1, dtype=np.float32)},
    "a whole number for a truth value": items(1) | {"done": np.zeros(1, dtype=np.int8)},
    "another shape": items(1) | {"state": np.zeros((1, 4), dtype=np.float32)},
    "no rows": items(1) | {"state": np.float32(1.0).reshape(())},
    "columns of unequal length": items(1, 2) | {"action": np.zeros(3, dtype=np.int32)},
    "not a number": items(1) | {"state": WITH_NAN},
    "infinite": items(1) | {"reward": np.array([-np.inf])},
    "more than the capacity": items(*range(5)),
}

CALLS: dict[str, Callable[[Replay], Any]] = {
    "NaN": lambda replay: replay.update(PLACES, np.array([1.0, np.nan])),
    "infinity": lambda replay: replay.update(PLACES, np.array([1.0, np.inf])),
    "minus infinity": lambda replay: replay.update(PLACES, np.array([-np.inf, 1.0])),
    "a sum that is not finite": lambda replay: replay.update(PLACES, np.array([1e300, 1.0])),
    "fewer errors than places": lambda replay: replay.update(PLACES, np.array([1.0])),
    "errors as a column": lambda replay: replay.update(PLACES, np.ones((2, 1))),
    "whole numbers as errors": lambda replay: replay.update(PLACES, np.array([1, 2])),
    "errors as a list": lambda replay: replay.update(PLACES, [1.0, 2.0]),  # type: ignore[arg-type]
    "places as floats": lambda replay: replay.update(np.array([0.0]), np.array([1.0])),
    "no places": lambda replay: replay.update(PLACES[:0], np.empty(0)),
    "a negative place": lambda replay: replay.update(np.array([-1]), np.array([1.0])),
    "a place that holds nothing": lambda replay: replay.update(np.array([3]), np.array([1.0])),
    "sampling none": lambda replay: replay.sample(0),
    "sampling fewer than none": lambda replay: replay.sample(-1),
    "more than it holds": lambda replay: replay.sample(4, replacement=False),
    "annealing too far": lambda replay: replay.anneal(1.1),
    "annealing to nowhere": lambda replay: replay.anneal(float("nan")),
}


def _traces(replay: Replay) -> Any:
    """All of what a replay is: its arrays and its random state."""
    arrays = {name: column.tobytes() for name, column in replay._columns.items()}
    tree = (replay._tree._masses.tobytes(), replay._tree._ends.tobytes())
    return arrays, tree, replay._random.bit_generator.state, len(replay), replay._next, replay._largest, replay.beta


def _assert_refused(replay: Replay, call: Callable[[Replay], Any]) -> None:
    before = _traces(replay)
    with pytest.raises(RefusedInput, match="nothing was changed") as refused:
        call(replay)
    assert refused.value.remedy
    assert _traces(replay) == before


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES)
def test_items_that_do_not_fit(batch: Any) -> None:
    _assert_refused(filled(3, 4), lambda replay: replay.add(batch))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_calls_that_make_no_sense(call: Callable[[Replay], Any]) -> None:
    _assert_refused(filled(3, 4), call)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_large_numbers_are_finite_and_taken(dtype: str) -> None:
    """Their squares are not."""
    replay = Replay(Schema((Column("x", dtype, (2,)),)), 4)
    largest = np.full((3, 2), np.finfo(dtype).max, dtype=dtype)
    replay.add({"x": largest})
    np.testing.assert_array_equal(replay.sample(1).columns["x"], largest[:1])
    _assert_refused(replay, lambda same: same.add({"x": np.where([[True, False]], -np.inf, largest).astype(dtype)}))


def test_sampling_from_an_empty_replay() -> None:
    _assert_refused(Replay(SCHEMA, 4), lambda replay: replay.sample(1))


def test_errors_of_either_sign_count_by_their_size() -> None:
    replay = filled(2)
    replay.update(PLACES, np.array([-3.0, 3.0], dtype=np.float32))
    np.testing.assert_array_equal(replay.sample(2, replacement=False).weights, [1.0, 1.0])


@pytest.mark.parametrize(
    "settings",
    [{"capacity": 0}, {"alpha": -0.1}, {"alpha": float("nan")}, {"beta": 1.5}, {"seed": -1}],
    ids=str,
)
def test_settings_that_make_no_sense(settings: Any) -> None:
    with pytest.raises(RefusedInput):
        Replay(SCHEMA, **({"capacity": 4} | settings))


@pytest.mark.parametrize(
    "columns",
    [
        [],
        [("x", "float32"), ("x", "float32")],
        [("mass", "float64")],
        [("../x", "float32")],
        [("x", "object")],
        [("x", "U8")],
        [("x", "float32", (0,))],
    ],
    ids=str,
)
def test_schemas_that_make_no_sense(columns: Any) -> None:
    with pytest.raises(RefusedInput, match="schema"):
        Schema(tuple(Column(*column) for column in columns))


def test_a_folder_without_a_replay(tmp_path: Path) -> None:
    with pytest.raises(RefusedInput, match=r"There is no replay in .*replay\.json"):
        Replay.open(tmp_path / "nowhere")
