"""What is asked of a test suite, and what it answered."""

import signal
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from whet.core.records import Count, Record, Seconds

Verdict = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
_OUTPUT_SHOWN = 600


class SuitePlan(Record):
    """How the suite shall run. The defaults run it as the project configures it."""

    select: tuple[str, ...] | None = Field(None, description="only these tests, in this order before `order` applies")
    order: Literal["own", "reversed", "shuffled"] | tuple[str, ...] = Field(
        "own", description="ids: these first, the others after them in their own order"
    )
    workers: Count | None = Field(None, description="None: as configured; 0: one process; n: pytest-xdist with n")
    seed: int | None = Field(None, description="seeds random and numpy before each test, and the shuffle")
    hash_seed: Annotated[int, Field(ge=0, le=4294967295)] | None = None
    coverage: Literal["none", "lines", "branches"] = "none"
    contexts: bool = Field(False, description="remember which test executed which line")
    no_retries: bool = Field(False, description="switch pytest-rerunfailures and flaky off")
    load_processes: Count = Field(0, description="busy processes beside the run")
    stop_first: bool = False


class TestResult(Record):
    """One execution of one test. Duration is setup, call and teardown together."""

    __test__: ClassVar[bool] = False

    id: str
    outcome: Verdict
    duration_seconds: Seconds
    started_seconds: Seconds | None = Field(description="after the run began; None when its worker was lost")
    ended_seconds: Seconds
    message: str = ""
    text: str = Field("", description="of a failure, as pytest prints it: its end; only of the first ones of a run")
    retries: Count = Field(0, description="how often a retry plugin ran it again")
    file: str | None = None
    line: Count | None = None
    network: bool | None = None
    slept_seconds: Seconds | None = Field(None, description="None: this interpreter does not tell")

    def bad(self) -> bool:
        return self.outcome in ("failed", "error")


class Place(Record):
    """Where a test is defined, relative to the project."""

    file: str
    line: Count | None


class SuiteRun(Record):
    """One run of pytest, measured."""

    exit_code: int | None = Field(description="pytest's own; None when it did not end by itself")
    signal: int | None = None
    duration_seconds: Seconds
    tests: tuple[TestResult, ...]
    collected: Count | None = Field(description="before Whet's selection; None when collection did not finish")
    ids: tuple[str, ...] = Field(description="selected tests in the order they were to run")
    places: dict[str, Place] = Field(default_factory=dict)
    collection_errors: tuple[str, ...]
    running: tuple[str, ...] = Field((), description="started and not finished when the run ended")
    finished: bool = Field(description="pytest reached the end of its session")
    timed_out: bool
    timeout_seconds: Seconds
    memory_exceeded: bool
    peak_memory_mb: float | None
    output_tail: str
    first_failure_seconds: Seconds | None
    coverage_file: Path | None
    command: str
    directory: Path
    selection: Count | None = Field(None, description="how many tests were asked for; None: all")

    def problem(self) -> str | None:
        """Why pytest could not do its job, as a sentence with a remedy; failing tests are no such problem."""
        return self._cut_short() or self._not_started() or self._stopped()

    def _cut_short(self) -> str | None:
        if self.timed_out:
            return (
                f"The suite did not finish within {self.timeout_seconds:g} s{self._where()}. "
                "Raise the time limit, or look at that test for a hang."
            )
        if self.memory_exceeded:
            return (
                f"The suite used more memory than it may{self._where()}. Raise the memory limit, or run fewer workers."
            )
        if self.signal is not None:
            return f"pytest was ended by {_signal_name(self.signal)}{self._where()}. Run it by hand: {self.command}"
        return None

    def _not_started(self) -> str | None:
        if self.exit_code == 5:
            return self._no_tests()
        if self.collection_errors:
            count = len(self.collection_errors)
            return f"pytest could not collect {count} file(s). The first: {self.collection_errors[0]}"
        if self.exit_code == 4:
            return f"pytest refused to start (usage error): {self._said()}. Check addopts, conftest.py and plugins."
        return None

    def _stopped(self) -> str | None:
        if self.exit_code == 3:
            return f"pytest had an internal error, often a plugin's: {self._said()}. Run it by hand: {self.command}"
        if self.exit_code == 2 and not self._had_enough():
            return f"pytest was interrupted{self._where()}: {self._said()}. Run it by hand: {self.command}"
        if not self.finished:
            return (
                f"pytest ended with exit code {self.exit_code} before its session was over{self._where()}: "
                f"{self._said()}. A test or plugin may have called os._exit. Run it by hand: {self.command}"
            )
        return None

    def _had_enough(self) -> bool:
        """Told to stop after so many failures; pytest-xdist calls that an interruption."""
        return "stopping after" in self.output_tail and any(test.bad() for test in self.tests)

    def _no_tests(self) -> str:
        if self.selection is not None:
            return f"None of the {self.selection} chosen tests exists in {self.directory} any more. Collect them again."
        return (
            f"No tests were collected in {self.directory}. Whet runs pytest: name test files test_*.py or *_test.py "
            "and test functions test_*, or set testpaths in pyproject.toml."
        )

    def _where(self) -> str:
        return f" (while running {', '.join(self.running[:3])})" if self.running else ""

    def _said(self) -> str:
        return self.output_tail.strip()[-_OUTPUT_SHOWN:] or "it said nothing"


def _signal_name(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"
