"""Kinds of values, exactly as strict as the contract says: nothing is coerced that JSON keeps apart."""

import re
from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints
from pydantic.json_schema import SkipJsonSchema

LARGEST_ID = 2**31 - 1
# Any character but controls. Lone surrogates are no characters, and pydantic refuses them by itself.
PRINTABLE = r"^[^\u0000-\u001F\u007F]*$"
DAY = r"^(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"


def _integral(value: Any) -> Any:
    """JSON Schema calls 1.0 an integer, so it is one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _written(value: Any) -> Any:
    """In a path or a query everything is text; only what JSON would write is a number: no "+1", "1_0" or " 1"."""
    if isinstance(value, str) and not re.fullmatch(r"-?(0|[1-9][0-9]{0,30})", value, re.ASCII):
        raise ValueError("is not an integer")
    return int(value)


def _flag(value: Any) -> Any:
    if value not in ("true", "false", True, False):
        raise ValueError("is neither true nor false")
    return value in ("true", True)


def _existing_day(value: str) -> str:
    date.fromisoformat(value)
    return value


# A parameter may be absent, but no address, header or cookie can hold a null: the contract does not offer one.
Absent = SkipJsonSchema[None]
# These come after the bounds in an annotation: pydantic describes only what stands next to the type.
INTEGRAL, WRITTEN = BeforeValidator(_integral), BeforeValidator(_written)
WrittenFlag = Annotated[bool, BeforeValidator(_flag)]
Flag = Annotated[bool, Field(strict=True)]
Day = Annotated[
    str, StringConstraints(strict=True, pattern=DAY), AfterValidator(_existing_day),
    Field(json_schema_extra={"format": "date"}, examples=["2024-05-17"]),
]  # fmt: skip
Line = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=80, pattern=PRINTABLE)]
Paragraph = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=500, pattern=PRINTABLE)]
Id = Annotated[int, Field(strict=True, ge=1, le=LARGEST_ID), INTEGRAL]
WrittenId = Annotated[int, Field(ge=1, le=LARGEST_ID), WRITTEN]
Limit = Annotated[int, Field(ge=1, le=100), WRITTEN]
Offset = Annotated[int, Field(ge=0, le=LARGEST_ID), WRITTEN]
