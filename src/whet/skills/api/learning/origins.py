"""Where things came from, and what was done to them since, so that a finding can be seen on a service started anew.

A thing is often met in a list, long after somebody made it: its story is that of the request that made it, and of what
that one needed. And some faults lie in what was done to it meanwhile: a loan that was returned, a book that is gone.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.learning.paths import collection_of, noun, prefixes
from whet.skills.api.names import words

Story = tuple[Exchange, ...]
Key = int | tuple[str, str]
MOST = 1_000  # things
LONGEST = 12
_REMEMBERED = 3  # writes to each thing
# The first that a thing has is its own; the part before may be an envelope or what we had sent.
_NAMES = ("name", "key", "slug", "data.name", "sent.name")
_IDENTITIES = ("id", "uuid", "_id", "data.id", "location", "sent.id", *_NAMES)
READS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class Origins:
    def __init__(self) -> None:
        self._made: OrderedDict[tuple[str, str], Story] = OrderedDict()  # by kind and identity
        self._since: OrderedDict[Key, deque[Story]] = OrderedDict()  # by the request that made it

    def made(self, kind: str, fields: Mapping[str, Json], own: Json, story: Story) -> None:
        """`own` is the name that the client chose, where a PUT made it. One that changes what is known made nothing."""
        known = _identities(kind, {name: value for name, value in fields.items() if name not in _NAMES})
        told = list(known) or list(_identities(kind, fields))  # two things may have one name, where they have ids
        names = [(kind, identity) for identity in (*told, *(() if own is None else (str(own),)))]
        if own is None or not any(name in self._made for name in names):
            self._made |= dict.fromkeys(names, story)
        while len(self._made) > MOST:
            self._made.popitem(last=False)

    def of(self, kind: str, fields: Mapping[str, Json], shown: Story) -> Story:
        """The story of a thing from the ground; as it was shown where nobody here made it."""
        known = (self._made.get((kind, identity)) for identity in _identities(kind, fields))
        return next((story for story in known if story), shown)

    def of_path(self, draft: Draft) -> Iterator[Exchange]:
        """The requests that made what a path names, and those that led to them."""
        for prefix, name in prefixes(draft.operation.path):
            yield from self._made.get((collection_of(prefix), str(draft.path.get(name))), ())

    def wrote(self, exchange: Exchange, things: Iterable[Key], whole: Story) -> None:
        """A write that worked, to these things; `whole` is its own story."""
        for thing in things if exchange.ok and exchange.operation.method not in READS else ():
            self._since.setdefault(thing, deque(maxlen=_REMEMBERED)).append(whole)
            self._since.move_to_end(thing)
        while len(self._since) > MOST:
            self._since.popitem(last=False)

    def with_since(self, story: Story, things: Iterable[Key]) -> Story:
        """The story, and what was done since to the things in it: the latest first, as far as there is room."""
        keys = dict.fromkeys((*things, *(step.number for step in story)))
        writes = [write for key in keys for write in self._since.get(key, ())]
        steps = {step.number: step for step in story}
        for write in sorted(writes, key=lambda steps: -steps[-1].number):
            more = steps | {step.number: step for step in write}
            if len(more) <= LONGEST:
                steps = more
        return tuple(steps[number] for number in sorted(steps))


def key(kind: str, fields: Mapping[str, Json], story: Story) -> Key:
    """A thing is known by the request that made it; one that was only met in a list, by its name."""
    if story and story[-1].operation.method not in READS:
        return story[-1].number
    return kind, next(_identities(kind, fields), "")


def is_made(kind: str, story: Story) -> bool:
    """By a request of this run, or under something that was, rather than there before. A change makes nothing; nor does
    a PUT to what somebody had seen."""
    seen = False
    for step in story:
        made = collection_of(step.operation.path)
        if kind == made or kind.startswith(made.rstrip("/") + "/"):
            method = step.operation.method
            if method == "POST" or (method == "PUT" and not seen):
                return True
            seen |= method in READS and kind == made
    return False


@lru_cache(maxsize=20_000)
def identities(kind: str) -> tuple[str, ...]:
    """The fields by which a thing is known: the usual ones; and of /desks `desk_id`, too."""
    own = words(noun(kind))
    camel = "".join((*own[:1], *(word.capitalize() for word in own[1:]))) + "Id"
    return ("_".join((*own, "id")), camel, *_IDENTITIES) if own else _IDENTITIES


def _identities(kind: str, fields: Mapping[str, Json]) -> Iterator[str]:
    return (str(fields[name]) for name in identities(kind) if name in fields)
