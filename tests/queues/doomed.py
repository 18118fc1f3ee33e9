"""A consumer that takes and is killed before it says done: `python -m tests.queues.doomed redis|store URL NAME`."""

import signal
import sys
import time

from tests.queues.openings import LEASE_SECONDS, opened

if __name__ == "__main__":
    signal.alarm(120)  # whoever waits for it reads its output, and would read for ever
    kind, url, name = sys.argv[1:]
    queue = opened(kind, url, name)
    while not (held := queue.take("doomed", 300, wait_seconds=LEASE_SECONDS)):
        pass
    print(len(held), flush=True)
    time.sleep(600)
