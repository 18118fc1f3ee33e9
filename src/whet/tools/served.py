"""A service for as long as it is needed: started, waited for, started again when it dies, ended with all its children.

It runs under `process.run`, in a thread that lives as long as it does: whatever leaves the block, an exception or
Ctrl-C, ends it, and when Whet itself is killed the supervisor does.
"""

import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from whet.core.errors import WhetError
from whet.core.services import NotServed
from whet.core.text import printable_lines
from whet.tools.http.client import Client
from whet.tools.http.messages import Request
from whet.tools.http.origin import split_address
from whet.tools.process import Completed, Limits, run

PORT = "{port}"
MOST_DEATHS = 20  # one that dies more often than this is left alone
_BREATH_SECONDS = 0.2
_LAST_WORDS = 2_000
_LOOK_SECONDS = 0.05
_ANSWER_SECONDS = 5.0


@dataclass(frozen=True)
class Command:
    """`words` and `url` may contain {port}, which becomes a free one. `limits.timeout_seconds` is for all its lives."""

    words: Sequence[str]
    url: str
    cwd: Path
    limits: Limits
    env: Mapping[str, str] | None = None
    ready_seconds: float = 30.0


@dataclass
class Served:
    """A service that answers at `address`; `deaths` counts how often it had to be started again."""

    command: Command
    address: str
    words: list[str]
    deaths: int = 0
    last_words: str = ""
    _ended: Completed | None = None
    _error: WhetError | None = None
    _answered: bool = False
    _enough: threading.Event = field(default_factory=threading.Event)

    def live(self) -> None:
        """One life after the other, until it is enough."""
        deadline = time.monotonic() + self.command.limits.timeout_seconds
        while not self._enough.is_set() and self.deaths <= MOST_DEATHS and time.monotonic() < deadline:
            try:
                self._ended = self._one_life(deadline - time.monotonic())
            except _Enough:
                return
            except WhetError as error:
                self._error = error
                return
            if not self._answered:
                return
            self.deaths += 1
            self._enough.wait(_BREATH_SECONDS)

    def end(self) -> None:
        self._enough.set()

    def wait_until_it_answers(self, life: threading.Thread) -> None:
        deadline = time.monotonic() + self.command.ready_seconds
        with Client(split_address(self.address)[0], _ANSWER_SECONDS) as client:
            while client.send(Request("GET", "/")).status is None:
                if not life.is_alive():
                    raise self._died()
                if time.monotonic() > deadline:
                    raise self._silent()
                time.sleep(_LOOK_SECONDS)
        self._answered = True

    def _one_life(self, seconds: float) -> Completed:
        limits = self.command.limits.model_copy(update={"timeout_seconds": max(seconds, 0.1)})
        return run(
            self.words,
            cwd=self.command.cwd,
            env=self.command.env,
            limits=limits,
            on_output=self._hear,
            on_tick=self._stop_if_enough,
            kept_bytes=_LAST_WORDS,
        )

    def _hear(self, said: str) -> None:
        self.last_words = (self.last_words + said)[-_LAST_WORDS:]

    def _stop_if_enough(self) -> None:
        if self._enough.is_set():
            raise _Enough

    def _died(self) -> NotServed:
        if self._error is not None:
            return NotServed(f"The service could not be started. {self._error}", "Check `start` of [tool.whet.api].")
        how = "ended" if self._ended is None else _how(self._ended)
        return NotServed(
            f"The service {how} before it answered at {self.address}.{self._said()}",
            "`start` of [tool.whet.api] must stay in the foreground; try it yourself in the project's directory.",
        )

    def _silent(self) -> NotServed:
        return NotServed(
            f"The service did not answer at {self.address} within {self.command.ready_seconds:g} s.{self._said()}",
            "Check `start` and `url` of [tool.whet.api], or raise ready_seconds.",
        )

    def _said(self) -> str:
        said = printable_lines(self.last_words.strip(), _LAST_WORDS)
        return f" Its last words:\n{said}\n" if said else " It said nothing."


class _Enough(Exception):
    """Ends `run` from within, which leaves nothing of the service alive."""


@contextmanager
def served(command: Command) -> Iterator[Served]:
    """The service, answering; nothing of it is alive afterwards."""
    port = str(free_port())
    service = Served(command, command.url.replace(PORT, port), [word.replace(PORT, port) for word in command.words])
    _refuse_another(service)
    life = threading.Thread(target=service.live, name="service under test")
    try:
        life.start()
        service.wait_until_it_answers(life)
        yield service
    finally:
        service.end()
        if life.ident is not None:
            life.join()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _refuse_another(service: Served) -> None:
    """What answers already is not ours: it might be somebody's production."""
    if Client(split_address(service.address)[0], _ANSWER_SECONDS).answers():
        raise NotServed(
            f"Something answers at {service.address} before the service was started.",
            "Whet tests only what it starts itself: stop that, or write {port} into `start` and `url`.",
        )


def _how(ended: Completed) -> str:
    if ended.memory_exceeded:
        return "used more memory than it may"
    if ended.timed_out:
        return "was ended by the time limit"
    return f"ended by signal {ended.signal}" if ended.signal is not None else f"ended with code {ended.exit_code}"
