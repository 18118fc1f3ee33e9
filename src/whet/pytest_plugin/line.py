"""The line to the desk, from pytest's process and from its workers'."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

_LONGEST_SOCKET_NAME = 100
_FAREWELL_SECONDS = 5.0


class DeskError(Exception):
    """The desk could not do it, or cannot be reached; says why."""


class Address(NamedTuple):
    where: str  # a socket's path, or a port of this machine
    key: str


class Line:
    """Asks the desk, one question at a time. A line that was lost is taken up anew with the next question."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._connection: Connection | None = None

    def ask(
        self, name: str, *arguments: object, seconds: float = 30.0, meanwhile: Callable[[], object] = lambda: None
    ) -> Any:
        """`meanwhile` is done while the desk works."""
        try:
            well, answer = self._exchange((name, arguments), seconds, meanwhile)
        except (OSError, EOFError) as error:
            raise DeskError(f"Whet's own process does not answer ({type(error).__name__}: {error})") from error
        if not well:
            raise DeskError(answer)
        return answer

    def _send(self, question: tuple[str, tuple[object, ...]]) -> None:
        if self._connection is None:
            port = self.address.where.isdigit()
            where: Any = ("127.0.0.1", int(self.address.where)) if port else self.address.where
            self._connection = Client(where, authkey=bytes.fromhex(self.address.key))
        self._connection.send(question)

    def _exchange(
        self, question: tuple[str, tuple[object, ...]], seconds: float, meanwhile: Callable[[], object]
    ) -> tuple[bool, Any]:
        try:
            self._send(question)
            meanwhile()
            return self._receive(seconds)
        except BaseException:
            self.close()  # an answer that comes too late must not be taken for the next one's
            raise

    def _receive(self, seconds: float) -> tuple[bool, Any]:
        if self._connection is None or not self._connection.poll(seconds):
            raise TimeoutError(f"no answer within {seconds:g} s")
        answer: tuple[bool, Any] = self._connection.recv()
        return answer

    def close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(OSError):
                self._connection.close()
            self._connection = None


class DeskProcess:
    """Starts the desk and ends it."""

    def __init__(self, root: Path) -> None:
        self._directory = tempfile.mkdtemp(prefix="whet-")
        socket = str(Path(self._directory) / "desk")
        use_file = os.name == "posix" and len(socket) < _LONGEST_SOCKET_NAME
        command = [sys.executable, "-P", "-m", "whet.pytest_plugin.desk", str(root), *([socket] if use_file else [])]
        self._key = secrets.token_hex(16)
        self._line: Line | None = None
        self._errors = Path(self._directory) / "errors"
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=root
            )
        self._to_desk, self._from_desk = cast("IO[str]", self._process.stdin), cast("IO[str]", self._process.stdout)
        self._to_desk.write(f"{self._key}\n")
        self._to_desk.flush()

    @property
    def line(self) -> Line:
        """Waits until the desk takes calls."""
        if self._line is None:
            where = self._from_desk.readline().strip()
            if not where:
                raise DeskError(f"Whet's own process did not start: {self._last_words()}")
            self._line = Line(Address(where, self._key))
        return self._line

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
        with contextlib.suppress(OSError):
            self._to_desk.close()
        try:
            self._process.wait(timeout=_FAREWELL_SECONDS)  # what was acknowledged is written already
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._from_desk.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _last_words(self) -> str:
        return (self._errors.read_text(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
