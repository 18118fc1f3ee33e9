"""Runs a command under limits, keeps the ends of its output, and leaves nothing of it alive."""

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from whet.core.errors import WhetError
from whet.core.records import Count, Record, Seconds
from whet.tools.system import available_memory_mb

KEPT_BYTES = 200_000
_TICK_SECONDS = 0.1
# The supervisor ends the tree itself; this is for one that was stopped or starved.
_BACKSTOP_SECONDS = 20.0
_SUPERVISOR = Path(__file__).with_name("supervisor.py")


class Limits(Record):
    """`memory_mb` is what the whole process tree may hold; None: 80 % of what is available when it starts."""

    timeout_seconds: Annotated[float, Field(gt=0.0)]
    memory_mb: Annotated[float, Field(gt=0.0)] | None = None


class Completed(Record):
    """How a command ended. `exit_code` is None when it did not end by itself; `signal` then may say why."""

    exit_code: int | None
    signal: int | None
    duration_seconds: Seconds
    timed_out: bool
    memory_exceeded: bool
    peak_memory_mb: float | None
    output: str = Field(description="stdout and stderr as they came, the middle of long output left out")
    output_bytes: Count


def default_memory_mb() -> float | None:
    """80 % of the memory available now; None where that cannot be known."""
    available = available_memory_mb()
    return None if available is None else available * 0.8


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    limits: Limits,
    on_output: Callable[[str], None] | None = None,
    on_tick: Callable[[], None] | None = None,
    load_processes: int = 0,
    kept_bytes: int = KEPT_BYTES,
    with_errors: bool = True,
) -> Completed:
    """Run `command` to its end or to a limit, with `load_processes` busy loops beside it.

    `on_output` gets the output as it comes; `on_tick` is called about ten times a second. Whatever
    leaves this function, an exception of theirs or Ctrl-C included, leaves no process behind. The
    first and last `kept_bytes` of the output are kept; without `with_errors`, stderr is not part of it.
    """
    started = time.monotonic()
    reading, writing = os.pipe()
    try:
        supervisor = _start(command, cwd, env, limits, load_processes, with_errors, writing)
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    output = _Output(kept_bytes, on_output)
    try:
        _drain(supervisor, output, on_tick, started + limits.timeout_seconds + _BACKSTOP_SECONDS)
    finally:
        _end(supervisor)
        report = _read_report(reading, supervisor.returncode)
    if report["start_error"] is not None:
        raise WhetError(f"{command[0]} could not be started: {report['start_error']}.", "Check that it exists.")
    return _completed(report, output, time.monotonic() - started)


class _Output:
    """Keeps the first and the last `kept_bytes` of what was written."""

    def __init__(self, kept_bytes: int, listener: Callable[[str], None] | None) -> None:
        self.total = 0
        self._kept_bytes = kept_bytes
        self._first = bytearray()
        self._last = bytearray()
        self._listener = listener

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self._kept_bytes - len(self._first)
        self._first += chunk[:room]
        self._last += chunk[room:] if room else chunk
        if len(self._last) > 4 * self._kept_bytes:
            del self._last[: -self._kept_bytes]
        if self._listener is not None:
            self._listener(chunk.decode(errors="replace"))

    def text(self) -> str:
        last = self._last[-self._kept_bytes :]
        left_out = self.total - len(self._first) - len(last)
        gap = f"\n… {left_out} bytes left out …\n".encode() if left_out else b""
        return (self._first + gap + last).decode(errors="replace")


def _start(
    command: Sequence[str],
    cwd: Path,
    env: Mapping[str, str] | None,
    limits: Limits,
    load_processes: int,
    with_errors: bool,
    report_to: int,
) -> "subprocess.Popen[bytes]":
    memory_mb = default_memory_mb() if limits.memory_mb is None else limits.memory_mb
    settings = {
        "report_to": report_to,
        "timeout_seconds": limits.timeout_seconds,
        "memory_mb": memory_mb,
        "load_processes": load_processes,
    }
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SUPERVISOR), json.dumps(settings), *command],
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,  # the lifeline: when it closes, the supervisor ends everything
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if with_errors else subprocess.DEVNULL,
            pass_fds=(report_to,),
            start_new_session=True,  # Ctrl-C reaches Whet alone, which then ends the tree in order
        )
    except (OSError, ValueError) as error:
        raise WhetError(
            f"{command[0]} could not be started in {cwd}: {error}.", "Check that the directory exists."
        ) from error


def _drain(
    supervisor: "subprocess.Popen[bytes]", output: _Output, on_tick: Callable[[], None] | None, backstop: float
) -> None:
    """Read until every process that could write has ended."""
    assert supervisor.stdout is not None  # noqa: S101 - opened as a pipe in _start
    pipe = supervisor.stdout.fileno()
    next_tick = time.monotonic()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while time.monotonic() < backstop:
            if selector.select(_TICK_SECONDS):
                chunk = os.read(pipe, 1 << 18)
                if not chunk:
                    return
                output.add(chunk)
            if on_tick is not None and time.monotonic() >= next_tick:
                on_tick()
                next_tick = time.monotonic() + _TICK_SECONDS


def _end(supervisor: "subprocess.Popen[bytes]") -> None:
    assert supervisor.stdin is not None  # noqa: S101 - opened as pipes in _start
    assert supervisor.stdout is not None  # noqa: S101
    supervisor.stdin.close()
    try:
        supervisor.wait(_BACKSTOP_SECONDS)
    except subprocess.TimeoutExpired:
        supervisor.send_signal(signal.SIGKILL)  # its guard then ends the tree
        supervisor.wait()
    finally:
        supervisor.stdout.close()


def _read_report(reading: int, returncode: int | None) -> dict[str, Any]:
    with open(reading, "rb") as pipe:
        text = pipe.read()
    if text:
        report: dict[str, Any] = json.loads(text)
        return report
    return {  # something killed the supervisor itself
        "exit_code": None,
        "signal": -returncode if returncode is not None and returncode < 0 else None,
        "timed_out": False,
        "memory_exceeded": False,
        "peak_memory_mb": None,
        "start_error": None,
    }


def _completed(report: Mapping[str, Any], output: _Output, duration_seconds: float) -> Completed:
    measured = {name: value for name, value in report.items() if name != "start_error"}
    return Completed(**measured, duration_seconds=duration_seconds, output=output.text(), output_bytes=output.total)
