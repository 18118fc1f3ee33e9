"""Printing: tables for people, JSON for programs. Everything from outside is made safe first."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from whet.bootstrap.site import Site
from whet.core.text import printable


def console() -> Console:
    return Console(highlight=False, soft_wrap=True)


def say(text: str) -> None:
    click.echo(text)


def dump(value: Any) -> None:
    json.dump(value, sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Unknown is shown as unknown, numbers are aligned right."""
    made = Table(title=escape(title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    shown = [list(row) for row in rows]
    for position, column in enumerate(columns):
        numeric = all(isinstance(row[position], int | float | None) for row in shown)
        made.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in shown:
        made.add_row(*(safe(cell) for cell in row))
    Console(highlight=False).print(made)


def safe(value: object) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}"
    return escape(printable(str(value), 200))


def require_visit(site: Site, code: int = 0, empty: Any = None) -> None:
    """Nothing to read yet is no error, but it needs a sentence; for programs, the document that says so. Who was to
    change something has to give 2: it was not done."""
    if not site.visited:
        click.echo("Whet has not visited this project yet. Start with: whet run", err=True)
        if empty is not None:
            dump(empty)
        raise SystemExit(code)
