"""Everything a request may need, opened once per process: `request.app.state.desk`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Self

from fastapi import Request

from whet.bootstrap.remembering import FleetMemory, fleet_memory
from whet.bootstrap.site import Site
from whet.core.records import now
from whet.service.keys import service_secret
from whet.service.limits import Limit
from whet.service.living import Living
from whet.service.predicting import Predicting
from whet.service.sessions import Sessions
from whet.service.tokens import Tokens
from whet.service.training import Training
from whet.service.visits import Visits
from whet.settings.model import Settings
from whet.store.sql_store import SqlStore


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
        return Training(self.site.project.root, self.clock)

    @cached_property
    def requests(self) -> Limit:
        return Limit(self.settings.service.requests_per_minute)

    @cached_property
    def attempts(self) -> Limit:
        return Limit(self.settings.service.attempts_per_minute)

    def ready(self) -> Self:
        """What cannot be used is found out at the start, not by whoever asks first."""
        _ = self.secret, self.tokens, self.predicting
        return self

    def close(self) -> None:
        """Nothing that was begun here goes on without it."""
        self.training.stop()
        self.visits.close()
        self.predicting.close()


def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk
