"""JUnit XML, in the dialects of pytest, Maven surefire, jest-junit and their like, read as a stream."""

from collections.abc import Iterator
from datetime import datetime
from xml.parsers import expat

from whet.core.text import printable
from whet.tools.results.documents import CHUNK_BYTES, MIB, Document, chunks
from whet.tools.results.grouping import gathered
from whet.tools.results.quantities import moment_of, seconds_of
from whet.tools.results.refusing import bad
from whet.tools.results.reported import Part, Reported

SOURCE = "junit"
ROOTS = frozenset({"testsuites", "testsuite"})
DEEPEST = 100
# The parser holds one tag as a whole; everything else streams through.
LONGEST_TAG_BYTES = 16 * MIB
MOST_RESULTS = 5_000_000
_NO_DOCTYPE = "Results never need one; if you trust the file, remove its DOCTYPE."
# Years of runs name the same tests: they share one object each.
Names = dict[tuple[str, str, str], Reported]
# Attributes by which some writers tell an outcome without a child element.
_STATED = {"skipped": "s", "disabled": "s", "notrun": "s", "suppressed": "s", "failed": "f", "error": "e"}


def read(document: Document, names: Names) -> tuple[str, list[Part]]:
    """Who wrote it; and one part for a run in the file, several where its suites ran far apart. `names` keeps one
    object per test."""
    report = _Report(document, names)
    parser = report.parser
    fed = 0
    try:
        for block in chunks(document, CHUNK_BYTES):
            parser.Parse(block, False)
            fed += len(block)
            if fed - parser.CurrentByteIndex > LONGEST_TAG_BYTES:
                limit = LONGEST_TAG_BYTES // MIB
                raise bad(document.name, f"holds one tag of more than {limit} MiB (line {parser.CurrentLineNumber})")
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        told = expat.ErrorString(error.code)
        raise bad(document.name, f"is not well-formed XML or is cut off: {told} at line {error.lineno}") from error
    except (LookupError, ValueError) as error:
        raise bad(document.name, "is in an encoding Whet does not read", "Save it as UTF-8.") from error
    return report.writer, gathered(report.parts())


def root_of(head: bytes) -> str | None:
    """The outermost element's name, or the one a document type announces; None when it is not within `head`."""
    names: list[str] = []
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = lambda name, *_: names.append(name)
    parser.StartElementHandler = lambda name, _: names.append(name)
    parser.EntityDeclHandler = lambda *_: names.append("")
    try:
        # In small steps: an entity is declared before it is used, and then we have seen enough.
        for start in range(0, len(head), 64):
            parser.Parse(head[start : start + 64], False)
            if names:
                return names[0]
    except (expat.ExpatError, LookupError, ValueError):
        return names[0] if names else None
    return None


class _Report:
    """Listens to the parser; keeps rows, and at which row the suites of another time begin."""

    def __init__(self, document: Document, names: Names) -> None:
        self._document = document
        self._rows = Part(SOURCE, document.name, document.modified, dated_by_file=True)
        self._names = names
        self._marks: list[tuple[int, datetime | None]] = [(0, None)]
        self._suites: list[tuple[str, datetime | None]] = []
        self._depth = 0
        self._case: dict[str, str] | None = None
        self._outcome = "p"
        self._uncollected = False
        self.writer = ""
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._doctype

    def _doctype(self, *_: object) -> None:
        raise bad(self._document.name, "declares a document type, with which XML can burst or reach out", _NO_DOCTYPE)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._case is not None:
            self._child(tag, attributes)
        elif tag == "testcase":
            self._case = attributes
            self._outcome = _stated(attributes) if "status" in attributes or "result" in attributes else "p"
            self._uncollected = False
        elif tag in ROOTS:
            self._open_suite(tag, attributes)
        elif self._depth == 1:
            raise bad(self._document.name, f"is no JUnit XML: its root is <{printable(tag, 60)}>")
        if self._depth > DEEPEST:
            raise bad(self._document.name, f"nests elements more than {DEEPEST} deep")

    def _child(self, tag: str, attributes: dict[str, str]) -> None:
        """What surefire calls flakyFailure or rerunFailure was followed by a rerun, whose outcome stands beside it."""
        # A module that pytest could not collect stands there like a test without a class; it is none.
        self._uncollected |= attributes.get("message", "").startswith("collection ")
        if tag == "error":
            self._outcome = "e"
        elif tag == "failure" and self._outcome != "e":
            self._outcome = "f"
        elif tag == "skipped" and self._outcome == "p":
            self._outcome = "x" if "xfail" in attributes.get("type", "") else "s"

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if tag == "testcase" and self._case is not None:
            self._add(self._case)
            self._case = None
        elif tag in ROOTS and self._case is None:
            self._suites.pop()
            self._mark(self._suites[-1][1] if self._suites else None)

    def _open_suite(self, tag: str, attributes: dict[str, str]) -> None:
        if self._depth == 1:  # surefire and Gradle begin with one suite; others tell who they are: jest tests
            self.writer = f"{tag} {attributes.get('name', '')}" if tag == "testsuites" else tag
        file, at = self._suites[-1] if self._suites else ("", None)
        at = moment_of(attributes.get("timestamp")) or at
        self._suites.append((attributes.get("file") or attributes.get("filepath") or file, at))
        self._mark(at)

    def _mark(self, at: datetime | None) -> None:
        rows = len(self._rows.tests)
        if self._marks[-1][0] == rows:
            self._marks[-1] = (rows, at)
        elif self._marks[-1][1] != at:
            self._marks.append((rows, at))

    def _add(self, case: dict[str, str]) -> None:
        classname, name = case.get("classname") or case.get("class") or "", case.get("name") or ""
        if not classname and not name:
            raise bad(self._document.name, f"has a test case without a name at line {self.parser.CurrentLineNumber}")
        try:
            seconds = seconds_of(case.get("time"))
        except ValueError as error:
            told = f"has a test that took time={printable(case['time'], 40)!r} at line {self.parser.CurrentLineNumber}"
            raise bad(self._document.name, told, "A duration is a number of seconds, not negative.") from error
        if self._uncollected and not classname:
            return
        key = (classname, name, case.get("file") or (self._suites[-1][0] if self._suites else ""))
        test = self._names.get(key)
        if test is None:
            test = self._names[key] = Reported(*key)
        self._rows.add(test, self._outcome, seconds)
        if len(self._rows.tests) > MOST_RESULTS:
            raise bad(self._document.name, f"has more than {MOST_RESULTS:,} results", "Give one file per run.")

    def parts(self) -> Iterator[Part]:
        """Stretches of rows of one time; a suite without a time is of the file's first one."""
        first_at = next((at for _, at in self._marks if at), None)
        ends = [row for row, _ in self._marks[1:]] + [len(self._rows.tests)]
        for (first, at), last in zip(self._marks, ends, strict=True):
            if first < last:
                yield self._stretch(first, last, at or first_at)

    def _stretch(self, first: int, last: int, at: datetime | None) -> Part:
        part = Part(SOURCE, self._document.name, at or self._document.modified, dated_by_file=at is None)
        part.tests = self._rows.tests[first:last]
        part.outcomes = self._rows.outcomes[first:last]
        part.seconds = self._rows.seconds[first:last]
        return part


def _stated(attributes: dict[str, str]) -> str:
    stated = attributes.get("result") or attributes.get("status", "")
    return _STATED.get(stated.lower(), "p")
