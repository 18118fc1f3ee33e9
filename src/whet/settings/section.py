"""What every table of settings has in common."""

from typing import Any

from pydantic import ConfigDict, Field

from whet.core.records import Record


class Section(Record):
    """A table of settings: frozen, unknown keys refused, and a value has exactly the type it should have."""

    model_config = ConfigDict(strict=True)


def not_yet(default: Any, description: str, **limits: Any) -> Any:
    """A key that is accepted and kept, but that no shipped part reads yet."""
    return Field(default, description=description, json_schema_extra={"used": False}, **limits)
