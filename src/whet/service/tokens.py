"""JSON Web Tokens of the organisation's own, for programs. The algorithm is pinned; `exp`, `aud`, `sub` and `role` are
required."""

import os
from pathlib import Path
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from pydantic import ValidationError

from whet.core.errors import WhetError
from whet.core.people import Person
from whet.settings.service import Service

_LONGEST: Final = 8192
_SHORTEST_SECRET: Final = 32
_REQUIRED: Final = ["exp", "aud", "sub", "role"]
_PUBLIC: Final[dict[str, type]] = {"RS256": RSAPublicKey, "ES256": EllipticCurvePublicKey}


class Tokens:
    """Opened once, so that a key that cannot be used is said at the start."""

    def __init__(self, settings: Service, root: Path) -> None:
        given = (settings.jwt_algorithm, settings.jwt_key, settings.jwt_audience)
        if any(given) and not all(given):
            raise WhetError(
                "Tokens need jwt_algorithm, jwt_key and jwt_audience; some are missing.", "Give all three, or none."
            )
        self._algorithm, self._audience = settings.jwt_algorithm, settings.jwt_audience
        self._key: Any = None if settings.jwt_key is None else _opened(settings.jwt_key, str(self._algorithm), root)

    def person(self, token: str) -> Person | None:
        """Whoever the token speaks of; None when it is not to be trusted, whatever the reason."""
        if self._key is None or len(token) > _LONGEST:
            return None
        try:
            claims = jwt.decode(
                token,
                self._key,
                algorithms=[str(self._algorithm)],
                audience=self._audience,
                options={"require": _REQUIRED},
            )
            return Person(name=claims["sub"], role=claims["role"], key_id=None)
        except (jwt.PyJWTError, ValidationError, ValueError, RecursionError):
            return None


def _opened(told: str, algorithm: str, root: Path) -> Any:
    text = _read(told, root)
    if algorithm == "HS256":
        if len(text) < _SHORTEST_SECRET:
            raise WhetError(
                f"The key of tokens has {len(text)} bytes.", f"Give at least {_SHORTEST_SECRET} random ones in {told}."
            )
        return text
    try:
        key = load_pem_public_key(text)
    except ValueError as error:
        raise WhetError(
            f"{told} holds no public key in PEM form.", "Give the one of your identity provider."
        ) from error
    if not isinstance(key, _PUBLIC[algorithm]):
        raise WhetError(f"{told} holds no key for {algorithm}.", "Let jwt_algorithm and jwt_key fit together.")
    return key


def _read(told: str, root: Path) -> bytes:
    if not told.startswith("env:"):
        return (root / told).read_bytes()
    name = told.removeprefix("env:")
    if not os.environ.get(name):
        raise WhetError(f"The environment variable {name}, the key of tokens, is not set.", "Set it and start again.")
    return os.environ[name].encode()
