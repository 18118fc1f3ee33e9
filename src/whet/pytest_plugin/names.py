"""What tests are called in the records."""

from __future__ import annotations

import pytest


def clean(node_id: str) -> str:
    """The id as it can be stored anywhere: file names may hold bytes that are no text."""
    return node_id.encode("utf-8", "backslashreplace").decode("utf-8")


class Names:
    """Kept from the moment of collection: pytest-xdist adds the group to a test's id, other plugins other things."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}

    def learn(self, items: list[pytest.Item]) -> None:
        for item in items:
            self._names.setdefault(id(item), clean(item.nodeid))

    def of(self, item: pytest.Item) -> str:
        return self._names.get(id(item)) or clean(item.nodeid)
