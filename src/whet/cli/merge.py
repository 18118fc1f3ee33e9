"""whet merge: what other stores exported."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from whet.bootstrap.site import open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, say
from whet.store.merging import Merged, check_histories, merge_histories


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@project_option()
@format_option()
def merge(files: tuple[Path, ...], project: Path, form: str) -> None:
    """Take in FILEs made by `whet export`, all of them or none; - reads from standard input.

    \b
    Order and repetition do not matter: whoever merges the same files knows the same. Runs keep their
    branches. Where two stores renamed or quarantined the same test, the newest word counts.
      whet merge history.whet
      whet merge artefacts/*.whet
      ssh ci "cd shop; whet export -" | whet merge -
    """
    site = open_site(project)
    with _on_disk(files) as histories:
        if not site.visited:
            check_histories(histories)  # a refused file begins no store
        with site.store() as store:
            merged = merge_histories(store.sheets, histories)
    if form == "json":
        counts = merged._asdict()
        dump({"files": len(files), "runs": counts.pop("sheets"), **counts})
    else:
        say(told(merged, len(files)))


@contextmanager
def _on_disk(files: Sequence[Path]) -> Iterator[list[Path]]:
    """Histories are read twice; what comes through a pipe comes once, so it is written down."""
    with TemporaryDirectory(prefix="whet-", ignore_cleanup_errors=True) as folder:
        written = Path(folder, "standard input")
        if Path("-") in files:
            with written.open("wb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy)
        yield [written if file == Path("-") else file for file in files]


def told(merged: Merged, files: int) -> str:
    parts = [f"{_some(merged.sheets, 'new run')} with {_some(merged.results, 'result')}", f"{merged.known:,} known"]
    if merged.replaced:
        parts.append(f"{_some(merged.replaced, 'run')} replaced: another had the same id")
    if merged.renames:
        parts.append(f"{_some(merged.renames, 'rename')}")
    if merged.quarantine:
        parts.append(f"{_some(merged.quarantine, 'word')} on quarantine")
    if merged.mapped:
        parts.append(f"the lines of {_some(merged.mapped, 'test')}")
    return f"Merged {_some(files, 'file')}: {'; '.join(parts)}."


def _some(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
