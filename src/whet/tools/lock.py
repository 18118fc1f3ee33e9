"""One run at a time in one project."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whet.core.errors import Busy


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file while inside. The kernel lets go of it when the process ends, however it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise Busy(
                f"Another whet is at work in this project (process {holder}).",
                "Wait until it has finished; two runs would disturb each other's timings.",
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
