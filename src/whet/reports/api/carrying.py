"""Which values of a request came from an earlier step, so that a replay can use the ids it is given itself.

First what the service made: a value that the request before had sent under the same name is repeated, not made. Then
the names that the client chose for what it created: a replay may have to choose others where those are taken. Of what
was merely read only names of things count: a colour or a year that was seen in a list is a value like any other.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from whet.reports.api.model import Carried, Json, Stale
from whet.skills.api.exchange import Exchange
from whet.tools.http.messages import Request

# Below this length a text in the middle of another, or in a list, is more likely chance than an id.
_TELLING_LENGTH = 8
_MOST_LEAVES = 2_000


class Made(NamedTuple):
    """A value in an answer: where it stands, what its member is called, and how it is written."""

    step: int
    source: str
    name: str
    text: str
    read: bool = False  # by a request that makes nothing


class Slot(NamedTuple):
    where: Literal["path", "query", "header", "body"]
    place: str
    name: str
    text: str


def carried(steps: Sequence[Exchange]) -> tuple[tuple[Carried, ...], ...]:
    """Per step, the values it takes from the steps before it."""
    made: list[Made] = []
    found = []
    for number, step in enumerate(steps):
        places = list(slots(step.request, step.operation.path))
        taken = [(slot, best) for slot in places if (best := _best(slot, made)) is not None]
        found.append(tuple(Carried(one.step, one.source, slot.where, slot.place, one.text) for slot, one in taken))
        made.extend(_made(number, step, places))
        made.extend(_chosen(number, step.request))
    return tuple(found)


def _best(slot: Slot, made: list[Made]) -> Made | None:
    """The same name first, then what is called an id, then the nearest step and the shallowest place."""
    fitting = [one for one in made if _fits(slot, one)]
    return min(fitting, key=lambda one: _preference(slot, one), default=None)


def _fits(slot: Slot, one: Made) -> bool:
    """The same text; and where it is short, names that say that it is no accident."""
    telling = len(one.text) >= _TELLING_LENGTH
    if slot.where == "header":
        return one.text in slot.text and (telling or (one.source == "header:etag" and one.text == slot.text))
    named = _is_id(one.name) and (slot.where == "path" or _is_id(slot.name))
    related = named or slot.name.lower() == one.name.lower()
    if one.read and slot.where != "path":
        return one.text == slot.text and _is_id(one.name) and (telling or related)
    return one.text == slot.text and (telling or related)


def _is_id(name: str) -> bool:
    return name.lower().endswith(("id", "ids", "key", "slug", "code", "number", "ref", "etag", "token"))


def _preference(slot: Slot, one: Made) -> tuple[bool, bool, bool, bool, int, int]:
    """What is chosen by the client comes after what the service made, and a list after who made what is in it."""
    chosen, other = one.source.startswith("sent:"), slot.name.lower() != one.name.lower()
    return one.read, chosen, other, not _is_id(one.name), -one.step, one.source.count("/")


def slots(request: Request, path: str) -> Iterator[Slot]:
    """Every place of a request that holds one value; of its path those that `path` leaves open."""
    parts = urlsplit(request.target)
    segments, template = parts.path.split("/"), path.split("/")
    behind = len(segments) - len(template)  # the base path comes before
    for number, segment in enumerate(segments):
        name = template[number - behind] if number >= behind else ""
        if "{" in name:
            yield Slot("path", str(number), name.strip("{}"), unquote(segment))
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        yield Slot("query", name, name, value)
    for name, value in request.headers:
        yield Slot("header", name, name, value)
    for pointer, leaf in leaves(_document(request.body)):
        name = pointer.rpartition("/")[2]
        if not name.isdigit() or len(_written(leaf)) >= _TELLING_LENGTH:
            yield Slot("body", name, name, _written(leaf))


def _made(number: int, step: Exchange, places: Sequence[Slot]) -> Iterator[Made]:
    sent, response, method = {(slot.name, slot.text) for slot in places}, step.response, step.request.method
    repeated = {slot.text for slot in places if len(slot.text) >= _TELLING_LENGTH}
    if method != "POST" or response.status != 201:  # what was created may have the number of what is in its path
        repeated |= {slot.text for slot in places if slot.where == "path"}
    for pointer, leaf in leaves(_document(response.body)):
        name, text = pointer.rpartition("/")[2], _written(leaf)
        if text and (name, text) not in sent and text not in repeated:
            yield Made(number, pointer, name, text, read=method not in ("POST", "PUT"))
    if etag := response.header("etag"):
        yield Made(number, "header:etag", "etag", etag)
    if location := response.header("location"):
        yield Made(number, "header:location", "id", unquote(urlsplit(location).path.rstrip("/").rpartition("/")[2]))


def _chosen(number: int, request: Request) -> Iterator[Made]:
    if request.method in ("POST", "PUT"):
        for pointer, leaf in leaves(_document(request.body)):
            if isinstance(leaf, str) and leaf:
                yield Made(number, f"sent:{pointer}", pointer.rpartition("/")[2], leaf)


def leaves(document: Json) -> Iterator[tuple[str, Json]]:
    """Texts and numbers with their JSON pointers, in reading order, the first two thousand."""
    waiting: list[tuple[str, Json]] = [("", document)]
    for _ in range(_MOST_LEAVES):
        if not waiting:
            return
        pointer, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(reversed([(f"{pointer}/{escaped(name)}", item) for name, item in value.items()]))
        elif isinstance(value, list):
            waiting.extend(reversed([(f"{pointer}/{place}", item) for place, item in enumerate(value)]))
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            yield pointer, value


def stale_values(steps: Sequence[Exchange]) -> tuple[Stale, ...]:
    """What the last answer still shows as it was before the write, and which earlier answer told it so first."""
    writes = [number for number, step in enumerate(steps[:-1]) if step.request.method in ("POST", "PUT", "PATCH")]
    if not writes:
        return ()
    shown = dict(leaves(_document(steps[-1].response.body)))
    sent = dict(leaves(_document(steps[writes[-1]].request.body)))
    given = {place: sent.get(_inner(place, sent), value) for place, value in shown.items()}
    found = [Stale(place, value, given[place], *_told_before(steps[: writes[-1]], place, value))
             for place, value in shown.items() if given[place] != value]  # fmt: skip
    return tuple(one for one in found if one.step is not None) or tuple(found)


def _told_before(steps: Sequence[Exchange], place: str, value: Json) -> tuple[int, str] | tuple[None, None]:
    """The latest step that told it under the same name."""
    name = place.rpartition("/")[2]
    for number in reversed(range(len(steps))):
        for pointer, told in leaves(_document(steps[number].response.body)):
            if told == value and pointer.rpartition("/")[2] == name:
                return number, pointer
    return None, None


def _inner(place: str, sent: Mapping[str, Json]) -> str:
    """/data/name is what was sent as /name: many services put their answers into an envelope."""
    return next((each for each in sorted(sent, key=len, reverse=True) if place.endswith(each)), place)


def body_pattern(one: Carried) -> re.Pattern[bytes]:
    """Where the value stands in a JSON body: after its member's name, or as a text of its own in a list."""
    literal = (
        re.escape(json.dumps(one.text).encode()) + b"|" + re.escape(json.dumps(one.text, ensure_ascii=False).encode())
    )
    number = rb"(?<![\w.\"-])" + re.escape(one.text.encode("utf-8", "surrogatepass")) + rb"(?![\w.])"
    before = b"" if one.place.isdigit() else re.escape(json.dumps(one.place).encode()) + rb"\s*:\s*"
    return re.compile(b"(" + before + b")(" + literal + b"|" + number + b")")


def _document(body: bytes | None) -> Json:
    try:
        return json.loads(body or b"null")
    except (ValueError, RecursionError):
        return None


def _written(leaf: Json) -> str:
    return leaf if isinstance(leaf, str) else json.dumps(leaf)


def escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
