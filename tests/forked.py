"""Children that do a piece of work and may be killed while they do it."""

import gc
import os
import signal
import traceback
from collections.abc import Callable

# A child may be copied while another thread holds a lock, which nobody then lets go of there.
MOST_SECONDS = 180


def forked(work: Callable[[], object]) -> int:
    """The id of a child that does `work` and exits with 0, or with 1 if it failed. SIGALRM ends it if it hangs, so that
    whoever waits for it need not know when to stop."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(MOST_SECONDS)
        # What earlier tests left to the collector (a Kafka client, say) belongs to threads that were not copied:
        # collecting it here would crash the child.
        gc.freeze()
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return child
