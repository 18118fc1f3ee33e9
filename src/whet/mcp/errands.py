"""Starts errands and waits for them. Whatever ends the waiting ends their processes first."""

import json
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import anyio.to_thread

from whet.core.errors import WhetError
from whet.tools.process import Completed, Limits, run

_TOLD_EVERY_SECONDS = 0.25
# Progress in seconds of the budget, and a sentence.
Progress = Callable[[float, str], Awaitable[None]]


class Stopped(Exception):
    """Raised inside the work when nobody waits for it any more."""


class Told(NamedTuple):
    """What an errand said. `run_id`: of the run it began, if it did."""

    result: dict[str, Any] | None
    error: str | None
    run_id: str | None


class Errand:
    """One child process, driven from a thread; asked from the event loop how far it is."""

    def __init__(self, arguments: list[str], root: Path, timeout_seconds: float) -> None:
        self._command = [sys.executable, "-P", "-m", "whet.mcp.errand", *arguments]
        self._root, self._limits = root, Limits(timeout_seconds=timeout_seconds)
        self._started = time.monotonic()
        self._stopped = threading.Event()
        self._rest = ""
        self._said: dict[str, Any] = {}

    def stop(self) -> None:
        self._stopped.set()

    @property
    def progress(self) -> str | None:
        return self._said.get("progress")

    def seconds(self) -> float:
        return time.monotonic() - self._started

    def work(self) -> Told:
        """Returns when the child and everything it started have ended."""
        try:
            done = run(
                self._command,
                cwd=self._root,
                limits=self._limits,
                on_output=self._hear,
                on_tick=self._look,
                kept_bytes=1000,
                with_errors=False,
            )
        except Stopped:
            return Told(None, "It was broken off.", self._said.get("run"))
        except WhetError as error:
            return Told(None, str(error), self._said.get("run"))
        return Told(self._said.get("result"), self._error(done), self._said.get("run"))

    def _look(self) -> None:
        if self._stopped.is_set():
            raise Stopped

    def _hear(self, chunk: str) -> None:
        *lines, self._rest = (self._rest + chunk).split("\n")
        for line in lines:
            self._said.update(json.loads(line))

    def _error(self, done: Completed) -> str | None:
        if "result" in self._said:
            return None
        if done.timed_out:
            limit = f"{self._limits.timeout_seconds:g} s"
            return f"It did not end within {limit} and was ended. Give it more minutes, or look for a test that hangs."
        if done.memory_exceeded:
            return "It used more memory than there is and was ended. Lower [tool.whet.limits] memory_mb for the suite."
        said = self._said.get("error")
        return said or f"It ended unexpectedly (exit code {done.exit_code}). `whet run` in a terminal says more."


async def sent(errand: Errand, work: Callable[[], Told], report: Progress) -> Told:
    """What `work`, which does the errand, answers. When the waiting is cancelled, the errand's processes are ended and
    `work` has returned before the cancellation goes on."""
    async with anyio.create_task_group() as group:
        group.start_soon(_accompany, errand, report)
        with anyio.CancelScope(shield=True):
            told = await anyio.to_thread.run_sync(work)
        group.cancel_scope.cancel()
    return told


async def _accompany(errand: Errand, report: Progress) -> None:
    last = None
    try:
        while True:
            await anyio.sleep(_TOLD_EVERY_SECONDS)
            if errand.progress is not None and errand.progress != last:
                last = errand.progress
                await report(errand.seconds(), last)
    finally:
        errand.stop()
