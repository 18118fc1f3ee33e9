"""Column types that behave alike on SQLite and PostgreSQL."""

import struct
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Integer, LargeBinary, Text
from sqlalchemy.types import TypeDecorator

from whet.core.errors import RefusedInput
from whet.store.escapes import escape, from_document, to_document, unescape

RowNumber = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by itself only when INTEGER
NAME_LIMIT = 200  # PostgreSQL cannot index an entry of more than 2,704 bytes; two names of five bytes a character fit


class AnyText(TypeDecorator[str]):
    """Text of any length and content, NUL and lone surrogates included."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else escape(str(value))  # str: drivers do not know our enums

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else unescape(value)


class Name(AnyText):
    """Text that is looked up by: indexed, and therefore of limited length."""

    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is not None and len(value) > NAME_LIMIT:
            raise RefusedInput(
                f"The name {value[:40]!r}… has {len(value)} characters.", f"At most {NAME_LIMIT} are allowed."
            )
        return super().process_bind_param(value, dialect)


class OrderedText(TypeDecorator[str]):
    """Text of any length and content that sorts as Python sorts it: UTF-8 bytes keep the order of code points."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        return None if value is None else value.encode("utf-8", "surrogatepass")

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        return None if value is None else bytes(value).decode("utf-8", "surrogatepass")


class Document(TypeDecorator[Any]):
    """A JSON value; JSONB on PostgreSQL. NaN and infinities are refused."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        if dialect.name != "postgresql":
            return dialect.type_descriptor(JSON())
        from sqlalchemy.dialects.postgresql import JSONB  # slow to import, and most have no use for it

        return dialect.type_descriptor(JSONB())

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        return to_document(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return from_document(value)


class Moment(TypeDecorator[datetime]):
    """A point in time, aware and in UTC whichever way it went in."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise RefusedInput(f"The time {value} has no time zone.", "Give an aware time, such as datetime.now(UTC).")
        return value.astimezone(UTC).replace(tzinfo=None if dialect.name == "sqlite" else UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Place(TypeDecorator[bytes]):
    """An embedding: float32, little-endian, as it is on SQLite; on PostgreSQL numbers that can be cast to vectors."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        if dialect.name != "postgresql":
            return dialect.type_descriptor(LargeBinary())
        from sqlalchemy.dialects.postgresql import ARRAY, REAL  # slow to import, and most have no use for it

        return dialect.type_descriptor(ARRAY(REAL()))

    def bind_processor(self, dialect: Dialect) -> Any:
        """As text on PostgreSQL: its driver would take a millisecond for each list. Nine digits make the same float."""
        return _array_text if dialect.name == "postgresql" else super().bind_processor(dialect)

    def process_result_value(self, value: Any, dialect: Dialect) -> bytes | None:
        if value is None or dialect.name != "postgresql":
            return None if value is None else bytes(value)
        return struct.pack(f"<{len(value)}f", *value)


def _array_text(embedding: bytes) -> str:
    numbers = struct.unpack(f"<{len(embedding) // 4}f", embedding)
    return "{" + ",".join(["%.9g"] * len(numbers)) % numbers + "}"
