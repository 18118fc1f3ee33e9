"""Learning settings of other fleets: camelCase JSON, flat or in tables, becomes [tool.whet]."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from pydantic import ValidationError

from whet.core.errors import WhetError
from whet.core.text import printable
from whet.settings.keys import keys
from whet.settings.model import Settings
from whet.settings.problems import no_such_key, refusal

# Where a key's new name is not just its old one in snake case.
_RENAMED: Final = {
    "enabled": "learning",
    "learningRate": "q_learning.learning_rate",
    "discountFactor": "q_learning.discount_factor",
    "explorationRate": "q_learning.initial_epsilon",
    "explorationDecay": "q_learning.epsilon_decay",
    "minExplorationRate": "q_learning.min_epsilon",
    "targetImprovement": "convergence.target_improvement",
    "maxMemorySize": "experience_replay.max_memory_bytes",
    "batchSize": "experience_replay.batch_size",
    "updateFrequency": "experience_replay.update_frequency",
    "replayBufferSize": "experience_replay.buffer_size",
    "hierarchicalLearning.aggregationInterval": "hierarchical_learning.aggregation_interval_seconds",
    "convergence.checkInterval": "convergence.check_interval_seconds",
    "teamLearning.syncInterval": "team_learning.sync_interval_seconds",
}
# Known and left out: every candidate is kept whole, so that what one can go back to needs no copying by the clock.
_NEEDLESS: Final = ("production.snapshotInterval",)

_TABLES: Final = (
    "q_learning",
    "experience_replay",
    "hierarchical_learning",
    "transfer_learning",
    "convergence",
    "production",
    "team_learning",
)


def parse_s2(text: str) -> dict[str, Any]:
    """`import_s2` from JSON text; NaN, infinities and a key given twice are refused."""
    try:
        data = json.loads(text, object_pairs_hook=_once_each, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise WhetError(
            f"This is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}.", "Correct that line."
        ) from error
    except RecursionError as error:
        raise WhetError("This JSON is nested too deeply.", "Settings have at most one level of tables.") from error
    if not isinstance(data, dict):
        raise WhetError("This JSON is not an object.", 'Give one such as {"learningRate": 0.1}.')
    return import_s2(data)


def import_s2(data: dict[str, Any]) -> dict[str, Any]:
    """The tables of [tool.whet] for camelCase settings; every key must have a place, every value must be allowed."""
    tables: dict[str, Any] = {}
    for old, value in _leaves(data):
        if old not in _NEEDLESS:
            _put(tables, old, value)
    try:
        Settings.model_validate(tables)
    except ValidationError as error:
        raise refusal(error, lambda table: f"The value for [{'.'.join(['tool.whet', table]).rstrip('.')}]") from error
    return tables


def _leaves(data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in data.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", each) for inner, each in value.items())
        else:
            yield name, value


def _put(tables: dict[str, Any], old: str, value: Any) -> None:
    table, _, name = _new_path(old).rpartition(".")
    target = tables.setdefault(table, {}) if table else tables
    if name in target and target[name] != value:
        raise WhetError(
            f"{old} says {value}, but another key already set {name} to {target[name]}.", "Keep one of the two."
        )
    target[name] = value


def _new_path(old: str) -> str:
    new = _RENAMED.get(old) or re.sub(r"(?<=[a-z])([A-Z])", r"_\1", old).lower()
    if new not in _homes():
        raise WhetError(f"In the JSON {no_such_key(old, _old_names())}")
    return new


def _homes() -> set[str]:
    """The keys that these files may set: those of the learning tables, and whether to learn at all."""
    return {key.path for key in keys() if key.table in _TABLES} | {"learning"}


def _old_names() -> list[str]:
    respelled = {"learning"} | {new for old, new in _RENAMED.items() if "." in old}
    return [*_RENAMED, *(_camel(path) for path in _homes() - respelled)]


def _camel(path: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), path)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    counts = Counter(name for name, _ in pairs)
    for name, count in counts.items():
        if count > 1:
            raise WhetError(f"The key {printable(name, 80)!r} is given {count} times.", "Keep one of them.")
    return dict(pairs)


def _refuse_constant(constant: str) -> NoReturn:
    raise WhetError(f"A value is {constant}.", "Give a finite number.")
