"""Which tests run, and in which order. Part of `whet_probe`."""

from __future__ import annotations

import hashlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import Any

    import pytest

    Named = tuple[str, pytest.Item]


def clean(node_id: str) -> str:
    """The id as it can be stored anywhere: file names may hold bytes that are no text."""
    return node_id.encode("utf-8", "backslashreplace").decode("utf-8")


class Selection:
    def __init__(self, plan: dict[str, Any]) -> None:
        self._select = plan["select"]
        self._order = plan["order"]
        self._seed = plan["seed"] or 0
        self._wanted_files = None if self._select is None else set(_prefixes(self._select))

    def ignores(self, path: Path, root: Path) -> bool:
        """Files without a selected test need not be imported at all."""
        if self._wanted_files is None or path.name == "__init__.py" or not path.is_file():
            return False
        try:
            relative = path.relative_to(root).as_posix()
        except ValueError:
            return False
        return clean(relative) not in self._wanted_files

    def apply(self, named: list[Named]) -> list[Named]:
        """The chosen ones in their order. A test that exists twice under one id stays twice."""
        if self._select is not None:
            wanted = set(self._select)
            named = _ranked([pair for pair in named if pair[0] in wanted], self._select)
        if isinstance(self._order, list):
            return _ranked(named, self._order)
        if self._order == "reversed":
            return named[::-1]
        # A digest per test instead of a shuffled list: the same in every process, whatever the order before.
        return sorted(named, key=self._draw) if self._order == "shuffled" else named

    def _draw(self, pair: Named) -> bytes:
        return hashlib.sha256(f"{self._seed}:{pair[0]}".encode()).digest()


def _ranked(named: list[Named], ids: Iterable[str]) -> list[Named]:
    """Those of `ids` first, in that order; the others after them as they were."""
    rank = {node_id: place for place, node_id in enumerate(ids)}
    return sorted(named, key=lambda pair: rank.get(pair[0], len(rank)))


def _prefixes(ids: Iterable[str]) -> Iterator[str]:
    """Everything before a `::`, since a file name may hold one too."""
    for node_id in ids:
        yield node_id
        end = node_id.find("::")
        while end >= 0:
            yield node_id[:end]
            end = node_id.find("::", end + 2)
