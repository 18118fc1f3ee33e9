"""A service for as long as it is needed, and not a moment longer."""

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from whet.core.errors import WhetError
from whet.core.text import printable
from whet.tools.process import Limits, run

_URL = re.compile(r"http://\S+(?=\s)")


class _Enough(Exception):
    """Nobody needs the service any more."""


@contextmanager
def running_service(command: Sequence[str], *, cwd: Path, timeout_seconds: float = 3600.0) -> Iterator[str]:
    """The address that the command prints. Whatever ends us, kill -9 included, the command's processes end too."""
    service = _Service(command, cwd, timeout_seconds)
    try:
        yield service.url()
    finally:
        service.end()


class _Service:
    _STARTING_SECONDS = 30.0

    def __init__(self, command: Sequence[str], cwd: Path, timeout_seconds: float) -> None:
        self._command, self._cwd, self._limits = list(command), cwd, Limits(timeout_seconds=timeout_seconds)
        self._said, self._url, self._error = "", "", None
        self._known, self._enough = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def url(self) -> str:
        self._known.wait(self._STARTING_SECONDS)
        if not self._url:
            said = self._error or printable(self._said.strip()[-400:], 400) or "nothing"
            raise WhetError(
                f"{' '.join(self._command)} told no address; it said: {said}.",
                "It must print one, like http://127.0.0.1:8000",
            )
        return self._url

    def end(self) -> None:
        self._enough.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            run(self._command, cwd=self._cwd, limits=self._limits, on_output=self._hear, on_tick=self._tick)
        except _Enough:
            pass  # `end` asked for it
        except WhetError as error:
            self._error = str(error)
        finally:
            self._known.set()

    _error: str | None

    def _hear(self, text: str) -> None:
        if not self._known.is_set():
            self._said += text
            if told := _URL.search(self._said):
                self._url = told[0]
                self._known.set()

    def _tick(self) -> None:
        if self._enough.is_set():
            raise _Enough
