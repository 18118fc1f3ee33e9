"""Addresses of queues: what is one, and what people may see of it."""

import re
from urllib.parse import SplitResult, urlsplit

from whet.core.errors import RefusedInput

FORMS = "redis://host:6379/0, rediss://user:password@host:6379/0 or kafka://host:9092/topic"
_HOST = re.compile(r"(?:[^\s:,\[\]]+|\[[0-9a-fA-F:.]+\])(?::(?P<port>\d{1,5}))?")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")  # Kafka's own rule


def parts(url: str) -> SplitResult:
    """RefusedInput when it is no address; without repeating it, since a password may be in it."""
    try:
        address = urlsplit(url)
    except ValueError:
        address = None
    if address is None or not address.scheme or not all(map(_is_host, hosts(address).split(","))):
        raise RefusedInput("The training queue's address lacks a scheme, a host or a port.", f"Write it like {FORMS}.")
    return address


def hosts(address: SplitResult) -> str:
    """One, or for Kafka several with commas between; never the user and password before them."""
    return address.netloc.rpartition("@")[2]


def without_password(url: str) -> str:
    """Scheme, hosts and path. Neither user nor query: the query of a Redis address may hold a password too."""
    address = parts(url)
    return f"{address.scheme}://{hosts(address)}{address.path}"


def topic_of(address: SplitResult, otherwise: str) -> str:
    topic = address.path.strip("/") or otherwise
    if not _TOPIC.fullmatch(topic) or topic in (".", ".."):
        raise RefusedInput(
            f"{topic[:300]!r} cannot be the name of a Kafka topic.",
            "Name one of up to 249 letters, digits, dots, hyphens and underscores: kafka://host:9092/topic.",
        )
    return topic


def check_database(address: SplitResult) -> None:
    if not re.fullmatch(r"(/\d*)?", address.path):
        raise RefusedInput(f"{address.path!r} is no number of a Redis database.", f"Write it like {FORMS}.")


def _is_host(host: str) -> bool:
    found = _HOST.fullmatch(host)
    return found is not None and int(found["port"] or 1) in range(1, 1 << 16)
