"""Sending again what led to a suspicion: only the steps it needs, with the names of what is created anew."""

import math
import random
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from whet.skills.api.contract.model import Operation, Schema
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import NO_BODY, Draft, Exchange
from whet.skills.api.faults import Kind
from whet.skills.api.oracles.flows import flows, rebound, told_texts
from whet.skills.api.oracles.resting import Noun, named
from whet.skills.api.oracles.slots import Place, enumerated, placed, schema_at, slots
from whet.skills.api.renaming import other_name

Send = Callable[[Draft], Exchange]
SEMANTIC = frozenset({Kind.READ_AFTER_DELETE, Kind.LOST_UPDATE, Kind.NOT_CREATED})
_CONFLICT = 409
GONE = frozenset({404, 410})
_TAKEN = frozenset({400, _CONFLICT, 422})
_READS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_ROOM = 10_000
_FIXED = frozenset({"enum", "const", "format"})
_SHORTEST = 3  # characters of what may be a name; below there are codes of countries and the like


class Spent(Exception):
    """The requests handed in are used up."""


class Ended(Exception):
    """For whoever sends, when nothing can be sent any more; what was seen by then stays."""


class Purse:
    """Sends while requests are left, and while none takes longer than there is patience for."""

    def __init__(self, send: Send, requests: int) -> None:
        self._send = send
        self.left = requests
        self.patience_seconds = math.inf
        self._longest = 0.0

    def send(self, draft: Draft) -> Exchange:
        if self.left <= 0 or self._longest > self.patience_seconds:
            raise Spent
        self.left -= 1
        started = time.monotonic()
        exchange = self._send(draft)
        self._longest = max(self._longest, time.monotonic() - started)
        return exchange


def needed(kind: Kind, steps: Sequence[Exchange], also: Collection[int] = ()) -> tuple[int, ...]:
    """The steps before the last that it rests on, in their order, with those in `also` and what they rest on.

    Those whose answers it was made of, those that put its path or a parent of it there under a name the client chose,
    and, where the suspicion is about a sequence, what else was done at the same path.
    """
    last = len(steps) - 1
    wanted, open_steps = {*_for_kind(kind, steps), *also}, [last]
    open_steps += wanted
    while open_steps:
        step = open_steps.pop()
        new = ({flow.source for flow in flows(steps, step)} | set(put_there(steps, step))) - wanted
        wanted |= new
        open_steps += new
    return tuple(sorted(wanted))


def other_writes(steps: Sequence[Exchange], numbers: Collection[int]) -> tuple[list[int], list[int]]:
    """What else was done before the last step: to the thing it names, and to any. The fault may lie in that state."""
    before, thing = range(len(steps) - 1), _thing(steps[-1])
    done = [one for one in before if steps[one].ok and steps[one].request.method not in _READS and one not in numbers]
    return [one for one in done if thing and _thing(steps[one]) == thing], done


def _thing(exchange: Exchange) -> str:
    """The path up to the last thing it names; empty where it names none."""
    behind = exchange.operation.path.rstrip("/").rpartition("}")[2].count("/")
    return _path(exchange).rsplit("/", behind)[0] if "}" in exchange.operation.path else ""


def _for_kind(kind: Kind, steps: Sequence[Exchange]) -> list[int]:
    *before, last = steps
    if kind in SEMANTIC:
        there = [number for number, step in enumerate(before) if _path(step) == _path(last) and step.ok]
        ends = [number for number in there if steps[number].operation.method == "DELETE"]
        # Once deleted, it should be gone: what was done to it afterwards should not have worked.
        return [number for number in there if not ends or number < ends[0]] + ends[-1:]
    if kind is Kind.VALID_REFUSED:
        works = [number for number, step in enumerate(before) if step.ok and step.operation.id == last.operation.id]
        return works[-1:]
    return []


def put_there(steps: Sequence[Exchange], step: int) -> list[int]:
    """The steps that put this one's path, or a parent of it, there under a name the client chose."""
    path = _path(steps[step])
    put = [number for number in range(step) if steps[number].ok and steps[number].operation.method == "PUT"]
    latest = {_path(steps[number]): number for number in put}
    if steps[step].operation.method == "PUT" or steps[step].response.status in GONE:
        latest.pop(path, None)  # it needs nobody to put it there, or it was not there any more
    return [number for there, number in latest.items() if path == there or path.startswith(f"{there}/")]


def _path(exchange: Exchange) -> str:
    return exchange.request.target.partition("?")[0].rstrip("/")


class Replay:
    """Plays some of the steps again; `steps` are the exchanges as they were the first time."""

    def __init__(self, schemas: Schemas, steps: Sequence[Exchange], purse: Purse, known: Collection[Noun] = ()) -> None:
        """`known`: what the things of the service are called."""
        self._schemas, self._known = schemas, known
        self.steps = steps
        self._purse = purse
        self._flows = [flows(steps, number) for number in range(len(steps))]
        self.fresh: dict[int, Exchange] = {}

    def play(self, numbers: Sequence[int]) -> tuple[Exchange, ...]:
        """These steps and the last one."""
        self.fresh = {}
        for number in (*numbers, len(self.steps) - 1):
            self.fresh[number] = self._again(number)
        return tuple(self.fresh.values())

    def play_deleted(self, numbers: Sequence[int], deletes: Operation) -> tuple[Exchange, ...]:
        """The same, but what the last one names is deleted before."""
        self.fresh = {}
        for number in numbers:
            self.fresh[number] = self._again(number)
        last = len(self.steps) - 1
        path = rebound(self.steps[last].draft, self._flows[last], self.fresh).path
        deleted = self._purse.send(Draft(deletes, path=path))
        before = tuple(self.fresh.values())
        self.fresh[last] = self._again(last)
        return (*before, deleted, self.fresh[last])

    def sparingly(self, requests: int, seconds: float) -> None:
        """From here on: each may cost a service its life, and nobody waits long for its return."""
        self._purse.left = min(self._purse.left, requests)
        self._purse.patience_seconds = seconds

    def last_with(self, draft: Draft) -> Exchange:
        """The last step as another draft, after the steps that were played."""
        return self._sent(draft, self.steps[-1], self.bound())

    def bound(self) -> frozenset[tuple[str | int, ...]]:
        """The places of the last draft that name what was created before it."""
        return frozenset(flow.place for flow in self._flows[-1])

    def rests(self, number: int) -> bool:
        """Whether a step's path names a thing that no step made: one that was there, or its name in other letters; or
        whether it worked by a reference or a version that no step told."""
        draft, bound = self.steps[number].draft, {flow.place for flow in self._flows[number]}
        if self.steps[number].ok and any(place not in bound for place in named(draft, self._known)):
            return True
        texts = [
            str(value)
            for name, value in draft.path.items()
            if ("path", name) not in bound
            and not enumerated(schema_at(self._schemas, draft, ("path", name)) or {}, value)
        ]
        if put_there(self.steps, number) or draft.operation.method == "PUT" or not texts:
            return False
        made_up = number == len(self.steps) - 1 and draft.mutation is not None
        return not made_up or any(text.casefold() in told_texts(self.steps[:number]) for text in texts)

    def _again(self, number: int) -> Exchange:
        first = self.steps[number]
        draft = rebound(first.draft, self._flows[number], self.fresh)
        if number < len(self.steps) - 1:
            draft = _plain(draft)
        return self._sent(draft, first, [flow.place for flow in self._flows[number]])

    def _sent(self, draft: Draft, first: Exchange, fixed: Collection[Place]) -> Exchange:
        """The first time may have taken the name; even one that it had from another answer."""
        exchange = self._purse.send(draft)
        if first.ok and may_be_taken(exchange):
            fresh = renamed(self._schemas, draft, f"{exchange.number}", fixed)
            exchange = exchange if fresh is draft else self._purse.send(fresh)
        if first.ok and fixed and exchange.response.status == _CONFLICT and may_be_taken(exchange):
            fresh = renamed(self._schemas, draft, f"{exchange.number}")
            exchange = exchange if fresh is draft else self._purse.send(fresh)
        return exchange


def _plain(draft: Draft) -> Draft:
    """What somebody tried in passing made nothing: added headers, another way to write the same body."""
    return replace(draft, extra=(), raw=draft.raw if draft.body is NO_BODY else None)


def may_be_taken(exchange: Exchange) -> bool:
    """Refused as what has a name that is taken is refused."""
    return exchange.response.status in _TAKEN and exchange.operation.method in ("POST", "PUT")


def renamed(schemas: Schemas, draft: Draft, mark: str, fixed: Collection[Place] = ()) -> Draft:
    """The same thing under names that were not used yet; the very draft where there is none to change."""
    made, dice = draft, random.Random(mark)  # noqa: S311 - the same mark gives the same names
    for place, value in names(schemas, draft).items():
        if place not in fixed:
            made = placed(made, place, other_name(value, dice))
    return made


def names(schemas: Schemas, draft: Draft) -> dict[Place, str]:
    """The texts of a body that may be names, for the contract does not say what they must be."""
    texts = {place: value for place, value in slots(draft).items() if place[0] == "body" and isinstance(value, str)}
    return {place: value for place, value in texts.items() if _free(schema_at(schemas, draft, place), value)}


def _free(schema: Schema | None, value: str) -> bool:
    """Any text like it may stand here, and this one is not here to be too short or too long."""
    if schema is None or not _SHORTEST <= len(value) <= schema.get("maxLength", _ROOM):
        return False
    return _FIXED.isdisjoint(schema) or schema.get("format") == "email"
