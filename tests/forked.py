"""Children that do a piece of work and may be killed while they do it."""

import faulthandler
import gc
import os
import signal
import traceback
from collections.abc import Callable

# Long enough for any of them. A lock or a pool of threads that a parent had when it was copied can stop a child for
# good, and whoever waits for it with it: then it says where it stood, and dies.
LIMIT_SECONDS = 120


def forked(work: Callable[[], object]) -> int:
    """The id of a child that does `work` and exits with 0, or with 1 if it failed or took too long."""
    child = os.fork()
    if child == 0:
        # What earlier tests left to the collector (a Kafka client, say) belongs to threads that were not copied:
        # collecting it here would crash the child.
        gc.freeze()
        _limit()
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return child


def _limit() -> None:
    """By an alarm: faulthandler's own timer would wait for the thread of its parent's, which was not copied."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    faulthandler.register(signal.SIGALRM, file=2, chain=True)
    signal.alarm(LIMIT_SECONDS)
