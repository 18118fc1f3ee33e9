"""pytest's own cache: which tests there are, and which failed when they last ran."""

from collections.abc import Sequence
from math import nan
from pathlib import PurePath
from typing import Any, NamedTuple

from whet.tools.results.documents import Document
from whet.tools.results.refusing import bad
from whet.tools.results.reported import Part, Reported

SOURCE = "pytest-cache"
_FILES = ("lastfailed", "nodeids")


class Listed(NamedTuple):
    document: Document
    tests: frozenset[str]


def is_part(document: Document) -> bool:
    path = PurePath(document.name.replace("!", "/"))
    return path.name in _FILES and path.parts[-3:-1] == ("v", "cache")


def read(document: Document, data: Any) -> Listed:
    ids = list(data) if isinstance(data, dict | list) else None
    if ids is None or not all(isinstance(test, str) for test in ids):
        raise bad(document.name, "is no cache of pytest", "Run pytest once; it writes its cache anew.")
    # Without "::" it is a file that could not be collected, no test.
    return Listed(document, frozenset(test for test in ids if "::" in test))


def run_of(files: Sequence[Listed]) -> Part:
    """The cache keeps only the last run, and of it failures alone: what is not among them is taken as passed, and
    the run as incomplete. It does not say how long anything took."""
    failed = {test for file in files if file.document.name.endswith("lastfailed") for test in file.tests}
    newest = max((file.document for file in files), key=lambda document: document.modified)
    part = Part(SOURCE, newest.name, newest.modified, dated_by_file=True, complete=False)
    for test in sorted({test for file in files for test in file.tests}):
        part.add(Reported("", test), "f" if test in failed else "p", nan)
    return part
