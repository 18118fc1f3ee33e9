"""What a newer contract promises differently from an older one, breaking changes named as such."""

import re
from collections.abc import Iterator

from whet.core.text import printable
from whet.skills.api.contract.changes import Change
from whet.skills.api.contract.comparing_messages import (
    answer_changes,
    body_changes,
    parameter_changes,
    security_changes,
)
from whet.skills.api.contract.comparing_schemas import Comparison
from whet.skills.api.contract.model import Contract, Operation
from whet.skills.api.contract.schemas import Schemas

_IN_TEMPLATE = re.compile(r"\{[^{}]*\}")


def compare(old: Contract, new: Contract) -> list[Change]:
    """Operation by operation, each change once; a contract does not differ from itself."""
    return list(dict.fromkeys(_changes(old, new)))


def _changes(old: Contract, new: Contract) -> Iterator[Change]:
    if old.base_path != new.base_path:
        said = f"The base path is {printable(new.base_path) or '/'}, was {printable(old.base_path) or '/'}."
        yield Change("base-path-changed", True, "", said)
    before, after = _by_shape(old), _by_shape(new)
    for shape, operation in before.items():
        if shape not in after:
            yield Change("operation-removed", True, operation.id, "it is gone.")
    sides = Schemas(old), Schemas(new)
    sent, received = Comparison(*sides, "request"), Comparison(*sides, "response")
    for shape, operation in after.items():
        if shape in before:
            yield from _operation(old, new, before[shape], operation, sent, received)
        else:
            yield Change("operation-added", False, operation.id, "it is new.")


def _by_shape(contract: Contract) -> dict[str, Operation]:
    """What a path's parameters are called makes no difference to a caller, unless two paths differ in that alone."""
    made: dict[str, Operation] = {}
    for operation in contract.operations:
        shape = _IN_TEMPLATE.sub("{}", operation.id)
        made[shape if shape not in made else operation.id] = operation
    return made


def _operation(
    old: Contract, new: Contract, before: Operation, after: Operation, sent: Comparison, received: Comparison
) -> Iterator[Change]:
    yield from parameter_changes(before, after, sent)
    yield from body_changes(before, after, sent)
    yield from answer_changes(before, after, received)
    yield from security_changes(old, new, before, after)
    if after.deprecated and not before.deprecated:
        yield Change("operation-deprecated", False, after.id, "it is deprecated now.")
