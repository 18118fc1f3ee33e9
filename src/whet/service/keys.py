"""Keys as people hold them: `whet_<id>_<secret>`. What is kept of one is a keyed digest.

The key of that digest is not in the database: who has a copy of the store cannot try secrets against it, and cannot
make one.
"""

import hashlib
import hmac
import re
import secrets
from datetime import datetime
from typing import Final, NamedTuple

from whet.bootstrap.site import Site, file_key, make_state_dir
from whet.core.people import Key, NewKey, Role

FILE: Final = "service.key"
_FORM: Final = re.compile(r"whet_([a-z0-9]{8,32})_([A-Za-z0-9_-]{32,64})")
# What an unknown key is compared with, so that an answer takes as long as for a known one.
_NOBODY: Final = "0" * 64


class Minted(NamedTuple):
    """A new key: what is kept, and the text that is shown once."""

    kept: NewKey
    text: str


def service_secret(site: Site) -> bytes:
    """What digests, sessions and forms of this installation are signed with."""
    given = site.settings.audit_key
    if given is None:
        make_state_dir(site.state_dir)
        return file_key(site.state_dir / FILE)
    return hmac.digest(given.get_secret_value().encode(), b"whet service", "sha256")


def mint(secret: bytes, name: str, role: Role, expires_at: datetime | None = None) -> Minted:
    key_id = secrets.token_hex(6)
    digest, text = new_secret(secret, key_id)
    return Minted(NewKey(id=key_id, name=name, role=role, digest=digest, expires_at=expires_at), text)


def new_secret(secret: bytes, key_id: str) -> tuple[str, str]:
    """Another secret for a key: its digest, and the text that is shown once."""
    drawn = secrets.token_urlsafe(32)
    return digest(secret, key_id, drawn), f"whet_{key_id}_{drawn}"


def digest(secret: bytes, key_id: str, drawn: str) -> str:
    return hmac.new(secret, f"key:{key_id}:{drawn}".encode(), hashlib.sha256).hexdigest()


def parsed(text: str) -> tuple[str, str] | None:
    """The id and the secret of a key; None when this is not the form of one."""
    found = _FORM.fullmatch(text)
    return None if found is None else (found[1], found[2])


def matches(secret: bytes, key: Key | None, key_id: str, drawn: str) -> bool:
    kept = _NOBODY if key is None else key.digest
    return hmac.compare_digest(kept, digest(secret, key_id, drawn)) and key is not None
