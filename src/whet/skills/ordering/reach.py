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

    Without a coverage map nothing is known, so nothing may be left out; the same holds for a change whose
    reach the map cannot show: a conftest, a data file, or a module that runs only while it is imported.
    """
    files = set(changed)
    if not covered or any(_reach_unknown(file, tests, covered) for file in files):
        return tuple(tests)
    return tuple(t for t in tests if _touches(t, files, covered))


def _reach_unknown(file: str, tests: Sequence[str], covered: CoverageMap) -> bool:
    if PurePosixPath(file).name == "conftest.py" or not file.endswith(".py"):
        return True
    is_test_file = any(test.split("::", 1)[0] == file for test in tests)
    return not is_test_file and not any(file in files for files in covered.values())


def _touches(test: str, files: set[str], covered: CoverageMap) -> bool:
    if test not in covered:
        return True
    if test.split("::", 1)[0] in files or not files.isdisjoint(covered[test]):
        return True
    return any(named_after(test, file) for file in files)


def named_after(test: str, file: str) -> bool:
    """test_cart.py belongs to cart.py."""
    stem = PurePosixPath(file).stem.strip("_")
    test_stem = PurePosixPath(test.split("::", 1)[0]).stem
    return len(stem) > 2 and stem in test_stem.removeprefix("test_").removesuffix("_test")
