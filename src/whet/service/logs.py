"""Logs: JSON for programs, lines for people, secrets for nobody."""

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any, Final, TextIO

from whet.core.text import printable

LOGGER: Final = "whet.service"
# Keys, tokens, cookies, and passwords in addresses. The id of a key may be seen.
_SECRETS: Final = (
    (re.compile(r"(whet_[a-z0-9]{8,32}_)[A-Za-z0-9_-]+"), r"\1…"),
    (re.compile(r"\beyJ[A-Za-z0-9_-]+=*\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?"), "…"),
    (re.compile(r"(?i)(bearer|basic) [^\s\"']+"), r"\1 …"),
    (re.compile(r"(\w+://[^/\s:@]*):[^@\s/]+@"), r"\1:…@"),
)
_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}


def without_secrets(text: str) -> str:
    for form, instead in _SECRETS:
        text = form.sub(instead, text)
    return text


class Lines(logging.Formatter):
    """For people: the time, what happened, and the numbers that belong to it."""

    def format(self, record: logging.LogRecord) -> str:
        facts = " ".join(f"{name}={value}" for name, value in _facts(record).items())
        trouble = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        told = printable(without_secrets(f"{record.levelname.lower():7} {record.getMessage()} {facts}".rstrip()), 2000)
        return f"{datetime.fromtimestamp(record.created, UTC):%H:%M:%S} {told}{without_secrets(trouble)}"


class Documents(logging.Formatter):
    """For programs: one JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": without_secrets(record.getMessage()),
            **{name: _clean(value) for name, value in _facts(record).items()},
        }
        if record.exc_info:
            told["exception"] = without_secrets(self.formatException(record.exc_info))
        return json.dumps(told, default=str)


def begin_logging(stream: TextIO) -> None:
    """Everything goes to `stream`; uvicorn's own words too."""
    out = logging.StreamHandler(stream)
    out.setFormatter(Lines() if stream.isatty() else Documents())
    for name in ("whet", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [out]
        logger.setLevel(logging.INFO)
        logger.propagate = False


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _STANDARD and value is not None}


def _clean(value: Any) -> Any:
    return without_secrets(value) if isinstance(value, str) else value
