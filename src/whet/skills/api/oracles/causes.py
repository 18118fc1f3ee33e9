"""The `cause`: the signature by which two sightings are known to be the same fault.

A cause must be equal for the same root in every run and differ where the root does. So it is made of what the service
says about its inside where it says it (exception and frame), else of its message without everything that changes from
one request to the next: ids, numbers, times, quoted values, addresses, and the values that were sent and came back.

It reads "kind | operation | signature". The operation is part of it, since one frame without a traceback ("Internal
Server Error") says nothing across operations. Where the signature does name a frame, `root` leaves the operation out:
a fault in a shared error handler shows under forty operations and is still one.
"""

import re
from collections.abc import Iterable, Iterator

from whet.skills.api.contract.model import Json
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Kind, Suspicion
from whet.skills.api.oracles.reading import readable
from whet.skills.api.oracles.tracebacks import exception_names, raised

_BETWEEN = " | "
_COMPONENT = re.compile(r"(?:^|/)(?:components|definitions|\$defs)/")
LENIENTLY = "read leniently: "  # begins the signature of what only a strict reader would refuse
_TRACE, _SHARED = "trace ", "schema "  # signatures that mean the same under every operation
_BY = f"{_BETWEEN}by "
MESSAGE_LIMIT = 4_000  # read of a message
SIGNATURE_LIMIT = 160
ECHO_LIMIT = 40

# In this order: what contains numbers before numbers. Every repetition is bounded, so that no text costs much.
_NOISE = tuple(
    (re.compile(pattern), mark)
    for pattern, mark in (
        (r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}", "<id>"),
        (r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[\d:.,+Z-]{0,30})?", "<time>"),
        (r"\b0x[0-9a-fA-F]{1,32}", "<address>"),
        (r"\b[a-z]{2,10}://[^\s\"'<>]{1,300}", "<url>"),
        (r"[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}", "<email>"),
        (r"(?<!\w)'[^'\n]{0,200}'(?!\w)|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|“[^”\n]{0,200}”", "<value>"),
        (r"(?<![\w/<])(?:/[\w.%~@:+-]{1,80}){2,20}/?|(?<![\w/<])/[\w.%~@:+-]{0,80}\d[\w.%~@:+-]{0,80}", "<path>"),
        (r"\b(?=[a-zA-Z_-]{0,40}\d)[\w-]{16,200}", "<id>"),
        (r"\b(?=[a-f]{0,8}\d)[0-9a-f]{8,15}\b", "<id>"),
        (r"[^\x20-\x7e]+", " "),
        (r"[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?", "<id>"),
        (r"\s+", " "),
    )
)


def cause(kind: Kind, operation: str, signature: str) -> str:
    return _BETWEEN.join((kind.value, operation, signature))


def suspicion(exchange: Exchange, kind: Kind, signature: str, title: str, detail: str) -> Suspicion:
    """A suspicion against the operation of this exchange; its title is the operation and what it does."""
    operation = exchange.operation.id
    return Suspicion(kind, operation, cause(kind, operation, signature), f"{operation} {title}", detail)


def root(of: str) -> str:
    """The cause without its operation where its signature names a place of the service or of the contract; a place
    that takes what only a strict reader would refuse is the one that takes what anybody would.

    Two causes with the same root are one thing to repair: `{root(one.cause) for one in suspicions}` counts roots.
    """
    kind, _, rest = of.partition(_BETWEEN)
    _, _, signature = rest.partition(_BETWEEN)
    if signature.startswith((_TRACE, _SHARED)):
        return f"{kind}{_BETWEEN}{signature}"
    return of.replace(f"{_BETWEEN}{LENIENTLY}", _BETWEEN)


def by_root(suspicions: Iterable[Suspicion]) -> dict[str, list[Suspicion]]:
    """The suspicions of each root, in the order they came."""
    grouped: dict[str, list[Suspicion]] = {}
    for suspicion in suspicions:
        grouped.setdefault(root(suspicion.cause), []).append(suspicion)
    return grouped


def error_signature(exchange: Exchange) -> str:
    """What an error answer says of its cause: frame, else exceptions, else its message made plain."""
    status, text = exchange.response.status, readable(exchange.response.body)
    found = raised(text)
    if found is not None:
        return f"{_TRACE}{found.exception} at {found.frame}"
    names = exception_names(text)
    if names:
        return f"{status} {' '.join(names)}"
    return f"{status} {plain(text, sent_texts(exchange.draft))}".strip()


def tells(signature: str) -> bool:
    """Whether it names what went wrong inside."""
    return signature.startswith(_TRACE) or bool(exception_names(signature))


def with_way(cause: str, by: str) -> str:
    """A cause, and what brought it about."""
    return f"{cause}{_BY}{by}" if by else cause


def without_way(cause: str) -> str:
    return cause.rpartition(_BY)[0] or cause


def schema_signature(status: int, place: str, keyword: str) -> str:
    """Where the contract is broken. In a shared schema that is the same thing to repair under every operation."""
    if _COMPONENT.search(place):
        return f"{_SHARED}{place} {keyword}"
    return f"{status} {place} {keyword}"


def plain(text: str, echoed: Iterable[str] = ()) -> str:
    """A message without what changes from one request to the next."""
    text = text[:MESSAGE_LIMIT]
    for value in echoed:
        text = text.replace(value, "<value>")
    for noise, mark in _NOISE:
        text = noise.sub(mark, text)
    return text.strip()[:SIGNATURE_LIMIT]


def sent_texts(draft: Draft) -> tuple[str, ...]:
    """The texts of a draft that a message may repeat, the longest first.

    Plain short words are left alone: a sent "name" must not blank the word in every message.
    """
    values = (draft.path, draft.query, draft.headers, draft.cookies, draft.body)
    telling = {text for value in values for text in _texts(value, 0) if _telling(text)}
    return tuple(sorted(telling, key=lambda text: (-len(text), text))[:ECHO_LIMIT])


def _telling(text: str) -> bool:
    return len(text) >= 4 and not (text.isascii() and text.isalpha() and len(text) < 12)


def _texts(value: Json, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value[:MESSAGE_LIMIT]
    elif depth < 6 and isinstance(value, list | dict):
        for one in list(value.values() if isinstance(value, dict) else value)[:ECHO_LIMIT]:
            yield from _texts(one, depth + 1)
