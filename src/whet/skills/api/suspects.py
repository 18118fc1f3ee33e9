"""What a run suspects, each root cause once, and which of it is an old acquaintance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from whet.skills.api.exchange import Exchange
from whet.skills.api.faults import Fault, Kind, Suspicion
from whet.skills.api.oracles.causes import root
from whet.skills.api.oracles.flows import flows
from whet.skills.api.oracles.replaying import needed, other_writes
from whet.skills.api.oracles.slots import slots

MOST_SUSPICIONS = 2_000
_LOOKED_INTO = 20  # sightings of one cause
_URGENCY = (
    Kind.CRASH, Kind.TIMEOUT, Kind.SERVER_ERROR, Kind.MISSING_AUTH, Kind.READ_AFTER_DELETE, Kind.LOST_UPDATE,
    Kind.NOT_CREATED, Kind.INVALID_ACCEPTED, Kind.VALID_REFUSED, Kind.SCHEMA_VIOLATION, Kind.UNDOCUMENTED_STATUS,
    Kind.UNDOCUMENTED_MEDIA,
)  # fmt: skip


@dataclass(slots=True)
class Suspected:
    suspicion: Suspicion
    steps: tuple[Exchange, ...]
    operations: dict[str, None]
    seen: int = 1
    told: bool = False  # among the faults already
    again: bool = False  # an earlier run confirmed it, and the same request showed it in this one
    latest: tuple[Suspicion, tuple[Exchange, ...]] | None = None  # seen again, with other things
    known: Fault | None = None  # as an earlier run told it, where its story does on its own
    grounded: bool = False  # the latest was seen with things that were made on the way: it can be seen again anywhere

    def take_latest(self, suspicion: Suspicion, steps: tuple[Exchange, ...]) -> None:
        if not self.grounded:
            self.latest = suspicion, steps
            self.grounded = self.seen <= _LOOKED_INTO and _makes_what_it_names(steps)

    @property
    def is_faint(self) -> bool:
        return self.suspicion.kind is Kind.CRASH and self.steps[-1].response.status is not None

    def unsure(self) -> Fault:
        """As it stands, sent once."""
        return Fault(self.suspicion, self.steps, confirmed=False, seen=self.seen)

    def confirmed(self) -> Fault:
        """Met again, and not sent a third time: with a story that did on its own, or one that was not tried alone."""
        if self.known is not None:
            return replace(self.known, seen=self.seen)
        return Fault(self.suspicion, self.steps, confirmed=True, seen=self.seen, rests=True)


def _makes_what_it_names(steps: Sequence[Exchange]) -> bool:
    last = len(steps) - 1
    named = {place for place in slots(steps[last].draft) if place[0] == "path"}
    made = {flow.place for flow in flows(steps, last) if steps[flow.source].operation.method in ("POST", "PUT")}
    return named <= made


class Suspects:
    """`known` are the faults of earlier runs."""

    def __init__(self, known: Sequence[Fault]) -> None:
        self._known = {root(fault.suspicion.cause): fault for fault in known}
        self.by_root: dict[str, Suspected] = {}

    def __len__(self) -> int:
        return len(self.by_root)

    def of(self, fault: Fault) -> Suspected | None:
        return self.by_root.get(root(fault.suspicion.cause))

    def add(self, suspicion: Suspicion, steps: tuple[Exchange, ...]) -> None:
        known = self.by_root.get(root(suspicion.cause))
        if known is not None:
            known.seen += 1
            known.operations.setdefault(suspicion.operation)
            known.take_latest(suspicion, steps)
        elif len(self.by_root) < MOST_SUSPICIONS:
            self.by_root[root(suspicion.cause)] = Suspected(suspicion, steps, {suspicion.operation: None})

    def met_again(self, suspicion: Suspicion, steps: tuple[Exchange, ...]) -> None:
        """What was confirmed and made small before, and shows again, is not made sure of a third time."""
        known, one = self._known.get(root(suspicion.cause)), self.by_root.get(root(suspicion.cause))
        if known is not None and one is not None and known.confirmed and known.suspicion.cause == suspicion.cause:
            # With what its story had besides: the fault may lie in what was done before.
            had = {step.operation.id for step in known.steps[:-1]}
            others = [at for at in other_writes(steps, ())[0] if known.rests or steps[at].operation.id in had]
            wanted = needed(suspicion.kind, steps, others)
            one.suspicion, one.steps, one.again = suspicion, (*(steps[at] for at in wanted), steps[-1]), True
            one.known = None if known.rests else known

    def by_urgency(self) -> list[Suspected]:
        """A kept connection that was cut, and the request answered on a new one, comes last: some servers do that."""
        return sorted(self.by_root.values(), key=lambda one: (one.is_faint, _URGENCY.index(one.suspicion.kind)))
