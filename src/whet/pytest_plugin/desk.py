"""The desk: a process beside the test run that holds the store and the orderer, and answers.

The user's process imports neither, so that the tests meet the modules they would meet without Whet; the desk
starts while pytest collects; and with pytest-xdist all workers ask the same desk, so that all get the same order.
Started with `python -P -m whet.pytest_plugin.desk ROOT`; the key for callers comes on stdin, the address to call
goes to stdout. It ends when stdin does.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from whet.pytest_plugin.clerk import Clerk

_LAST_WORK_SECONDS = 60
# Modules and tests are many objects and few cycles: searching for those more often costs a third of the time.
_OBJECTS_BETWEEN_COLLECTIONS = 200_000


class Desk:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._clerk: Clerk | None = None
        self._one_at_a_time = threading.RLock()
        self._left: dict[str, Any] = {}
        self._advised: dict[object, tuple[bool, Any]] = {}
        self._trouble: Exception | None = None

    def open(self) -> Clerk:
        with self._one_at_a_time:
            if self._clerk is None:
                from whet.pytest_plugin.clerk import Clerk

                self._clerk = Clerk(self._root)
            return self._clerk

    def open_early(self) -> None:
        """While pytest collects. What goes wrong is told to whoever asks first; who asks later has it tried again."""
        try:
            self.open()
        except Exception as error:
            self._trouble = error

    def serve(self, caller: Connection) -> None:
        try:
            while True:
                name, arguments = caller.recv()
                caller.send(self._answer(name, arguments))
        except (EOFError, OSError):
            return  # hung up

    def close(self) -> None:
        """Waits for what is being written."""
        if self._one_at_a_time.acquire(timeout=_LAST_WORK_SECONDS) and self._clerk is not None:
            self._clerk.close()

    def _answer(self, name: str, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
        if name == "leave":
            self._left[arguments[0]] = arguments[1]
            return True, None
        if name == "fetch":
            return True, self._left.get(arguments[0])
        with self._one_at_a_time:
            if name != "advise":
                return self._work(name, arguments)
            # Every worker asks the same and must get the same, be it that it did not work.
            if arguments not in self._advised:
                self._advised[arguments] = self._work(name, arguments)
            return self._advised[arguments]

    def _work(self, name: str, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
        try:
            if name == "quarantined":
                return True, self._quarantined()
            self._raise_early_trouble()
            work: Callable[..., Any] = getattr(self.open(), name)
            return True, work(*arguments)
        except Exception as error:  # whatever goes wrong here, the caller's tests run and the caller says what it was
            if os.environ.get("WHET_DEBUG"):
                raise
            return False, f"{type(error).__name__}: {error}"

    def _quarantined(self) -> dict[str, str]:
        from whet.pytest_plugin.clerk import quarantined

        return quarantined(self._root)

    def _raise_early_trouble(self) -> None:
        trouble, self._trouble = self._trouble, None
        if trouble is not None:
            raise trouble


def main() -> None:
    # Ctrl-C is meant for the tests; what they showed until then is still to be recorded.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    key = bytes.fromhex(sys.stdin.readline().strip())
    listener = Listener(sys.argv[2] if len(sys.argv) > 2 else ("127.0.0.1", 0), authkey=key)
    print(listener.address if isinstance(listener.address, str) else listener.address[1], flush=True)
    desk = Desk(Path(sys.argv[1]))
    threading.Thread(target=_accept, args=(listener, desk), daemon=True).start()
    threading.Thread(target=desk.open_early, daemon=True).start()
    sys.stdin.read()
    desk.close()
    listener.close()
    os._exit(0)  # threads may wait for callers that never call again


def _accept(listener: Listener, desk: Desk) -> None:
    while True:
        try:
            caller = listener.accept()
        except (OSError, EOFError):
            return
        except Exception:  # noqa: S112 - a caller without the key is none of ours
            continue
        threading.Thread(target=desk.serve, args=(caller,), daemon=True).start()


if __name__ == "__main__":
    main()
