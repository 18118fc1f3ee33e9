"""What a report on a service says, apart from how it is shown. None means "not known".

Everything in it is shown as it is: what came from requests and answers goes through `redaction` first
(`composing.fault_line` does so for faults; `redaction.Secrets.hidden_in` for a whole report).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from whet.skills.api.faults import Kind
from whet.tools.http.messages import Request

Severity = Literal["critical", "high", "medium", "low"]
# Against earlier runs: found now for the first time, found before and still there, found before and gone now, found
# before and not looked at again within the budget.
Standing = Literal["new", "known", "fixed", "not re-tested"]
Json = Any


@dataclass(frozen=True, slots=True)
class OperationLine:
    id: str
    tried: int
    statuses: Mapping[str, int]  # "200" → 31, "timeout" → 1
    reached_at: int | None  # the number of the request that first got a 2xx
    group: str = ""  # a tag, or the beginning of the path


@dataclass(frozen=True, slots=True)
class Carried:
    """A value of an earlier answer that a later request repeats, so that a replay can put its own in this place."""

    step: int  # which earlier step answered it, from 0
    source: str  # a JSON pointer into its body, or "header:etag", or "sent:" and a pointer into what it had sent
    where: Literal["path", "query", "header", "body"]
    place: str  # the number of the path's segment, or the name of the query field, header or member
    text: str  # as it stands in the request


@dataclass(frozen=True, slots=True)
class StepLine:
    """One request of a sequence. `request` is what reproduces it, `sent` and `received` are for reading."""

    operation: str
    request: Request
    status: int | None
    sent: str
    received: str
    credentials: Literal["given", "none", "wrong"] = "given"
    carried: tuple[Carried, ...] = ()
    names: tuple[str, ...] = ()  # JSON pointers into its body: texts that may be changed where they are taken


@dataclass(frozen=True, slots=True)
class Stale:
    """`place` of the last answer still shows `value`, which the answer to `step` had at `told`, and not what was sent.

    `step` is None where no earlier answer told it.
    """

    place: str
    value: Json
    sent: Json
    step: int | None = None
    told: str | None = None


@dataclass(frozen=True, slots=True)
class Promise:
    """What the contract says of an operation's answers: status → media type → schema, and status → header → schema.

    Schemas are there for faults in an answer's shape only. `definitions` hold what they point at, by `$ref`.
    """

    answers: Mapping[str, Mapping[str, Mapping[str, Json] | None]]
    headers: Mapping[str, Mapping[str, Mapping[str, Json]]] = field(default_factory=dict)
    definitions: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FaultLine:
    kind: Kind
    severity: Severity
    title: str
    detail: str
    cause: str
    operations: tuple[str, ...]  # the one that shows it first
    steps: tuple[StepLine, ...]
    confirmed: bool
    standing: Standing
    curl: str
    seen: int = 1
    promise: Promise | None = None
    stale: tuple[Stale, ...] = ()  # old values that an update should have replaced
    rests: bool = False  # on things that were there already when it was found


@dataclass(frozen=True, slots=True)
class EdgeLine:
    """`consumer` takes for `slot` what `producer` answered as `field`; believed because it `worked` so often."""

    producer: str
    field: str
    consumer: str
    slot: str
    probability: float | None
    tried: int = 0
    worked: int = 0


@dataclass(frozen=True, slots=True)
class ChangeLine:
    sentence: str
    breaking: bool


@dataclass(frozen=True, slots=True)
class CurvePoint:
    requests: int
    operations: int  # with a 2xx so far
    faults: int


@dataclass(frozen=True, slots=True)
class UntestedLine:
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class ApiReport:
    title: str
    base_url: str  # without user and password
    seed: int
    requests: int
    budget_requests: int | None
    seconds: float | None
    operations: tuple[OperationLine, ...] = ()
    faults: tuple[FaultLine, ...] = ()
    edges: tuple[EdgeLine, ...] = ()
    changes: tuple[ChangeLine, ...] = ()
    curve: tuple[CurvePoint, ...] = ()
    notes: tuple[str, ...] = ()
    untested: tuple[UntestedLine, ...] = ()
    document: str | None = None  # where the contract was read from: a path in the project, or an address
    interrupted: bool = False
    earlier_runs: int = 0
