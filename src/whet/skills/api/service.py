"""The service under test, as the explorer speaks to it: counted, paced, and waited for when it goes away."""

import time
from collections.abc import Callable
from dataclasses import replace

from whet.skills.api.access import Access
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.gateway import Away, Gateway
from whet.skills.api.writing import write
from whet.tools.http.client import Client
from whet.tools.http.messages import Headers, Request

_LONGEST_PAUSE = 30.0


class Service:
    """`send` is the one way out. `pause` is handed in, so that waiting can be ended from outside."""

    def __init__(
        self,
        client: Client,
        access: Access,
        base_path: str,
        per_second: float | None = None,
        headers: Headers = (),
        pause: Callable[[float], object] = time.sleep,
        patience_seconds: float = 60.0,
    ) -> None:
        self._client, self.access, self._base_path = client, access, base_path
        self._gap = 1.0 / per_second if per_second else 0.0
        self._pause = pause
        self._headers = headers  # given by the user, on every request
        self._free_at = 0.0
        self._failed = False  # many servers close the connection after that, without a word
        self.requests = 0
        self.most_requests: int | None = None  # nothing is sent beyond, by nobody
        self.gateway = Gateway(self._once, pause, patience_seconds)

    def send(self, draft: Draft, fresh: bool = False) -> Exchange:
        """What came of it. Raises Away where something before the service says that it is gone, and it stays gone."""
        return self.gateway.settled(self._once(draft, fresh))

    def _once(self, draft: Draft, fresh: bool = False) -> Exchange:
        if self.most_requests is not None and self.requests >= self.most_requests:
            raise Away
        self._keep_pace()
        request = self.access.dress(self._with_headers(write(draft, self._base_path)), draft.credentials)
        response = self._client.send(request, fresh or self._failed)
        self.requests += 1  # when it is over: who breaks off before it went out has sent nothing
        exchange = Exchange(self.requests, draft, request, response)
        self._failed = (response.status or 0) >= 500
        self.requests += response.resent  # it went out twice
        self._heed(exchange)
        return exchange

    def back_within(self, seconds: float) -> bool:
        """Wait for a service that went away."""
        until = time.monotonic() + seconds
        while not self._client.answers():
            if time.monotonic() > until:
                return False
            self._pause(0.5)
        return True

    def _with_headers(self, request: Request) -> Request:
        if not self._headers:
            return request
        own = {name.lower() for name, _ in self._headers}
        rest = tuple(pair for pair in request.headers if pair[0].lower() not in own)
        return replace(request, headers=(*rest, *self._headers))

    def _keep_pace(self) -> None:
        wait = self._free_at - time.monotonic()
        if wait > 0:
            self._pause(wait)
        self._free_at = max(time.monotonic(), self._free_at) + self._gap if self._gap else self._free_at

    def _heed(self, exchange: Exchange) -> None:
        """429 with Retry-After is a plain request to slow down."""
        asked = exchange.response.header("retry-after") if exchange.response.status == 429 else None
        if asked and asked.isdecimal():
            self._free_at = time.monotonic() + min(float(asked), _LONGEST_PAUSE)
