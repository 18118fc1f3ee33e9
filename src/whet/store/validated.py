"""The last look at a record before it reaches the tables."""

from typing import TypeVar

from pydantic import ValidationError

from whet.core.errors import RefusedInput
from whet.core.records import Record

R = TypeVar("R", bound=Record)


def validated(record: R) -> R:
    """`record` checked again: `model_copy` and `model_construct` go past the checks of its fields."""
    try:
        return type(record).model_validate(record.model_dump(warnings=False))
    except ValidationError as error:
        reasons = "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {each['msg']}, given {each['input']!r:.60}" for each in error.errors()
        )
        raise RefusedInput(
            f"A {type(record).__name__} was refused, and nothing was changed: {reasons}.",
            "Correct the values where they are measured.",
        ) from None
