"""Names of tests and files, kept once and numbered from 1."""

from array import array
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, func, select

from whet.store.escapes import digest_of
from whet.store.sheet_schema import names

_BATCH = 500


class Numbering:
    """Turns places in a list of names into the numbers of those names, for one transaction that writes.

    New names get the next numbers; writers take turns, so nobody else takes the same.
    """

    def __init__(self, connection: Connection, listed: Sequence[str]) -> None:
        self._connection = connection
        self._listed = listed
        self._numbers: dict[int, int] = {}

    def of(self, places: Iterable[int]) -> "array[int]":
        wanted = array("i", places)
        unknown = [place for place in dict.fromkeys(wanted) if place not in self._numbers]
        if unknown:
            found = numbered(self._connection, [self._listed[place] for place in unknown])
            self._numbers.update((place, found[self._listed[place]]) for place in unknown)
        return array("i", map(self._numbers.__getitem__, wanted))


def numbered(connection: Connection, wanted: Iterable[str]) -> dict[str, int]:
    """The number of each name; those without one get it now, in this order."""
    digests = {name: digest_of(name) for name in dict.fromkeys(wanted)}
    known = known_numbers(connection, digests)
    highest = connection.execute(select(func.coalesce(func.max(names.c.number), 0))).scalar_one()
    new = {name: highest + place for place, name in enumerate((n for n in digests if n not in known), start=1)}
    if new:
        rows = [{"number": number, "digest": digests[name], "name": name} for name, number in new.items()]
        connection.execute(names.insert(), rows)
    return known | new


def known_numbers(connection: Connection, digests: Mapping[str, str]) -> dict[str, int]:
    """By name, the numbers of those that have one; `digests` by name."""
    by_digest = {digest: name for name, digest in digests.items()}
    wanted = list(by_digest)
    found: dict[str, int] = {}
    for start in range(0, len(wanted), _BATCH):
        query = select(names.c.digest, names.c.number).where(names.c.digest.in_(wanted[start : start + _BATCH]))
        found.update((by_digest[digest], number) for digest, number in connection.execute(query))
    return found


class NameBook:
    """Reads names by number, each once per picture."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._names: dict[int, str] = {}

    def of(self, numbers: Sequence[int]) -> list[str]:
        try:
            return list(map(self._names.__getitem__, numbers))
        except KeyError:
            self._load([number for number in numbers if number not in self._names])
            return list(map(self._names.__getitem__, numbers))

    def _load(self, missing: Sequence[int]) -> None:
        """As a range: names met together were mostly numbered together."""
        wanted = names.c.number.between(min(missing), max(missing))
        query = select(names.c.number, names.c.name).where(wanted)
        self._names.update((number, name) for number, name in self._connection.execute(query))
