"""The way back: for each thing worth seeing again, one request and those it rests on.

A step is kept under a key made of its content, and names the steps whose answers it was made of: so ways share what
they rest on, the trails of two runs go together as sets do, and a value comes from the new answer, not from the old.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Kind
from whet.skills.api.learning.portable import pack_draft
from whet.skills.api.oracles.flows import Leaf, flows
from whet.skills.api.oracles.replaying import needed, put_there
from whet.skills.api.oracles.slots import Place
from whet.skills.api.values.slots import Source

WORKS = ""  # the sign of a success; that of a failure is its cause
MOST_FAILURES = 6  # per operation
_LARGEST = 20_000  # characters of one step; a request of a megabyte is found again, not kept
_MOST_MISSES = 2


@dataclass(frozen=True, slots=True)
class Given:
    """The value in `place` is that of `leaf` in the answer to the step `source`."""

    place: Place
    source: str
    leaf: Leaf


@dataclass(frozen=True, slots=True)
class TrailStep:
    draft: Draft
    sources: Mapping[str, Source] = field(default_factory=dict)
    given: tuple[Given, ...] = ()
    after: tuple[str, ...] = ()  # steps that put its path there, under names of our own


@dataclass(frozen=True, slots=True)
class Way:
    """`at` is the request at which it was first gone; `missed` in how many runs since it led nowhere."""

    operation: str
    sign: str
    step: str
    at: int
    missed: int = 0


class Trail:
    def __init__(self) -> None:
        self.steps: dict[str, TrailStep] = {}
        self.ways: dict[tuple[str, str], Way] = {}
        self._failures: Counter[str] = Counter()  # ways to fail, by operation
        self._lost: set[tuple[str, str]] = set()  # in this run: another way is welcome

    def wants(self, draft: Draft, sign: str) -> bool:
        """What is not known yet; and a plain request rather than a mutated one that happened to work."""
        name = (draft.operation.id, sign)
        if name not in self.ways:
            return sign == WORKS or self._failures[draft.operation.id] < MOST_FAILURES
        known = self.steps.get(self.ways[name].step)
        plainer = draft.mutation is None and known is not None and known.draft.mutation is not None
        return name in self._lost or (sign == WORKS and plainer)

    def keep(self, sign: str, story: Sequence[Exchange], exchange: Exchange, sources: Mapping[str, Source]) -> None:
        """`story` is what led to the exchange, in its order."""
        steps = (*(step for step in story if step.number != exchange.number), exchange)
        made = _steps(steps, sources)
        if made is not None:
            *_, last = made
            self.steps |= made
            self.know(Way(exchange.operation.id, sign, last, exchange.number))

    def shorten(self, sign: str, steps: Sequence[Exchange]) -> None:
        """A smaller request for the same; not one that names things which are there in this run only."""
        known = self.ways.get((steps[-1].operation.id, sign))
        made = _steps(steps, {})
        if known is not None and known.step in self.steps and made is not None:
            *_, last = made
            if len(made[last].given) >= len(self.steps[known.step].given):
                self.steps |= made
                self.know(replace(known, step=last))

    def know(self, way: Way) -> None:
        name = (way.operation, way.sign)
        self._failures[way.operation] += way.sign != WORKS and name not in self.ways
        self.ways[name] = way
        self._lost.discard(name)

    def miss(self, way: Way) -> None:
        """It led nowhere. What works is kept until there is another way; a failure that stays away is let go."""
        name = (way.operation, way.sign)
        self._lost.add(name)
        self.ways[name] = replace(way, missed=way.missed + 1)
        if way.sign != WORKS and way.missed + 1 >= _MOST_MISSES:
            del self.ways[name]
            self._failures[way.operation] -= 1

    def held(self, way: Way) -> None:
        self.ways[way.operation, way.sign] = replace(way, missed=0)

    def order(self) -> list[Way]:
        """What works, what deletes, then failures; of each the most certain first, in the order they were found. But
        what rests on most, or came last, is deleted first: with what it rests on it would be gone too."""
        heights: dict[str, int] = {}
        return sorted(self.ways.values(), key=lambda way: (*self._place(way, heights), way.sign))

    def _place(self, way: Way, heights: dict[str, int]) -> tuple[int, int, int, int, int]:
        method, _, path = way.operation.partition(" ")
        if way.sign != WORKS:
            return 2, 0, 0, way.missed, way.at
        if method != "DELETE":
            return 0, 0, 0, way.missed, way.at
        return 1, -self._height(way.step, heights), -path.count("/"), way.missed, -way.at

    def _height(self, key: str, known: dict[str, int]) -> int:
        """How many steps it rests on, one on the other. One that rests on itself is in no trail of ours."""
        if key not in known:
            known[key] = 0
            step = self.steps.get(key)
            below = (*(one.source for one in step.given), *step.after) if step is not None else ()
            known[key] = 1 + max((self._height(each, known) for each in below), default=0)
        return known[key]

    def walked(self) -> dict[str, TrailStep]:
        """The steps that a way still rests on."""
        wanted: dict[str, TrailStep] = {}
        waiting = [way.step for way in self.ways.values()]
        while waiting:
            key = waiting.pop()
            if key not in wanted and key in self.steps:
                step = wanted[key] = self.steps[key]
                waiting += [*(one.source for one in step.given), *step.after]
        return wanted


def _steps(steps: Sequence[Exchange], sources: Mapping[str, Source]) -> dict[str, TrailStep] | None:
    """The last exchange and what it rests on, by key, the last one last; None where one is too large to keep."""
    last = len(steps) - 1
    keys: dict[int, str] = {}
    made: dict[str, TrailStep] = {}
    for number in (*needed(Kind.SERVER_ERROR, steps), last):
        given = tuple(Given(flow.place, keys[flow.source], flow.leaf) for flow in flows(steps, number))
        after = tuple(keys[other] for other in put_there(steps, number))
        step = TrailStep(steps[number].draft, sources if number == last else {}, given, after)
        key = _key(step)
        if key is None:
            return None
        keys[number] = key
        made.pop(key, None)
        made[key] = step
    return made


def _key(step: TrailStep) -> str | None:
    text = json.dumps([pack_draft(step.draft), [[one.place, one.source, one.leaf] for one in step.given], step.after])
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16] if len(text) <= _LARGEST else None
