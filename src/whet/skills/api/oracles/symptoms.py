"""What one exchange shows by itself, without memory. `Judge` decides which of it is worth a suspicion.

Told apart from judging so that a replay can be looked at with the same eyes: a cause has come back when the replayed
exchange shows it, whatever else the run has seen meanwhile.
"""

from collections.abc import Iterator

from whet.core.text import whole_words
from whet.skills.api.contract.model import Contract
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Exchange
from whet.skills.api.faults import Kind, Suspicion
from whet.skills.api.oracles.answers import Answers, valid
from whet.skills.api.oracles.breaches import slot
from whet.skills.api.oracles.causes import LENIENTLY, error_signature, plain, suspicion
from whet.skills.api.oracles.keeping import Keeping
from whet.skills.api.oracles.reading import readable
from whet.skills.api.oracles.routing import Routing

REFUSALS = frozenset({400, 422})
# 202 checks later and 207 tells of failures inside: neither says that the input was taken.
_NOT_YET = frozenset({202, 207})
# What a server may cut off unread, without being at fault.
_LARGE_BODY, _LARGE_HEAD = 1_000_000, 8_000
EXCERPT = 300


class Symptoms:
    def __init__(self, contract: Contract, schemas: Schemas) -> None:
        self._routing = Routing(contract)
        self.keeping = Keeping(schemas)
        self._answers = Answers(contract, schemas, self._routing)

    def of(self, exchange: Exchange) -> tuple[Suspicion, ...]:
        if exchange.response.status is None:
            return tuple(_silences(exchange))
        if exchange.response.status >= 500 and exchange.response.status != 501:
            return (_server_error(exchange, exchange.response.status),)  # everything else about it follows from that
        if not self._routing.sure(exchange):
            return ()
        return (*self._answers.judge(exchange), *self._accepted(exchange), *self._refused(exchange))

    def _accepted(self, exchange: Exchange) -> Iterator[Suspicion]:
        if exchange.ok and exchange.request.method not in ("HEAD", "OPTIONS"):
            yield from self._invalid_accepted(exchange)
            yield from _missing_auth(exchange)

    def _invalid_accepted(self, exchange: Exchange) -> Iterator[Suspicion]:
        draft = exchange.draft
        if draft.broken is None or draft.mutation is None or exchange.response.status in _NOT_YET:
            return  # without a mutation it is we who found nothing that the contract allows
        breaks = self.keeping.broken(draft)
        if exchange.request.method == "DELETE":  # deleting what cannot exist succeeds where deleting may be repeated
            breaks = tuple(breach for breach in breaks or () if not breach.place.startswith("path "))
        if breaks:
            place = plain(slot(breaks[0]))
            signature = LENIENTLY + place if self.keeping.forgivable(draft) else place
            detail = f"It was answered {exchange.response.status} although {draft.broken}."
            yield suspicion(exchange, Kind.INVALID_ACCEPTED, signature, "accepts what its contract forbids", detail)

    def _refused(self, exchange: Exchange) -> Iterator[Suspicion]:
        """A refusal of something the contract allows; on its own this is weak, see `refusals`."""
        draft, status = exchange.draft, exchange.response.status
        if status in REFUSALS and valid(draft) and self.keeping.kept(draft):
            yield suspicion(
                exchange, Kind.VALID_REFUSED, error_signature(exchange), "refuses what its contract allows",
                f"The answer was {status}: {excerpt(exchange)}"
            )  # fmt: skip


def _missing_auth(exchange: Exchange) -> Iterator[Suspicion]:
    needed = exchange.operation.security
    if exchange.draft.credentials == "given" or not needed or not all(needed):
        return
    how = "without credentials" if exchange.draft.credentials == "none" else "with wrong credentials"
    yield suspicion(
        exchange, Kind.MISSING_AUTH, "credentials not checked", f"answers {exchange.response.status} {how}",
        f"The contract asks for {' or '.join(' and '.join(sorted(schemes)) for schemes in needed)}."
    )  # fmt: skip


def _server_error(exchange: Exchange, status: int) -> Suspicion:
    told = excerpt(exchange) or ("One long word." if exchange.response.body else "No body.")
    return suspicion(exchange, Kind.SERVER_ERROR, error_signature(exchange), f"fails with {status}", told)


def _silences(exchange: Exchange) -> Iterator[Suspicion]:
    seconds, silence = exchange.response.seconds, exchange.response.silence
    if silence == "timeout" and not _streams(exchange):
        yield suspicion(
            exchange, Kind.TIMEOUT, "no answer in time", "does not answer", f"Nothing came within {seconds:.1f} s."
        )
    elif (silence == "dropped" or (silence == "unreachable" and exchange.response.resent)) and not _large(exchange):
        yield _cut(exchange, f"The connection was cut after {seconds:.1f} s, before an answer.")
    elif silence == "garbled":
        detail = "What came back could not be read as an HTTP answer."
        yield suspicion(exchange, Kind.CRASH, "not HTTP", "answers something that is not HTTP", detail)


def cut_before_the_answer(exchange: Exchange) -> Suspicion | None:
    """A kept connection was cut, and the request answered on a new one: a crash that was mended quickly, or nothing."""
    if not exchange.response.resent or exchange.response.status is None or _large(exchange):
        return None
    return _cut(exchange, "The connection was cut before an answer.")


def _cut(exchange: Exchange, detail: str) -> Suspicion:
    return suspicion(exchange, Kind.CRASH, "connection dropped", "cuts the connection", detail)


def _streams(exchange: Exchange) -> bool:
    """An operation that sends events keeps its connection open on purpose."""
    return any("event-stream" in media for answer in exchange.operation.answers for media in answer.contents)


def _large(exchange: Exchange) -> bool:
    request = exchange.request
    head = len(request.target) + sum(len(name) + len(value) for name, value in request.headers)
    return len(request.body or b"") > _LARGE_BODY or head > _LARGE_HEAD


def excerpt(exchange: Exchange) -> str:
    return whole_words(" ".join(whole_words(readable(exchange.response.body), EXCERPT * 4).split()), EXCERPT)
