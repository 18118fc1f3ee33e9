"""Training that was asked for over the network: one at a time, in a process of its own, with an end."""

import logging
import sys
import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from whet.client.wire import Trained
from whet.core.errors import WhetError
from whet.service.logs import LOGGER, without_secrets
from whet.tools.process import Completed, Limits, run

What = Literal["learn", "train"]
_SHOWN: Final = 4000
_COMMAND: Final = (sys.executable, "-c", "from whet.cli.main import main; main()")


class _Stopped(Exception):
    pass


class Training:
    def __init__(self, root: Path, clock: Callable[[], datetime]) -> None:
        self._root, self._clock = root, clock
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._last: Trained | None = None

    @property
    def last(self) -> Trained | None:
        return self._last

    @property
    def under_way(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self, what: What, options: Sequence[str], minutes: float, by: str) -> Trained | None:
        """None when one is under way already."""
        with self._lock:
            if self.under_way:
                return None
            self._stop.clear()
            begun = self._last = Trained(what=what, by=by, begun_at=self._clock())
            command = [*_COMMAND, what, *options, "--project", str(self._root)]
            self._thread = threading.Thread(target=self._work, args=(begun, command, minutes * 60.0), daemon=True)
            self._thread.start()
            return begun

    def stop(self) -> bool:
        """Ends it, and all its processes. False when none was under way."""
        thread = self._thread
        if thread is None or not thread.is_alive():
            return False
        self._stop.set()
        thread.join()
        return True

    def _work(self, begun: Trained, command: Sequence[str], seconds: float) -> None:
        try:
            ended = run(command, cwd=self._root, limits=Limits(timeout_seconds=seconds), on_tick=self._tick)
            self._last = _told(begun, ended, self._clock())
        except _Stopped:
            self._last = begun.model_copy(update={"ended_at": self._clock(), "ok": False, "stopped": True})
        except (WhetError, OSError) as error:
            told = {"ended_at": self._clock(), "ok": False, "said": without_secrets(str(error))}
            self._last = begun.model_copy(update=told)
            logging.getLogger(LOGGER).warning("training could not be started: %s", error)

    def _tick(self) -> None:
        if self._stop.is_set():
            raise _Stopped


def _told(begun: Trained, ended: Completed, at: datetime) -> Trained:
    told = {
        "ended_at": at,
        "ok": ended.exit_code == 0,
        "timed_out": ended.timed_out,
        "said": without_secrets(ended.output[-_SHOWN:]),
    }
    return begun.model_copy(update=told)
