"""Which tests first, and which at all, from history and from what changed."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from whet.core.ports import TestRecord

CoverageMap = Mapping[str, Mapping[str, Sequence[int]]]


def failed_first(tests: Sequence[str], records: Mapping[str, TestRecord]) -> tuple[str, ...]:
    """By decayed failures, most first; the own order among equals."""
    return tuple(sorted(tests, key=lambda t: -records[t].decayed_failures if t in records else 0.0))


def fast_first(tests: Sequence[str], records: Mapping[str, TestRecord]) -> tuple[str, ...]:
    """Shortest mean duration first; a test never timed counts as average."""
    times = [r.mean_seconds for r in records.values()]
    average = sum(times) / len(times) if times else 0.0
    return tuple(sorted(tests, key=lambda t: records[t].mean_seconds if t in records else average))


def affected(tests: Sequence[str], changed: Mapping[str, Sequence[int]], covered: CoverageMap) -> tuple[str, ...]:
    """Tests that executed a changed file, live in one, are named after one, or whose coverage is unknown.

    Without a coverage map nothing is known, so nothing may be left out.
    """
    if not covered:
        return tuple(tests)
    files = set(changed)
    shared = any(PurePosixPath(f).name == "conftest.py" or not f.endswith(".py") for f in files)
    return tuple(tests) if shared else tuple(t for t in tests if _touches(t, files, covered))


def _touches(test: str, files: set[str], covered: CoverageMap) -> bool:
    if test not in covered:
        return True
    return test.split("::", 1)[0] in files or not files.isdisjoint(covered[test])


def named_after(test: str, file: str) -> bool:
    """test_cart.py belongs to cart.py."""
    stem = PurePosixPath(file).stem.strip("_")
    test_stem = PurePosixPath(test.split("::", 1)[0]).stem
    return len(stem) > 2 and stem in test_stem.removeprefix("test_").removesuffix("_test")
