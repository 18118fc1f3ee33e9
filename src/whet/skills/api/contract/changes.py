"""One thing that a newer contract promises differently."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

# The values allowed became fewer, more, both or neither.
Way = Literal["narrowed", "widened", "changed", "added"]


@dataclass(frozen=True, slots=True)
class Change:
    """Breaking is what a caller could send, or count on, before and no longer can."""

    kind: str  # "parameter-added", "property-removed", "type-narrowed", …
    breaking: bool
    operation: str  # its id in the newer contract, in the older where it is gone; "" for the contract as a whole
    sentence: str


class Shift(NamedTuple):
    """How the values that a schema allows have changed. Whether that breaks depends on who has to cope with it."""

    kind: str
    way: Way
    said: str  # "can no longer be null"
    place: str = ""  # below where the comparison began: ".owner.name", "[]"


def as_changes(shifts: Iterable[Shift], operation: str, where: str, sent: bool) -> Iterator[Change]:
    """A service may accept more than before and answer less than before; `sent` says that it accepts here."""
    harmless: Way = "widened" if sent else "narrowed"
    for shift in shifts:
        breaking = shift.way not in (harmless, "added")
        place = f"{where}, {shift.place.removeprefix('.')}" if shift.place else where
        yield Change(shift.kind, breaking, operation, f"{place} {shift.said}.")
