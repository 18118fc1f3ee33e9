"""Progress on standard error: a live bar on a terminal, one line per step elsewhere."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from whet.core.events import Decided, Event, Experienced, Progressed, RunStarted, Warned
from whet.core.text import printable


class Narrator:
    """Listens to a run and tells it to the person who waits."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._live = self._console.is_terminal
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._progress.add_task("collecting tests", total=None)

    def __enter__(self) -> Self:
        if self._live:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._progress.stop()

    def hear(self, event: Event) -> None:
        match event:
            case RunStarted():
                minutes = event.budget_seconds / 60
                self._line(f"{event.project}: {event.tests} tests, up to {minutes:g} min")
            case Decided(decision) if decision.agent != "fleet-commander":
                by = {"policy": "", "safe-default": " (safe default)", "person": " (your word)"}[decision.decided_by]
                self._line(f"{decision.agent} → {decision.action}{by}")
            case Progressed():
                failed = f", {event.failed} failed" if event.failed else ""
                self._progress.update(
                    self._task,
                    description=escape(f"{event.agent}: {event.what}{failed}"),
                    completed=event.done,
                    total=event.total,
                )
            case Experienced(experience, findings) if experience.agent != "fleet-commander":
                found = f", {len(findings)} new finding(s)" if findings else ""
                seconds = float(str(experience.outcome["duration_seconds"]))
                earned = "cut short" if experience.outcome.get("cut_short") else f"reward {experience.reward.raw:+.1f}"
                self._line(f"  {seconds:.1f} s, {earned}{found}")
            case Warned(message):
                self._line(f"note: {message}")

    def _line(self, text: str) -> None:
        self._console.print(escape(printable(text)), soft_wrap=True)
