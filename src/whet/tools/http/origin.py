"""The one place requests may go to."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from whet.core.errors import WhetError

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Origin:
    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == _PORTS[self.scheme] else f":{self.port}")


def split_address(address: str) -> tuple[Origin, str]:
    """An address as origin and path (without a slash at its end)."""
    try:
        parts = urlsplit(address)
        port = parts.port
        (parts.hostname or "").encode("idna")  # as it will be looked up
    except ValueError as wrong:
        raise _no_address(address, str(wrong)) from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise _no_address(address, "it has no http:// or https:// and host")
    if parts.username or parts.password:
        raise WhetError(
            f"The address {parts.hostname!r} carries credentials.", "Give them with --auth basic:USER:PASSWORD instead."
        )
    return Origin(parts.scheme, parts.hostname, port or _PORTS[parts.scheme]), parts.path.rstrip("/")


def place_of(address: str) -> str:
    """Path and query to the letter: /schema/ may be another place than /schema, and ?format=openapi matters."""
    parts = urlsplit(address)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _no_address(address: str, why: str) -> WhetError:
    return WhetError(f"{address!r} is not the address of a service: {why}.", "Give one such as http://127.0.0.1:8000.")
