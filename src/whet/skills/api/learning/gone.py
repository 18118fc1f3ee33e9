"""What is gone, by its identities: other things may go on naming it, and whoever builds on that is refused."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from functools import lru_cache

from whet.skills.api.contract.model import Json
from whet.skills.api.learning.origins import identities
from whet.skills.api.learning.paths import noun
from whet.skills.api.names import is_identity, words

MOST = 1_000
_TELLING = 8  # characters: a text of so many is nobody else's, wherever it stands
_ANYBODY = ""


class Gone:
    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, Json], None] = OrderedDict()  # each with what the thing is called

    def add(self, kind: str, things: Iterable[Mapping[str, Json]], own: Json = None) -> frozenset[Json]:
        """All that these were known by; `own` is what a path called one of them."""
        values = {own} | {thing[name] for thing in things for name in identities(kind) if name in thing}
        values.discard(None)
        for value in values:
            self._remember(_called(kind), value)
        return frozenset(values)

    def add_named(self, field: str, value: Json) -> None:
        """Something named it, and it was not there."""
        for owner in (_ANYBODY,) if _tells(value) else _owners(field)[:1]:
            self._remember(owner, value)

    def is_back(self, kind: str, thing: Mapping[str, Json]) -> None:
        """It was shown, or somebody made it again under the same name."""
        for name in identities(kind) if self._known else ():
            if name in thing:
                self._known.pop(_key(_called(kind), thing[name]), None)

    def is_named(self, field: str, value: Json) -> bool:
        """Whether this value of this field is the identity of something that is gone. Asked very often."""
        if _tells(value):
            return (_ANYBODY, value) in self._known
        return any((owner, value) in self._known for owner in _owners(field))

    def _remember(self, owner: str, value: Json) -> None:
        self._known[_key(owner, value)] = None
        while len(self._known) > MOST:
            self._known.popitem(last=False)


def _key(owner: str, value: Json) -> tuple[str, Json]:
    """A number, or a short word, may be the identity of many things: it counts with what the thing is called."""
    return (_ANYBODY if _tells(value) else owner), value


def _tells(value: Json) -> bool:
    return isinstance(value, str) and len(value) >= _TELLING


@lru_cache(maxsize=20_000)
def _called(kind: str) -> str:
    return " ".join(words(noun(kind)))


@lru_cache(maxsize=20_000)
def _owners(field: str) -> tuple[str, ...]:
    """`parent_flow_id` is that of a parent flow, or of a flow."""
    named = words(field.rpartition(".")[2])
    about = named[:-1] if named and is_identity(named[-1]) else ()
    return tuple(" ".join(about[start:]) for start in range(len(about)))
