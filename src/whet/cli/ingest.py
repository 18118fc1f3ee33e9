"""whet ingest: years of results in one command."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from whet.cli.options import format_option, project_option
from whet.core.errors import WhetError
from whet.tools.results import Reading, read_results


@click.command()
@click.argument("files", nargs=-1, required=True)
@project_option()
@click.option("--branch", help="The branch these runs are of; default: unknown, then every branch learns from them.")
@click.option("--skip-bad", is_flag=True, help="Leave bad files out, naming each, instead of importing nothing.")
@click.option("--dry-run", is_flag=True, help="Read and tell, store nothing.")
@format_option()
def ingest(files: tuple[str, ...], project: Path, branch: str | None, skip_bad: bool, dry_run: bool, form: str) -> None:
    """Learn from results other tools left: JUnit XML, Allure, Qase, pytest's cache.

    FILES are files, directories, "patterns/**/*.xml" or .zip and .gz of them; what a file is, its content
    decides. The same results count once, wherever they lie. If one file is bad, nothing is imported.

    \b
      whet ingest build/test-results          a directory, with everything below it
      whet ingest artifacts/*.zip             what CI kept, without unpacking
      whet ingest .pytest_cache               what failed last
    """
    with _progress() as progress:
        reading = _read(files, skip_bad, progress)
        # Only now: a bad file is refused before the store is even imported.
        from whet.cli.ingest_keeping import keep, tell

        told = keep(reading, project, branch, dry_run, progress)
    tell(told, form)


def _read(files: tuple[str, ...], skip_bad: bool, progress: Progress) -> Reading:
    task = progress.add_task("reading files", total=None)
    reading = read_results(
        files, skip_bad=skip_bad, heard=lambda done, total: progress.update(task, completed=done, total=total)
    )
    if not reading.runs and not reading.refused and not reading.left_out_results:
        raise WhetError(f"No test results in {', '.join(files)}.", "docs/ingest.md lists what Whet reads.")
    return reading


@contextmanager
def _progress() -> Iterator[Progress]:
    """A live bar on a terminal, silence elsewhere."""
    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield progress
