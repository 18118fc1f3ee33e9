"""Validation errors as sentences: where it stands, what was given, what is allowed, what to do."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from whet.core.errors import WhetError
from whet.core.text import printable
from whet.settings.keys import keys, names, sections

# How a table is named to the user; the top one is "".
Heading = Callable[[str], str]


def refusal(error: ValidationError, heading: Heading) -> WhetError:
    """One error that names every problem, each on a line of its own."""
    return WhetError("\n".join(_sentence(detail, heading) for detail in error.errors()))


def no_such_key(name: str, candidates: Iterable[str]) -> str:
    """What to say of an unknown key."""
    allowed = sorted(candidates)
    near = get_close_matches(name, allowed, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"The keys are: {', '.join(allowed)}."
    return f"there is no key {printable(name, 80)!r}. {hint}"


def _sentence(detail: ErrorDetails, heading: Heading) -> str:
    table, name = _place(detail["loc"])
    where = heading(table)
    if detail["type"] == "extra_forbidden":
        return f"{where}: {no_such_key(name, names(table))}"
    if detail["type"] == "value_error":  # a rule about several keys: the location is the table
        where = heading(name)
        return f"{where}: {detail['msg'].removeprefix('Value error, ')}"
    given = printable(_as_written(detail["input"]), 80)
    return f"{where}: {printable(name, 80)} is {given}. It must be {_allowed(table, name)}."


def _place(location: tuple[int | str, ...]) -> tuple[str, str]:
    """The table and key an error is about."""
    steps = [str(step) for step in location]
    if steps[0] not in sections():
        return "", ".".join(steps)
    return (steps[0], ".".join(steps[1:])) if len(steps) > 1 else ("", steps[0])


def _allowed(table: str, name: str) -> str:
    for key in keys():
        if (key.table, key.name) == (table, name.split(".")[0]):
            return key.allowed
    return "a table"


def _as_written(value: Any) -> str:
    """A value roughly as TOML and JSON write it."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case _:
            return str(value)
