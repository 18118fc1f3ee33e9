"""What can be wrong with a service, one word each, and one wrong thing with the exchanges that show it."""

from dataclasses import dataclass
from enum import StrEnum

from whet.skills.api.exchange import Exchange


class Kind(StrEnum):
    SERVER_ERROR = "server-error"
    SCHEMA_VIOLATION = "schema-violation"
    UNDOCUMENTED_STATUS = "undocumented-status"
    UNDOCUMENTED_MEDIA = "undocumented-content-type"
    INVALID_ACCEPTED = "invalid-input-accepted"
    VALID_REFUSED = "valid-input-refused"
    READ_AFTER_DELETE = "read-after-delete"
    LOST_UPDATE = "lost-update"
    NOT_CREATED = "create-without-read"  # what a create answered cannot be read back
    MISSING_AUTH = "missing-auth"
    TIMEOUT = "timeout"
    CRASH = "crash"  # the service died, or cut the connection


@dataclass(frozen=True, slots=True)
class Suspicion:
    """One judgement of one exchange, not yet confirmed. The same `cause` seen again is the same fault."""

    kind: Kind
    operation: str
    cause: str  # stable between runs: no ids, no times, no addresses of memory
    title: str
    detail: str


@dataclass(frozen=True, slots=True)
class Fault:
    """A confirmed suspicion: `steps` is the shortest sequence known to show it, the last exchange being the proof."""

    suspicion: Suspicion
    steps: tuple[Exchange, ...]
    confirmed: bool  # seen again on replay; a fault that was not is told as such
    seen: int = 1
    rests: bool = False  # on things that were there already, or may: on a service started anew it might not show
