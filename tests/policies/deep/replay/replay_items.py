"""Items for the tests of the replay: each carries a number in every column, so that mixed-up columns show."""

from typing import Any

import numpy as np

from whet.policies.deep.replay import Column, Replay, Schema

SCHEMA = Schema(
    (
        Column("state", "float32", (3,)),
        Column("action", "int32"),
        Column("reward", "float64"),
        Column("done", "bool"),
        Column("mask", "bool", (2, 2)),
    )
)


def items(*numbers: int) -> dict[str, Any]:
    each = np.array(numbers, dtype=np.int64)
    return {
        "state": np.repeat(each[:, None], 3, axis=1).astype(np.float32),
        "action": each.astype(np.int32),
        "reward": each / 2,
        "done": each % 2 == 1,
        "mask": np.repeat(each % 2 == 1, 4).reshape(-1, 2, 2),
    }


def assert_items(columns: dict[str, Any], numbers: Any) -> None:
    expected = items(*numbers)
    assert columns.keys() == expected.keys()
    for name, column in columns.items():
        assert column.dtype == expected[name].dtype, name
        np.testing.assert_array_equal(column, expected[name], err_msg=name)


def filled(held: int, capacity: int | None = None, **settings: Any) -> Replay:
    """Holds the numbers from 0, each in the place of that number, all with priority 1."""
    replay = Replay(SCHEMA, capacity or held, **settings)
    replay.add(items(*range(held)))
    return replay
