"""In the place of a queue that could not be opened."""

from collections.abc import Sequence
from typing import NoReturn

from whet.core.errors import WhetError
from whet.core.queues import Delivery, Message


class Unreachable:
    """Tells whoever needs the queue why there is none; what needs none goes on."""

    drops_duplicates = True

    def __init__(self, why: WhetError) -> None:
        self._why = why

    def put(self, messages: Sequence[Message]) -> None:
        self._refuse()

    def take(self, consumer: str, limit: int, wait_seconds: float = 0.0) -> list[Delivery]:
        self._refuse()

    def done(self, deliveries: Sequence[Delivery]) -> None:
        self._refuse()

    def waiting(self) -> int | None:
        self._refuse()

    def close(self) -> None:
        """Nothing was opened."""

    def _refuse(self) -> NoReturn:
        raise self._why
