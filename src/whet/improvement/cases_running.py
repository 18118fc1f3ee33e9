"""What came of a case: by executing it against a running service, or as it was written down."""

import http.client
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self
from urllib.parse import urlsplit

from whet.core.errors import RefusedInput, WhetError
from whet.core.text import printable
from whet.improvement.cases import Case, require_outcomes
from whet.improvement.cases_features import place
from whet.improvement.cases_steps import Step

_LARGEST_ANSWER = 1 << 20
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_CLOSED = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)


class Verdict(NamedTuple):
    """`cause` tells failures apart: None: it passed; equal texts: the same fault, as far as anybody can see."""

    cause: str | None
    requests: int


class Runner(Protocol):
    def run(self, case: Case) -> Verdict: ...


class Recorded:
    """Outcomes that were written down."""

    def __init__(self, cases: Sequence[Case]) -> None:
        require_outcomes(cases)

    def run(self, case: Case) -> Verdict:
        return Verdict(case.failure, max(1, len(case.steps)))


class Live:
    """Executes cases against a service on this machine, each in a session of its own (the header X-Session).

    No answer within `timeout_seconds` is a failure. A service that cannot be reached at all is an error, not a verdict.
    """

    _sessions = itertools.count()

    def __init__(self, url: str, timeout_seconds: float = 10.0) -> None:
        split = urlsplit(url)
        if split.scheme != "http" or split.hostname not in _LOOPBACK or not split.port:
            raise RefusedInput(
                f"Cases are not executed against {printable(url, 200)}: "
                "training sends thousands of requests that change things.",
                "Give a test system on this machine, like http://127.0.0.1:8000; forward a port if it is elsewhere.",
            )
        self.url, self.requests = url, 0
        self._connection = http.client.HTTPConnection(split.hostname, split.port, timeout=timeout_seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def run(self, case: Case) -> Verdict:
        """Stops at the first answer that is not the expected one: what follows it would prove nothing."""
        headers = {**case.headers, "X-Session": f"whet-{id(self)}-{next(self._sessions)}"}
        known: dict[str, Any] = {}
        for number, step in enumerate(case.steps, start=1):
            cause, answer = self._take(step, headers, known)
            if cause is not None:
                return Verdict(f"{step.method} {place(step)}: {cause}", number)
            known |= answer
        return Verdict(None, len(case.steps))

    def _take(self, step: Step, headers: dict[str, str], known: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
        path = re.sub(r"\{(\w+)\}", lambda name: str(known.get(name[1], name[0])), step.path)
        body = None if step.body is None else json.dumps(step.body).encode()
        try:
            status, content = self._sent(step.method, path, body, headers)
        except TimeoutError:
            self._connection.close()
            return "no answer in time", {}
        except (http.client.HTTPException, *_CLOSED):
            self._connection.close()
            return "no valid answer", {}
        answer = _fields(content)
        return _difference(step, status, answer), answer

    def _sent(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        self.requests += 1
        kept = self._connection.sock is not None
        try:
            return self._exchanged(method, path, body, headers)
        except _CLOSED:
            self._connection.close()
            if not kept:
                raise
            return self._exchanged(method, path, body, headers)  # an idle connection may be closed; a new one not

    def _exchanged(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        if self._connection.sock is None:
            self._connect()
        kind = {} if body is None else {"Content-Type": "application/json"}
        self._connection.request(method, path, body, {**kind, **headers})
        answer = self._connection.getresponse()
        content = answer.read(_LARGEST_ANSWER)
        if answer.read(1):
            self._connection.close()
        return answer.status, content

    def _connect(self) -> None:
        try:
            self._connection.connect()
        except OSError as error:
            raise WhetError(
                f"The service at {self.url} cannot be reached: {error}.", "Start it, and train again."
            ) from error


def _fields(content: bytes) -> dict[str, Any]:
    try:
        told = json.loads(content) if content else {}
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _difference(step: Step, status: int, answer: Mapping[str, Any]) -> str | None:
    """What a person would file as one fault. Numbers in messages are left out: they differ from case to case."""
    if status != step.status:
        error = re.sub(r"\d+", "#", printable(str(answer.get("error", "")), 80)) if status >= 500 else ""
        return f"{status} instead of {step.status}" + (f" ({error})" if error else "")
    wrong = [name for name, value in step.fields.items() if answer.get(name) != value]
    return f"another {', '.join(sorted(wrong))} than expected" if wrong else None
