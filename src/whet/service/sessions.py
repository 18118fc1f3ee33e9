"""Signed cookies for people with a browser, and the token that every form carries.

A cookie names a key and its turn, never its secret: revoking or rotating the key ends all its sessions.
"""

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from dataclasses import asdict, dataclass
from typing import Final

from whet.core.people import Key

COOKIE: Final = "whet_session"
LONGEST_SECONDS: Final = 12 * 3600  # however busy somebody is
_LONGEST_TEXT: Final = 1024


@dataclass(frozen=True)
class Session:
    key_id: str
    turn: int
    since: int
    expires: int
    nonce: str


class Sessions:
    def __init__(self, secret: bytes, minutes: float) -> None:
        self._secret, self._seconds = secret, int(minutes * 60)

    def begun(self, key: Key, now: float) -> Session:
        return Session(key.id, key.turn, int(now), int(now) + self._seconds, secrets.token_urlsafe(16))

    def renewed(self, session: Session, now: float) -> Session | None:
        """The same, for longer, once half its time is over; None while that is not needed, or not possible any more."""
        expires = min(int(now) + self._seconds, session.since + LONGEST_SECONDS)
        if session.expires - now > self._seconds / 2 or expires <= session.expires:
            return None
        return Session(session.key_id, session.turn, session.since, expires, session.nonce)

    def sealed(self, session: Session) -> str:
        body = base64.urlsafe_b64encode(json.dumps(asdict(session), separators=(",", ":")).encode()).decode()
        return f"{body}.{self._mac('session', body)}"

    def opened(self, cookie: str, now: float) -> Session | None:
        """None for whatever was not sealed here, or is over."""
        body, _, mac = cookie[:_LONGEST_TEXT].partition(".")
        if not hmac.compare_digest(mac.encode(), self._mac("session", body).encode()):
            return None
        try:
            session = Session(**json.loads(base64.urlsafe_b64decode(body)))
        except (binascii.Error, ValueError, TypeError):
            return None
        return session if now < session.expires else None

    def form_token(self, session: Session) -> str:
        return self._mac("form", session.nonce)

    def is_form_token(self, session: Session, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.form_token(session).encode())

    def _mac(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{text}".encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
