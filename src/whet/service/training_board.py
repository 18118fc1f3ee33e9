"""Which training is under way, for all processes on one store: a notice there, changed by one at a time.

Whoever trains signs the notice again and again. One that was not signed for a while is of somebody who was killed.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from pydantic import ValidationError

from whet.client.wire import Trained
from whet.core.ports import ServiceKnowledge
from whet.core.records import Record

SIGN_SECONDS: Final = 2.0
# Machines' clocks may differ by some seconds, and a busy machine may be late.
LOST: Final = timedelta(seconds=20)


class Notice(Record):
    training: Trained
    holder: str
    signed_at: datetime
    stop: bool = False

    def held(self, now: datetime) -> bool:
        return self.training.ended_at is None and abs(now - self.signed_at) < LOST


class Board:
    """`store.knowledge` keeps one document per service, and changes it whole; this is what the service knows of
    itself."""

    def __init__(self, kept: ServiceKnowledge, project: str, clock: Callable[[], datetime]) -> None:
        self._kept, self._clock = kept, clock
        self._name = f"whet serve, training {project}"

    def begin(self, training: Trained, holder: str) -> bool:
        """False, and no change, while another one is under way."""
        mine = Notice(training=training, holder=holder, signed_at=self._clock())
        return self._change(lambda seen: mine if seen is None or not seen.held(self._clock()) else seen) == mine

    def sign(self, holder: str) -> bool:
        """True: go on. False: somebody wants it to end, or takes the holder for dead and began another."""
        now = self._clock()
        seen = self._change(lambda seen: _signed(seen, now) if seen is not None and seen.holder == holder else seen)
        return seen is not None and seen.holder == holder and not seen.stop

    def end(self, training: Trained, holder: str) -> None:
        self._change(
            lambda seen: (
                seen.model_copy(update={"training": training}) if seen is not None and seen.holder == holder else seen
            )
        )

    def ask_to_stop(self) -> None:
        self._change(lambda seen: None if seen is None else seen.model_copy(update={"stop": True}))

    def shown(self) -> Trained | None:
        """The one under way, or the last; what nobody signs any more has failed."""
        seen = _read(self._kept.load(self._name))
        if seen is None or seen.training.ended_at is not None or seen.held(self._clock()):
            return None if seen is None else seen.training
        told = {"ended_at": seen.signed_at, "ok": False, "said": "The process that trained was ended."}
        return seen.training.model_copy(update=told)

    def _change(self, changed: Callable[[Notice | None], Notice | None]) -> Notice | None:
        def combine(earlier: str | None) -> str:
            notice = changed(_read(earlier))
            return "" if notice is None else notice.model_dump_json()

        return _read(self._kept.update(self._name, combine))


def _signed(notice: Notice, now: datetime) -> Notice:
    return notice.model_copy(update={"signed_at": now})


def _read(document: str | None) -> Notice | None:
    """What another version of Whet wrote in a form that is not known here is nobody's."""
    try:
        return Notice.model_validate_json(document) if document else None
    except ValidationError:
        return None
