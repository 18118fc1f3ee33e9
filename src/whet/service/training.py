"""Training that was asked for over the network: one at a time, in a process of its own, with an end."""

import logging
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, Literal

from whet.bootstrap.site import Site
from whet.client.wire import Trained
from whet.core.errors import WhetError
from whet.core.records import new_id
from whet.service.logs import LOGGER, without_secrets
from whet.service.training_board import LOST, SIGN_SECONDS, Board
from whet.store.sql_store import SqlStore
from whet.tools.process import Completed, Limits, run

What = Literal["learn", "train"]
_SHOWN: Final = 4000
_COMMAND: Final = (sys.executable, "-c", "from whet.cli.main import main; main()")
_LOOK_SECONDS: Final = 0.1


class _Stopped(Exception):
    pass


class Training:
    """This process's part in it. What the others do is on the board."""

    def __init__(self, site: Site, store: SqlStore, clock: Callable[[], datetime]) -> None:
        self._root, self._store, self._clock = site.project.root, store, clock
        self._board = Board(store.knowledge, site.name, clock)
        self._holder = new_id()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._sign_at = 0.0
        self._thread: threading.Thread | None = None

    def last(self) -> Trained | None:
        """The one under way, in whichever process, or the last."""
        return self._board.shown()

    def start(self, what: What, options: Sequence[str], minutes: float, by: str) -> Trained | None:
        """None when one is under way already."""
        with self._lock:
            begun = Trained(what=what, by=by, begun_at=self._clock())
            if self._at_work() or not self._board.begin(begun, self._holder):
                return None
            self._stop.clear()
            self._tell("training-begun", begun)
            command = [*_COMMAND, what, *options, "--project", str(self._root)]
            self._thread = threading.Thread(target=self._work, args=(begun, command, minutes * 60.0), daemon=True)
            self._thread.start()
            return begun

    def stop(self) -> bool:
        """Ends it, and all its processes, wherever they are. False when none was under way."""
        if self.stop_own():
            return True
        if not _under_way(self.last()):
            return False
        self._board.ask_to_stop()
        until = time.monotonic() + LOST.total_seconds()
        while _under_way(self.last()) and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
        return True

    def stop_own(self) -> bool:
        """The same for what this process began."""
        thread = self._thread
        if thread is None or not thread.is_alive():
            return False
        self._stop.set()
        thread.join()
        return True

    def _at_work(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _work(self, begun: Trained, command: Sequence[str], seconds: float) -> None:
        ended = self._ended(begun, command, seconds)
        try:
            self._board.end(ended, self._holder)
            self._tell("training-ended", ended)
        except WhetError as error:  # the notice runs out by itself
            logging.getLogger(LOGGER).warning("the end of a training could not be kept: %s", error)

    def _ended(self, begun: Trained, command: Sequence[str], seconds: float) -> Trained:
        try:
            ended = run(command, cwd=self._root, limits=Limits(timeout_seconds=seconds), on_tick=self._tick)
            return _told(begun, ended, self._clock())
        except _Stopped:
            return begun.model_copy(update={"ended_at": self._clock(), "ok": False, "stopped": True})
        except (WhetError, OSError) as error:
            logging.getLogger(LOGGER).warning("training could not be started: %s", error)
            told = {"ended_at": self._clock(), "ok": False, "said": without_secrets(str(error))}
            return begun.model_copy(update=told)

    def _tick(self) -> None:
        if self._stop.is_set() or not self._signed():
            raise _Stopped

    def _signed(self) -> bool:
        """A store that is away for a moment does not end a training."""
        if time.monotonic() < self._sign_at:
            return True
        self._sign_at = time.monotonic() + SIGN_SECONDS
        with suppress(WhetError):
            return self._board.sign(self._holder)
        return True

    def _tell(self, kind: str, training: Trained) -> None:
        told = {"by": training.by, "ok": training.ok, "stopped": training.stopped, "timed_out": training.timed_out}
        self._store.audit.append(kind, training.what, told)


def _under_way(training: Trained | None) -> bool:
    return training is not None and training.ended_at is None


def _told(begun: Trained, ended: Completed, at: datetime) -> Trained:
    told = {
        "ended_at": at,
        "ok": ended.exit_code == 0,
        "timed_out": ended.timed_out,
        "said": without_secrets(ended.output[-_SHOWN:]),
    }
    return begun.model_copy(update=told)
