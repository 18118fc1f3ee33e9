"""What a write promises of the next reading, and what the reading says when the promise was not kept."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whet.skills.api.contract.model import Json, Operation
from whet.skills.api.exchange import Exchange
from whet.skills.api.faults import Kind, Suspicion
from whet.skills.api.oracles.causes import suspicion
from whet.skills.api.oracles.reading import parsed, readable

_LATER = re.compile(r"schedul|pending|queue|async|mark|archiv|soft|trash|deactivat|progress", re.IGNORECASE)
# Of what was made: it says itself that nobody can see it yet.
_NOT_YET = re.compile(
    r"\b(?:pending|queued|scheduled|processing|waiting|unapproved|draft|hidden|unpublished|held)\b", re.I
)
_LONGEST_STATE = 40  # characters; what is longer is about something else


@dataclass(frozen=True, slots=True)
class Write:
    """The latest write, where it can be read, and what was read there before."""

    exchange: Exchange
    path: str
    reader: Operation
    values: Mapping[str, Json]
    before: Exchange | None


def not_created(write: Write, exchange: Exchange) -> Suspicion | None:
    if _NOT_YET.search(" ".join(_states(parsed(write.exchange.response.body)))):
        return None
    detail = _told(write, exchange)
    title = "answers that it created what cannot be read"
    return suspicion(write.exchange, Kind.NOT_CREATED, "not there after create", title, detail)


def still_there(write: Write, exchange: Exchange) -> Suspicion | None:
    """Still there and exactly as before: what changed at all may have been deleted softly."""
    if write.before is None or _LATER.search(readable(write.exchange.response.body)[:2000]):
        return None
    before, after = parsed(write.before.response.body), parsed(exchange.response.body)
    if not _same(before, after, whole=write.before.operation.method == "GET"):
        return None
    detail = _told(write, exchange)
    title = "deletes what can still be read"
    return suspicion(write.exchange, Kind.READ_AFTER_DELETE, "there after delete", title, detail)


def _states(made: Json) -> Iterator[str]:
    """Short texts at the top of an answer, or just below."""
    for value in made.values() if isinstance(made, dict) else ():
        if isinstance(value, str) and len(value) <= _LONGEST_STATE:
            yield value.replace("_", " ")
        elif isinstance(value, dict):
            yield from (one for one in value.values() if isinstance(one, str) and len(one) <= _LONGEST_STATE)


def _told(write: Write, exchange: Exchange) -> str:
    said, now = write.exchange.response.status, exchange.response.status
    return f"It answered {said}; reading {write.path[:200]} right after gives {now}."


def _same(before: Json, after: Json, whole: bool) -> bool:
    if whole or not isinstance(before, dict) or not isinstance(after, dict):
        return bool(before == after)
    common = before.keys() & after.keys()  # a create's answer may tell less or more than a reading
    return bool(common) and all(before[name] == after[name] for name in common)


def filled(operation: Operation, values: Mapping[str, Json]) -> str:
    return re.sub(r"\{([^{}]*)\}", lambda name: str(values[name[1]]), operation.path)
