"""The files that `whet api` writes: looked at before the first request, and none lost because another one failed."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from whet.core.errors import WhetError
from whet.reports.api import github
from whet.reports.api.html import render_html
from whet.reports.api.junit import render_junit
from whet.reports.api.model import ApiReport
from whet.reports.api.pytest_file import FILE_NAME, refuse_a_strangers_file, write_tests
from whet.reports.api.sarif import render_sarif


@dataclass(slots=True)
class Files:
    """Where each goes; None is not wanted. `problems` are sentences on what could not be written."""

    html: Path
    junit: Path | None = None
    sarif: Path | None = None
    tests: Path | None = None  # a folder
    timeout_seconds: float = 10.0
    problems: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Raises where one could not be written: a run may take an hour, and its report is what it is for."""
        tests = None if self.tests is None else self.tests / FILE_NAME
        for option, path in (("--html", self.html), ("--junit", self.junit), ("--sarif", self.sarif),
                             ("--write-tests", tests)):  # fmt: skip
            if path is not None:
                _check(option, path)
        if tests is not None:
            refuse_a_strangers_file(tests)

    def write(self, report: ApiReport) -> Path | None:
        """Everything that can be written; where the tests are, if there are any."""
        forms: tuple[tuple[Path | None, Callable[[ApiReport], str]], ...] = (
            (self.html, render_html), (self.junit, render_junit), (self.sarif, render_sarif),
        )  # fmt: skip
        for path, form in forms:
            if path is not None:
                with self._told(path):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(form(report), encoding="utf-8")
        if self.tests is not None:
            with self._told(self.tests / FILE_NAME):
                return write_tests(report, self.tests, self.timeout_seconds)
        return None

    def summarise(self, report: ApiReport) -> None:
        """For whoever looks at the job on GitHub."""
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            with self._told(Path(summary)), Path(summary).open("a", encoding="utf-8") as file:
                file.write(github.step_summary(report))

    @contextmanager
    def _told(self, path: Path) -> Iterator[None]:
        try:
            yield
        except WhetError as error:
            self.problems.append(str(error))
        except OSError as error:
            self.problems.append(f"{path} could not be written: {_why(error)}.")


def _check(option: str, path: Path) -> None:
    try:
        if path.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        if path.exists():
            path.open("ab").close()
        else:
            tempfile.TemporaryFile(dir=_nearest(path)).close()
    except OSError as error:
        raise WhetError(f"{option}: {path} cannot be written: {_why(error)}.", "Give another path.") from None


def _nearest(path: Path) -> Path:
    """The folder that is there already, in which the others would be made."""
    folder = next(one for one in path.absolute().parents if one.exists())
    if not folder.is_dir():
        raise NotADirectoryError(None, f"{folder} is no folder")
    return folder


def _why(error: OSError) -> str:
    return error.strerror or type(error).__name__
