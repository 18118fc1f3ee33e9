"""How near each test is to what changed: the order for tests that never failed before.

Best sign first: the test itself changed; it executed the changed lines, and little else; it executed the same
function, or the same file. Where that was never measured: what it imports, mentions, is named after and lies beside.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from whet.core.sheets import Executed
from whet.skills.ordering.proximity_lines import by_executed_lines
from whet.skills.ordering.proximity_names import by_names
from whet.skills.ordering.proximity_signs import Near, Signs
from whet.skills.ordering.proximity_suite import by_own_file, by_shared_fixtures, is_suite_file
from whet.tools.changes import Change
from whet.tools.imports import ImportGraph

__all__ = ["Known", "Near", "nearness"]


class Known(NamedTuple):
    """What is known of the tests. Everything may be empty: then paths, imports and names remain."""

    executed: Sequence[Executed]  # of the changed files
    source: Callable[[str], bytes | None]  # content by digest, as tests were mapped on
    mapped: Mapping[str, int]  # test → lines it executed in all
    read: Callable[[str], bytes | None]  # present content of a file, by its path below the root
    imports: Callable[[], ImportGraph]  # asked only when it is needed
    seconds: Mapping[str, float] = {}  # expected, where known


def nearness(tests: Sequence[str], change: Change, known: Known) -> dict[str, Near]:
    """Every test's nearness; empty when the change says nothing about which tests."""
    with _without_collection():
        return _judged(tests, change, known)


@contextmanager
def _without_collection() -> Iterator[None]:
    """A hundred thousand small objects are made here, and no cycles: looking for cycles would take half the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _judged(tests: Sequence[str], change: Change, known: Known) -> dict[str, Near]:
    signs = Signs(tests)
    suite = {file: part for file, part in change.files.items() if is_suite_file(file, signs.files)}
    code = {file: part for file, part in change.files.items() if file not in suite}
    by_own_file(signs, suite)
    by_shared_fixtures(signs, suite, known.read)
    seen = by_executed_lines(signs, code, known.executed, known.source, known.mapped)
    by_names(signs, code, seen, known.mapped, known.read, known.imports)
    return signs.nearness(known.seconds)
