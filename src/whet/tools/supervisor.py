"""Runs one command and leaves nothing of it alive. A script of its own, started by `process.py`; standard library only.

Two guards watch the command's process tree, so that neither a killed Whet nor a command that
kills its parent leaves anything behind::

    Whet ── supervisor ── guard ── command ── … its children, also those that called setsid

Both adopt orphans (child subreaper). The supervisor ends the tree when the command ends, when a
limit is passed, when its standard input closes (Whet is gone or wants to stop) or on SIGTERM; the
guard ends it when the supervisor is killed. Memory is the summed resident size of the tree, looked
at a few times a second: an address-space limit would break programs that reserve more than they use.

Where there is no Linux (/proc, prctl), the command's process group is killed instead: children
that left the group survive, and memory is neither measured nor limited.
"""

from __future__ import annotations  # keeps `typing` from being imported: this script starts with every command

import ctypes
import json
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn

POLL_SECONDS = 0.1
# Looking at /proc may take at most this share of one core on machines with very many processes.
POLL_SHARE = 0.05
ENDING_SECONDS = 10.0
LIFELINE = 0
LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
MEBIBYTE = 1024 * 1024


class Orphaned(Exception):
    """The supervisor is gone; the guard has to end the tree."""


def prctl(option: int, value: int) -> None:
    if LINUX:
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def processes() -> dict[int, int]:
    """pid → parent, for every living process. A zombie leader with living threads is alive."""
    parents = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib takes longer to import than this script to start
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123 - as above
                    fields = stat.read().rpartition(b")")[2].split()
            except OSError:
                continue  # it ended meanwhile
            if fields[0] not in b"ZX" or int(fields[17]) > 1:
                parents[int(name)] = int(fields[1])
    return parents


def descendants(ancestor: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid, parent in processes().items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    waiting = [ancestor]
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            if pid not in found:
                found.add(pid)
                waiting.append(pid)
    return found


def resident_bytes(pids: Iterable[int]) -> int:
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm", "rb") as statm:  # noqa: PTH123 - as above
                total += int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            continue
    return total


def proportional_bytes(pids: Iterable[int]) -> int:
    """Like `resident_bytes`, with pages that several processes share counted once; slower to read."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as rollup:  # noqa: PTH123 - as above
                total += sum(int(line.split()[1]) * 1024 for line in rollup if line.startswith(b"Pss:"))
        except OSError:
            total += resident_bytes([pid])
    return total


def send(pids: Iterable[int], signal_number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal_number)
        except OSError:
            continue  # it ended meanwhile, or is another user's


def reap() -> dict[int, int]:
    """Statuses of ended children, without waiting."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = status


def end_tree(ancestor: int) -> None:
    """Freeze every descendant until no new one appears, then kill them all."""
    deadline = time.monotonic() + ENDING_SECONDS
    frozen: set[int] = set()
    while time.monotonic() < deadline:
        appeared = descendants(ancestor) - frozen
        if not appeared:
            break
        send(appeared, signal.SIGSTOP)
        frozen |= appeared
    while time.monotonic() < deadline:
        living = descendants(ancestor)
        if not living:
            break
        send(living, signal.SIGKILL)
        reap()
        time.sleep(0.005)
    reap()


def start(command: list[str], reports: int) -> int:
    """Fork the command into its own session. What stops it from starting goes to `reports`."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)  # Python ignores the last two; a command must not inherit that
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except BaseException as error:  # this is the forked child: nothing may get past here
        os.write(reports, f"error {error}\n".encode("utf-8", "replace"))
    finally:
        os._exit(127)


def guard(command: list[str], reports: int, supervisor: int) -> NoReturn:
    def stop_if_orphaned(*_: object) -> None:
        if os.getppid() != supervisor:
            raise Orphaned

    try:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        signal.signal(signal.SIGTERM, stop_if_orphaned)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        stop_if_orphaned()
        pid = start(command, reports)
        os.write(reports, f"started {pid}\n".encode())
        while True:
            try:
                ended, status, usage = os.wait4(-1, 0)
            except ChildProcessError:
                signal.pause()
                continue
            if ended == pid:
                os.write(reports, f"ended {status} {usage.ru_maxrss}\n".encode())
    except Orphaned:
        end_tree(os.getpid())
    except OSError as error:  # no process could be made
        os.write(reports, f"error {error}\n".encode("utf-8", "replace"))
    finally:
        os._exit(0)


def burn(supervisor: int) -> NoReturn:
    """Keep one core busy for as long as the supervisor lives."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while os.getppid() == supervisor:
        for _ in range(1_000_000):
            pass
    os._exit(0)


def forked(work: Callable[..., NoReturn], *arguments: object) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            work(*arguments)
        finally:
            os._exit(1)
    return pid


class Supervision:
    def __init__(
        self, command: list[str], timeout_seconds: float, memory_mb: float | None, load_processes: int
    ) -> None:
        self.command = command
        self.deadline = time.monotonic() + timeout_seconds
        self.memory_limit = None if memory_mb is None else memory_mb * MEBIBYTE
        self.load_processes = load_processes
        self.burners: set[int] = set()
        self.guard: int | None = None
        self.pid: int | None = None
        self.status: int | None = None
        self.peak = 0
        # A forked child starts with our size, so the peak of the program it becomes is only known well above it.
        self.inherited = 1.2 * resident_bytes([os.getpid()]) if LINUX else 0.0
        self.ended: str | None = None
        self.error: str | None = None

    def run(self) -> dict[str, Any]:
        signal.signal(signal.SIGTERM, lambda *_: self.end("stopped"))
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        myself = os.getpid()
        self.burners = {forked(burn, myself) for _ in range(self.load_processes)}
        reading, writing = os.pipe()
        self.guard = forked(guard, self.command, writing, myself)
        os.close(writing)
        self.watch(reading)
        self.end_everything()
        return self.report()

    def end(self, reason: str) -> None:
        self.ended = self.ended or reason

    def watch(self, reading: int) -> None:
        sources, delay = [LIFELINE, reading], POLL_SECONDS
        while self.ended is None:
            ready = select.select(sources, [], [], max(0.0, min(delay, self.deadline - time.monotonic())))[0]
            if LIFELINE in ready:
                self.end("stopped")
            if reading in ready and not self.hear(reading):
                sources.remove(reading)  # the guard was killed: from now on the command is our own child
            if time.monotonic() >= self.deadline:
                self.end("timed_out")
            self.note(reap())
            began = time.monotonic()
            self.weigh()
            delay = max(POLL_SECONDS, (time.monotonic() - began) / POLL_SHARE)

    def hear(self, reading: int) -> bool:
        heard = os.read(reading, 65536)
        for line in heard.decode("utf-8", "replace").splitlines():
            word, _, rest = line.partition(" ")
            if word == "started":
                self.pid = int(rest)
            elif word == "ended":
                status, peak_kb = map(int, rest.split())
                self.conclude(status)
                if LINUX and peak_kb * 1024 > self.inherited:
                    self.peak = max(self.peak, peak_kb * 1024)
            elif word == "error":
                self.error = rest
        return bool(heard)

    def note(self, ended: dict[int, int]) -> None:
        if self.pid in ended:
            self.conclude(ended[self.pid])
        elif self.guard in ended and self.pid is None:
            self.end("ended")

    def conclude(self, status: int) -> None:
        self.status = status
        self.end("ended")

    def weigh(self) -> None:
        if not LINUX:
            return
        tree = {pid for pid in descendants(os.getpid()) - self.burners if pid != self.guard}
        resident = resident_bytes(tree)
        self.peak = max(self.peak, resident)
        # Summed resident sizes count pages shared by forked workers several times: look twice before ending a run.
        if self.memory_limit is not None and resident > self.memory_limit < proportional_bytes(tree):
            self.end("memory_exceeded")

    def end_everything(self) -> None:
        if LINUX:
            end_tree(os.getpid())
            return
        group = [] if self.pid is None else [-self.pid]
        send([*group, *self.burners, *([] if self.guard is None else [self.guard])], signal.SIGKILL)
        reap()

    def report(self) -> dict[str, Any]:
        known = self.status is not None and self.ended == "ended" and self.error is None
        code = os.waitstatus_to_exitcode(self.status) if known and self.status is not None else None
        return {
            "exit_code": code if code is not None and code >= 0 else None,
            "signal": -code if code is not None and code < 0 else None,
            "timed_out": self.ended == "timed_out",
            "memory_exceeded": self.ended == "memory_exceeded",
            "peak_memory_mb": self.peak / MEBIBYTE if self.peak > self.inherited else None,
            "start_error": self.error,
        }


def main() -> None:
    settings = json.loads(sys.argv[1])
    report_to = settings.pop("report_to")
    os.set_inheritable(report_to, False)
    report = Supervision(sys.argv[2:], **settings).run()
    os.write(report_to, json.dumps(report).encode())


if __name__ == "__main__":
    main()
