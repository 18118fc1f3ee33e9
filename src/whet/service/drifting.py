"""Has the world changed? Folding what was lived takes longer than a page may take, so it is done beside."""

import logging
import threading
import time
from typing import Final

from whet.bootstrap.drifting import Changes, changes
from whet.core.errors import WhetError
from whet.core.feedback import PagedStore
from whet.service.logs import LOGGER

# What happened since counts after this; a drift takes dozens of runs to be noticed.
FRESH_SECONDS: Final = 60.0
# Most projects have been looked at by then, and a page may show it at once.
_PATIENCE_SECONDS: Final = 0.25


class Drifting:
    """One look at a time, and only when somebody asks."""

    def __init__(self, store: PagedStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._looking: threading.Thread | None = None
        self._known: Changes | None = None
        self._head, self._looked_at = -1, float("-inf")

    def known(self, patience: float = _PATIENCE_SECONDS) -> Changes | None:
        """As far as it was looked at; None: nobody has yet."""
        with self._lock:
            if self._due():
                self._looking = threading.Thread(target=self._look, daemon=True)
                self._looking.start()
            looking = self._looking
        if looking is not None:
            looking.join(patience)
        return self._known

    def close(self) -> None:
        """The store is closed after this: nobody may be reading it."""
        if self._looking is not None:
            self._looking.join()

    def _due(self) -> bool:
        at_work = self._looking is not None and self._looking.is_alive()
        fresh = time.monotonic() - self._looked_at < FRESH_SECONDS
        return not at_work and not fresh and self._store.views.head() != self._head

    def _look(self) -> None:
        head = self._store.views.head()
        try:
            self._known = changes(self._store)
            self._head = head
        except WhetError as error:  # a store that is busy or away is looked at again
            logging.getLogger(LOGGER).warning("drift could not be looked for: %s", error)
        self._looked_at = time.monotonic()
