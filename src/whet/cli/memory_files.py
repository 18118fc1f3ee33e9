"""whet memory export and import: memories as lines of JSON."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO

import click

from whet.bootstrap.remembering import FleetMemory, fleet_memory
from whet.bootstrap.site import open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump
from whet.core.errors import WhetError
from whet.core.memories import Memory, Wanted
from whet.memory.remembering import keep
from whet.memory.remembering_exchange import from_lines, to_lines

_PAGE = 500


@click.command(short_help="Write all memories to a file.")
@click.argument("file", metavar="FILE")
@project_option()
@format_option()
def export(file: str, project: Path, form: str) -> None:
    """Write all memories of this project to FILE, one line of JSON each; - writes to standard output.

    \b
      whet memory export memories.jsonl
      whet memory export - | grep '"topic": "fact"'
    What was masked stays masked. What is forgotten later stays in the file.
    """
    if file == "-" and form == "json":
        raise WhetError("The memories themselves go to standard output.", "Name a file, or leave out --format json.")
    site = open_site(project)
    if not site.visited:
        raise WhetError("There is nothing to export yet.", "Memories come from: whet run, pytest --whet")
    with site.store() as store, _written(file) as lines:
        memory = fleet_memory(site, store)
        count = -1  # the heading is no memory
        for line in to_lines(memory.project, _all(memory)):
            lines.write(line)
            count += 1
    if form == "json":
        dump({"file": file, "memories": count})
    else:
        click.echo(f"Exported {count:,} memories{'' if file == '-' else f' to {file}'}.", err=True)


@click.command(name="import", short_help="Take in what was exported.")
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--from", "other", metavar="PROJECT", help="The file is of this other project; make it this one's own.")
@project_option()
@format_option()
def import_(file: Path, other: str | None, project: Path, form: str) -> None:
    """Take in what `whet memory export` wrote: all of it, or, when a line is wrong, nothing.

    \b
      whet memory import memories.jsonl
      whet memory import shop.jsonl --from shop      memories of another project
    What is known already stays as it is, so doing it twice is doing it once. Everything is masked again.
    """
    site = open_site(project)
    with site.store() as store:
        memory = fleet_memory(site, store)
        lines = _lines(file)
        there = sum(1 for _ in from_lines(lines, memory.project, other))  # every line is looked at before any is kept
        new = _kept(memory, from_lines(lines, memory.project, other))
    if form == "json":
        dump({"file": str(file), "memories": there, "new": new})
    else:
        click.echo(f"Imported {new:,} new memories; {there - new:,} were known already.", err=True)


def _kept(memory: FleetMemory, given: Iterator[Memory]) -> int:
    new = 0
    while page := list(islice(given, _PAGE)):
        known = {each.id for each in memory.memories.get([each.id for each in page])}
        fresh = {each.id: each for each in page if each.id not in known}
        new += keep(memory.memories, memory.embedder, list(fresh.values()))
    return new


def _all(memory: FleetMemory) -> Iterator[Memory]:
    """Oldest last; each once, though others remember meanwhile."""
    seen: set[str] = set()
    offset = 0
    while page := memory.memories.newest(Wanted(project=memory.project), _PAGE, offset):
        yield from (each for each in page if each.id not in seen)
        seen.update(each.id for each in page)
        offset += len(page)


def _lines(file: Path) -> list[str]:
    try:
        return (sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")).split("\n")
    except UnicodeDecodeError as error:
        raise WhetError(f"{file} is not UTF-8 text.", "Give a file that `whet memory export` wrote.") from error


@contextmanager
def _written(target: str) -> Iterator[IO[str]]:
    """The whole file or, when something goes wrong, what was there before."""
    if target == "-":
        yield sys.stdout
        return
    path = Path(target)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with part.open("w", encoding="utf-8") as lines:
            yield lines
            lines.flush()
            os.fsync(lines.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
