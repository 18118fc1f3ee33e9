"""From a confirmed fault to what is shown of it. This is the door through which requests and answers enter a report."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from whet.core.text import printable, printable_lines
from whet.reports.api.carrying import carried, escaped, stale_values
from whet.reports.api.curl import curl_line
from whet.reports.api.model import FaultLine, Severity, Standing, StepLine
from whet.reports.api.promises import promise_of
from whet.reports.api.redaction import HIDDEN, Secrets, response_secrets
from whet.reports.api.words import SEVERITY
from whet.skills.api.contract.model import Contract, Operation
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Exchange
from whet.skills.api.faults import Fault, Kind
from whet.skills.api.oracles.replaying import names
from whet.skills.api.oracles.slots import Place
from whet.skills.api.spoiling import WRONG
from whet.tools.http.messages import Headers, Request, Response

SHOWN_CHARACTERS = 4_000


def fault_line(
    fault: Fault,
    contract: Contract,
    base_url: str,
    secrets: Secrets,
    standing: Standing = "new",
    operations: Sequence[str] = (),
    severity: Severity | None = None,
) -> FaultLine:
    """`operations` are those that the fault affects, when it is more than the one that shows it."""
    suspicion = fault.suspicion
    steps = step_lines(fault.steps, secrets, Schemas(contract))
    operation = contract.operation(suspicion.operation)
    line = FaultLine(
        kind=suspicion.kind,
        severity=severity or SEVERITY[suspicion.kind],
        title=suspicion.title,
        detail=suspicion.detail,
        cause=suspicion.cause,
        operations=tuple(operations) or (suspicion.operation,),
        steps=steps,
        confirmed=fault.confirmed,
        standing=standing,
        curl="\n".join(curl_line(_as_sent(step), base_url) for step in steps),
        seen=fault.seen,
        promise=None if operation is None else promise_of(operation, contract, suspicion.kind),
        stale=stale_values(fault.steps) if suspicion.kind is Kind.LOST_UPDATE else (),
        rests=fault.rests,
    )
    return secrets.hidden_in(line)


def _as_sent(step: StepLine) -> Request:
    """A credential that was wrong on purpose is written out: with the right one the line would show nothing."""
    if step.credentials != "wrong":
        return step.request
    headers = tuple((name, value.replace(HIDDEN, WRONG)) for name, value in step.request.headers)
    return replace(step.request, headers=headers, target=step.request.target.replace(HIDDEN, WRONG))


def step_lines(exchanges: Sequence[Exchange], secrets: Secrets, schemas: Schemas) -> tuple[StepLine, ...]:
    """A sequence without its secrets: those of the run, and the tokens that its own answers hand out."""
    own = secrets.with_values(text for exchange in exchanges for text in _handed_out(exchange))
    return tuple(
        StepLine(
            operation=exchange.operation.id,
            request=own.request(exchange.request, exchange.draft.extra),
            status=exchange.response.status,
            sent=_sent(exchange.request, own),
            received=_received(exchange.response, own),
            credentials=exchange.draft.credentials,
            carried=own.hidden_in(taken),
            names=tuple(_pointer(place) for place in names(schemas, exchange.draft)),
        )
        for exchange, taken in zip(exchanges, carried(exchanges), strict=True)
    )


def _pointer(place: Place) -> str:
    return "".join(f"/{escaped(str(part))}" for part in place[1:])


def _handed_out(exchange: Exchange) -> Iterator[str]:
    """Tokens that the service made; what it only repeats was made up for the request, which must stay sendable."""
    sent = exchange.request.target.encode() + b"\n" + (exchange.request.body or b"")
    return (text for text in response_secrets(exchange.response) if text.encode("utf-8", "replace") not in sent)


def group_of(operation: Operation) -> str:
    """For `OperationLine.group`: the first tag; without one, the first part of the path."""
    return operation.tags[0] if operation.tags else "/".join(operation.path.split("/")[:2])


def _sent(request: Request, secrets: Secrets) -> str:
    first = f"{printable(request.method)} {printable(secrets.target_for_reading(request.target), 2000)}"
    return _message(first, secrets.headers_for_reading(request.headers), request.body or b"", secrets)


def _received(response: Response, secrets: Secrets) -> str:
    if response.status is None:
        return f"No answer: {response.silence or 'the reason is unknown'}."
    cut = "" if response.whole else "\n… (the answer was cut here)"
    return _message(f"{response.status}", secrets.headers_for_reading(response.headers), response.body, secrets) + cut


def _message(first: str, headers: Headers, body: bytes, secrets: Secrets) -> str:
    told = [first, *(f"{printable(name)}: {printable(value, 1000)}" for name, value in headers)]
    if body:
        told += ["", printable_lines(secrets.body_for_reading(body), SHOWN_CHARACTERS)]
    return "\n".join(told)
