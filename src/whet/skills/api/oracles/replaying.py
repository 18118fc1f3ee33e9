"""Sending again what led to a suspicion: only the steps it needs, with the names of what is created anew."""

from collections.abc import Callable, Collection, Sequence

from whet.skills.api.contract.model import Schema
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Kind
from whet.skills.api.oracles.flows import flows, rebound
from whet.skills.api.oracles.slots import Place, placed, schema_at, slots

Send = Callable[[Draft], Exchange]
SEMANTIC = frozenset({Kind.READ_AFTER_DELETE, Kind.LOST_UPDATE, Kind.NOT_CREATED})
_TAKEN = frozenset({400, 409, 422})
_ROOM = 10_000
_FIXED = frozenset({"enum", "const", "pattern", "format"})


class Spent(Exception):
    """The requests handed in are used up."""


class Purse:
    """Sends while requests are left."""

    def __init__(self, send: Send, requests: int) -> None:
        self._send = send
        self.left = requests

    def send(self, draft: Draft) -> Exchange:
        if self.left <= 0:
            raise Spent
        self.left -= 1
        return self._send(draft)


def needed(kind: Kind, steps: Sequence[Exchange]) -> tuple[int, ...]:
    """The steps before the last that it rests on, in their order.

    Those whose answers it was made of, those that put its path or a parent of it there under a name the client chose,
    and, where the suspicion is about a sequence, what else was done at the same path.
    """
    last = len(steps) - 1
    wanted, open_steps = set(_for_kind(kind, steps)), [last]
    open_steps += wanted
    while open_steps:
        step = open_steps.pop()
        new = ({flow.source for flow in flows(steps, step)} | set(put_there(steps, step))) - wanted
        wanted |= new
        open_steps += new
    return tuple(sorted(wanted))


def _for_kind(kind: Kind, steps: Sequence[Exchange]) -> list[int]:
    *before, last = steps
    if kind in SEMANTIC:
        return [number for number, step in enumerate(before) if _path(step) == _path(last) and step.ok]
    if kind is Kind.VALID_REFUSED:
        works = [number for number, step in enumerate(before) if step.ok and step.operation.id == last.operation.id]
        return works[-1:]
    return []


def put_there(steps: Sequence[Exchange], step: int) -> list[int]:
    """The steps that put this one's path, or a parent of it, there under a name the client chose."""
    path = _path(steps[step])
    put = [number for number in range(step) if steps[number].ok and steps[number].operation.method == "PUT"]
    latest = {_path(steps[number]): number for number in put}
    if steps[step].operation.method == "PUT":
        latest.pop(path, None)  # it needs nobody to put it there
    return [number for there, number in latest.items() if path == there or path.startswith(f"{there}/")]


def _path(exchange: Exchange) -> str:
    return exchange.request.target.partition("?")[0].rstrip("/")


class Replay:
    """Plays some of the steps again; `steps` are the exchanges as they were the first time."""

    def __init__(self, schemas: Schemas, steps: Sequence[Exchange], purse: Purse) -> None:
        self._schemas = schemas
        self.steps = steps
        self._purse = purse
        self._flows = [flows(steps, number) for number in range(len(steps))]
        self._round = 0
        self.fresh: dict[int, Exchange] = {}

    def play(self, numbers: Sequence[int]) -> tuple[Exchange, ...]:
        """These steps and the last one."""
        self.fresh = {}
        self._round += 1
        for number in (*numbers, len(self.steps) - 1):
            self.fresh[number] = self._again(number)
        return tuple(self.fresh.values())

    def last_with(self, draft: Draft) -> Exchange:
        """The last step as another draft, after the steps that were played."""
        self._round += 1
        return self._sent(draft, self.steps[-1])

    def bound(self) -> frozenset[tuple[str | int, ...]]:
        """The places of the last draft that name what was created before it."""
        return frozenset(flow.place for flow in self._flows[-1])

    def _again(self, number: int) -> Exchange:
        first = self.steps[number]
        draft = rebound(first.draft, self._flows[number], self.fresh)
        return self._sent(draft, first)

    def _sent(self, draft: Draft, first: Exchange) -> Exchange:
        exchange = self._purse.send(draft)
        if first.ok and may_be_taken(exchange):
            fresh = renamed(self._schemas, draft, f"-{self._round}")  # the first time may have taken the name
            return exchange if fresh is draft else self._purse.send(fresh)
        return exchange


def may_be_taken(exchange: Exchange) -> bool:
    """Refused as what has a name that is taken is refused."""
    return exchange.response.status in _TAKEN and exchange.operation.method in ("POST", "PUT")


def renamed(schemas: Schemas, draft: Draft, mark: str, fixed: Collection[Place] = ()) -> Draft:
    """The same thing under names that were not used yet; the very draft where there is none to change."""
    made = draft
    for place, value in slots(draft).items():
        named = place[0] == "body" and isinstance(value, str) and place not in fixed
        schema = schema_at(schemas, draft, place) if named else None
        if schema is not None and _free(schema, value):
            made = placed(made, place, _other(value, mark, schema.get("maxLength", _ROOM)))
    return made


def _free(schema: Schema, value: str) -> bool:
    """Any text may stand here, and this one is not here to be too long."""
    fits = len(value) <= schema.get("maxLength", _ROOM)
    return fits and (_FIXED.isdisjoint(schema) or schema.get("format") == "email")


def _other(text: str, mark: str, longest: int) -> str:
    name, at_sign, domain = text.partition("@")
    return name[: max(0, longest - len(mark + at_sign + domain))] + mark + at_sign + domain
