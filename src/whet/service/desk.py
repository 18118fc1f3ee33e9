"""Everything a request may need, opened once per process: `request.app.state.desk`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from importlib.util import find_spec
from typing import Final, Self

from fastapi import Request

from whet.bootstrap.remembering import FleetMemory, fleet_memory
from whet.bootstrap.site import Site
from whet.core.records import now
from whet.queues.addresses import check_database, parts
from whet.service.drifting import Drifting
from whet.service.keys import service_secret
from whet.service.limits import Limit, OwnLimit
from whet.service.living import Living
from whet.service.predicting import Predicting
from whet.service.sessions import Sessions
from whet.service.tokens import Tokens
from whet.service.training import Training
from whet.service.visits import Visits
from whet.settings.model import Settings
from whet.store.sql_store import SqlStore

_REDIS: Final = ("redis://", "rediss://")


@dataclass
class Desk:
    """The store belongs to whoever opened it, who also closes it."""

    site: Site
    store: SqlStore
    clock: Callable[[], datetime] = field(default=now)

    @property
    def settings(self) -> Settings:
        return self.site.settings

    @cached_property
    def secret(self) -> bytes:
        return service_secret(self.site)

    @cached_property
    def sessions(self) -> Sessions:
        return Sessions(self.secret, self.settings.service.session_minutes)

    @cached_property
    def tokens(self) -> Tokens:
        return Tokens(self.settings.service, self.site.project.root)

    @cached_property
    def predicting(self) -> Predicting:
        return Predicting(self.site, self.store)

    @cached_property
    def visits(self) -> Visits:
        return Visits(self.site, self.store)

    @cached_property
    def living(self) -> Living:
        return Living(self.site, self.store)

    @cached_property
    def memory(self) -> FleetMemory:
        return fleet_memory(self.site, self.store)

    @cached_property
    def training(self) -> Training:
        return Training(self.site, self.store, self.clock)

    @cached_property
    def drifting(self) -> Drifting:
        return Drifting(self.store)

    @cached_property
    def requests(self) -> Limit:
        return self._limit("requests", self.settings.service.requests_per_minute)

    @cached_property
    def attempts(self) -> Limit:
        return self._limit("attempts", self.settings.service.attempts_per_minute)

    def _limit(self, name: str, per_minute: int) -> Limit:
        """Whoever names a Redis for training has a place where processes can count together."""
        address = self.settings.learn.queue
        if not address.startswith(_REDIS) or find_spec("redis") is None:
            return OwnLimit(per_minute)
        check_database(parts(address))
        from whet.service.shared_limits import SharedLimit

        return SharedLimit(address, self.secret, name, per_minute)

    def ready(self) -> Self:
        """What cannot be used is found out at the start, not by whoever asks first."""
        _ = self.secret, self.tokens, self.predicting, self.requests, self.attempts
        return self

    def close(self) -> None:
        """Nothing that was begun here goes on without it."""
        self.training.stop_own()
        self.drifting.close()
        self.visits.close()
        self.predicting.close()


def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk
