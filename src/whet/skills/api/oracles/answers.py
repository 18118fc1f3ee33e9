"""What the contract says of an answer: its status, its content type, its body and its headers.

Which undocumented statuses are told is a choice between useful and noisy, made so:
- 2xx and 3xx always: a client meets them in normal use. Not a router's own redirect to the same place, nor a 304 that
  a condition of ours asked for.
- 4xx that proxies and servers give by themselves (429, 413, ...) never.
- 4xx that every framework gives without its authors (400, 404, 415, ...) only to a draft that keeps to the contract,
  and only where the contract documents that very status for another operation: its authors do write it down, so that
  the gap is a slip and not a habit.
- Other 4xx (409, 410, 418, ...) come from the service's own code: told where the draft was valid or the operation
  declares other 4xx.
- An operation that declares no answer at all promises nothing, and nothing is told.

A body that fits several alternatives of a `oneOf` is no fault: alternatives overlap more often than their authors know.
"""

from collections.abc import Iterator

from whet.skills.api.contract.model import Answer, Contract, Json, Schema
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Kind, Suspicion
from whet.skills.api.oracles.breaches import SEVERAL, Breach, breaches, spoken
from whet.skills.api.oracles.causes import schema_signature, suspicion
from whet.skills.api.oracles.reading import NotJson, parsed, speaks_json
from whet.skills.api.oracles.routing import Routing
from whet.skills.api.oracles.undeclared import undeclared

BY_THE_WAY = frozenset({408, 413, 414, 421, 425, 426, 429, 431})
BY_THE_FRAMEWORK = frozenset({400, 401, 403, 404, 405, 406, 411, 412, 415, 416, 417, 422, 428})
_WITHOUT_BODY = frozenset({204, 205, 304})
MOST_VIOLATIONS = 3


def valid(draft: Draft) -> bool:
    """Made to keep to the contract, and nothing was added to it."""
    return draft.broken is None and draft.raw is None and not draft.extra and draft.credentials == "given"


class Answers:
    def __init__(self, contract: Contract, schemas: Schemas, routing: Routing) -> None:
        self._schemas = schemas
        self._routing = routing
        self._documented = {one.status for operation in contract.operations for one in operation.answers}

    def judge(self, exchange: Exchange) -> Iterator[Suspicion]:
        status, answers = exchange.response.status, exchange.operation.answers
        if status is None or not answers:
            return
        answer = exchange.operation.answer(status)
        if answer is None:
            yield from self._status(exchange, status)
        elif self._binding(exchange, answer, status):
            yield from self._media(exchange, answer, status)
            yield from self._body(exchange, answer, status)
            yield from self._headers(exchange, answer, status)

    def _status(self, exchange: Exchange, status: int) -> Iterator[Suspicion]:
        if self._worth_telling(exchange, status):
            declared = ", ".join(answer.status for answer in exchange.operation.answers)
            yield suspicion(
                exchange, Kind.UNDOCUMENTED_STATUS, str(status),
                f"answers {status}, which the contract does not mention", f"Documented are {declared}."
            )  # fmt: skip

    def _worth_telling(self, exchange: Exchange, status: int) -> bool:
        draft = exchange.draft
        if status < 400 or status >= 500:
            return not self._our_doing(exchange, status)
        if status in BY_THE_WAY:
            return False
        if status in BY_THE_FRAMEWORK:
            return str(status) in self._documented and self._known(draft)
        return self._known(draft) or any(answer.status.startswith("4") for answer in draft.operation.answers)

    def _our_doing(self, exchange: Exchange, status: int) -> bool:
        if status == 304:
            return any(name.lower().startswith("if-") for name, _ in exchange.request.headers)
        if status == 206:
            return any(name.lower() == "range" for name, _ in exchange.request.headers)
        return 300 <= status < 400 and self._routing.own_redirect(exchange)

    def _binding(self, exchange: Exchange, answer: Answer, status: int) -> bool:
        """Whether this answer is the service's own: what refuses bytes or breaks the rules may come from before it."""
        if status < 400:
            return True
        if status in BY_THE_WAY or exchange.draft.raw is not None:
            return False
        return answer.status == str(status) or self._known(exchange.draft)

    def _known(self, draft: Draft) -> bool:
        return valid(draft) and not undeclared(self._schemas, draft)

    def _media(self, exchange: Exchange, answer: Answer, status: int) -> Iterator[Suspicion]:
        media = exchange.response.media
        asked = any(name.lower() == "accept" for name, _ in exchange.draft.extra)
        if not answer.contents or asked or not _has_body(exchange, status) or _declared(answer, media) is not None:
            return
        told = media or "no content type"
        yield suspicion(
            exchange, Kind.UNDOCUMENTED_MEDIA, f"{status} {told}", f"answers {status} with {told}",
            f"The contract says {' or '.join(answer.contents)}."
        )  # fmt: skip

    def _body(self, exchange: Exchange, answer: Answer, status: int) -> Iterator[Suspicion]:
        response = exchange.response
        declared = _declared(answer, response.media)
        if not response.whole or not speaks_json(response.media) or not _has_body(exchange, status) or not declared:
            return
        value, schema = parsed(response.body), answer.contents[declared]
        if isinstance(value, NotJson):
            breach = Breach("", "body", "json", f"the body is not JSON: {value.reason}")
            yield self._violation(exchange, status, breach)
        elif schema is not None:
            found = breaches(self._schemas, schema, value, "response")
            by_place = {one.at: one for one in reversed(found) if one.keyword != SEVERAL}  # one wrong value, one fault
            for breach in reversed(list(by_place.values())[-MOST_VIOLATIONS:]):
                yield self._violation(exchange, status, breach)

    def _headers(self, exchange: Exchange, answer: Answer, status: int) -> Iterator[Suspicion]:
        for name, schema in answer.headers.items():
            text = exchange.response.header(name)
            if text is None or name.lower() == "content-type":
                continue
            for breach in breaches(self._schemas, schema, self._read(schema, text), "response")[:1]:
                named = Breach(name, f"header {name.lower()}/{breach.place}", breach.keyword, breach.message)
                yield self._violation(exchange, status, named)

    def _read(self, schema: Schema, text: str) -> Json:
        """A header as the type its schema wants; text that cannot be read so stays text, and is told as a breach."""
        kind = self._schemas.merged(schema).get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        if "array" in kinds:
            return [part.strip() for part in text.split(",")]
        value = parsed(text.encode()) if {"integer", "number", "boolean"} & set(kinds) else text
        return text if isinstance(value, NotJson | dict | list) else value

    def _violation(self, exchange: Exchange, status: int, breach: Breach) -> Suspicion:
        where = spoken(breach.at)
        signature = schema_signature(status, breach.place, breach.keyword)
        return suspicion(
            exchange, Kind.SCHEMA_VIOLATION, signature, f"answers {status} breaking its schema at {where}",
            f"{where}: {breach.message}"
        )  # fmt: skip


def _has_body(exchange: Exchange, status: int) -> bool:
    return bool(exchange.response.body) and exchange.request.method != "HEAD" and status not in _WITHOUT_BODY


def _declared(answer: Answer, media: str | None) -> str | None:
    """The declared content type that covers this one, as the contract writes it."""
    if media is None:
        return None
    family = media.partition("/")[0]
    for declared in answer.contents:
        plain = declared.partition(";")[0].strip().lower()
        if plain in (media, "*/*", f"{family}/*", "*"):
            return declared
    return None
