"""Files into sheets. What a file is, its content decides."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from whet.core.sheets import Sheet
from whet.tools.results import allure, junit, pytest_cache, qase, strict_json
from whet.tools.results.archives import is_archive
from whet.tools.results.documents import Document, head
from whet.tools.results.finding import found
from whet.tools.results.grouping import Run, gathered, identified, sheet_of
from whet.tools.results.refusing import BadResults, bad
from whet.tools.results.reported import NameOf, Part, Reported
from whet.tools.results.told_again import TOLD_AGAIN, told_again

NO_RESULTS = "no test results"
INNER_ARCHIVE = "an archive inside an archive"
EMPTY = "nothing: it is empty"
_KNOWN = "Whet reads JUnit XML, Allure results, Qase exports (JSON, CSV) and pytest's cache, also in .gz and .zip."
# What a broken JSON file must hold to count as broken results rather than as somebody else's file.
_JSON_MARKS = (b'"historyId"', b'"statusDetails"', b'"testops_id"', b'"test_name"', b'"time_spent_ms"')
Heard = Callable[[int, int], None]  # files done, files in all


class Refusal(NamedTuple):
    file: str
    why: str


@dataclass
class Reading:
    """What was read, and what was not."""

    runs: dict[str, Run] = field(default_factory=dict)  # by id
    files: int = 0  # that held results
    refused: list[Refusal] = field(default_factory=list)
    left_out_files: Counter[str] = field(default_factory=Counter)  # by reason
    left_out_results: Counter[str] = field(default_factory=Counter)

    @property
    def dated_by_file(self) -> int:
        """Runs that state no time."""
        return sum(run.part.dated_by_file for run in self.runs.values())

    def sheets(self, name_of: NameOf, branch: str | None = None) -> list[Sheet]:
        """The runs under canonical names, oldest first; counts what of them had to be left out."""
        made = [sheet_of(run, name_of, branch, self.left_out_results) for run in self.runs.values()]
        again = told_again(made)
        self.left_out_results[TOLD_AGAIN] += sum(len(sheet.tests) for sheet in made if sheet.id in again)
        return sorted((sheet for sheet in made if sheet.tests and sheet.id not in again), key=lambda sheet: sheet.key)


def read_results(paths: Sequence[str], *, skip_bad: bool = False, heard: Heard = lambda _done, _all: None) -> Reading:
    """Everything the paths stand for. The first bad file is refused, and with it everything; with `skip_bad` it is
    named in `refused`, and the others are read."""
    return _Reader(skip_bad).read(paths, heard)


class _Reader:
    def __init__(self, skip_bad: bool) -> None:
        self._skip_bad = skip_bad
        self._reading = Reading()
        self._names: junit.Names = {}

    def read(self, paths: Sequence[str], heard: Heard) -> Reading:
        with found(paths, self._refuse) as documents:
            directories: defaultdict[str, list[Document]] = defaultdict(list)
            for document in documents:
                directories[document.directory].append(document)
            done = 0
            for inside in directories.values():
                directory = _Directory(self._names, self._reading.left_out_results)
                for document in inside:
                    self._take(document, directory)
                    done += 1
                    heard(done, len(documents))
                self._keep(directory)
        return self._reading

    def _take(self, document: Document, directory: "_Directory") -> None:
        try:
            reason = directory.take(document)
        except BadResults as trouble:
            self._refuse(trouble)
            return
        if reason is None:
            self._reading.files += 1
        elif document.given:
            self._refuse(bad(document.name, f"holds {reason}", _KNOWN))
        else:
            self._reading.left_out_files[reason] += 1

    def _keep(self, directory: "_Directory") -> None:
        for part in directory.runs():
            try:
                run = identified(part)
            except BadResults as trouble:
                self._refuse(trouble)
            else:
                self._reading.runs.setdefault(run.id, run)

    def _refuse(self, trouble: BadResults) -> None:
        if not self._skip_bad:
            raise trouble
        self._reading.refused.append(Refusal(trouble.file, trouble.trouble))


class _Directory:
    """The results of one directory, format by format."""

    def __init__(self, names: junit.Names, left_out: Counter[str]) -> None:
        self._names = names
        self._left_out = left_out
        self._junit: defaultdict[str, list[Part]] = defaultdict(list)  # by who wrote it: each tests its own suite
        self._allure: list[Part] = []
        self._allure_names: dict[str, Reported] = {}
        self._qase: defaultdict[str, list[Part]] = defaultdict(list)
        self._cache: list[pytest_cache.Listed] = []

    def runs(self) -> Iterator[Part]:
        for parts in self._junit.values():
            yield from gathered(parts, sharing_no_test=True)
        yield from gathered(self._allure)
        for parts in self._qase.values():
            yield from gathered(parts)
        if self._cache:
            yield pytest_cache.run_of(self._cache)

    def take(self, document: Document) -> str | None:
        """None, or what it holds instead of results."""
        start = head(document)
        if is_archive(start):
            return INNER_ARCHIVE
        if not start.strip():
            return EMPTY
        if _is_xml(start):
            return self._take_xml(document, start)
        if pytest_cache.is_part(document):
            self._cache.append(pytest_cache.read(document, strict_json.load(document)))
            return None
        if start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
            return self._take_json(document, start)
        if qase.claims_csv(start):
            self._take_qase(document, qase.rows(document))
            return None
        return NO_RESULTS

    def _take_xml(self, document: Document, start: bytes) -> str | None:
        if junit.root_of(start) not in junit.ROOTS and not document.given:
            return NO_RESULTS
        writer, parts = junit.read(document, self._names)
        self._junit[writer] += parts
        return None

    def _take_json(self, document: Document, start: bytes) -> str | None:
        try:
            data = strict_json.load(document)
        except BadResults:
            if document.given or any(mark in start for mark in _JSON_MARKS):
                raise
            return NO_RESULTS
        if allure.is_result(data):
            self._take_allure(document, data)
        elif qase.is_export(data):
            self._take_qase(document, data)
        else:
            return NO_RESULTS
        return None

    def _take_allure(self, document: Document, data: Mapping[str, Any]) -> None:
        execution = allure.read(document, data, self._allure_names)
        if execution is None:
            self._left_out[allure.NO_VERDICT] += 1
        else:
            self._allure.append(execution)

    def _take_qase(self, document: Document, data: object) -> None:
        for run, result in list(qase.read(document, data, self._left_out)):
            self._qase[run].append(result)


def _is_xml(start: bytes) -> bool:
    return start.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0")[:1] == b"<"
