"""Options that several commands share."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def project_option() -> Decorator:
    return click.option(
        "--project",
        "-C",
        type=click.Path(path_type=Path),
        default=Path(),
        help="The project's directory; default: where you are.",
    )


def format_option() -> Decorator:
    return click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="json is for programs; its schema is in docs/json.md.",
    )


def page_option(told: str) -> Decorator:
    """Looked at before the work begins: it takes minutes, and would be lost."""
    return click.option("--html", type=click.Path(path_type=Path, dir_okay=False), callback=_writable, help=told)


def _writable(_context: click.Context, _option: click.Parameter, place: Path | None) -> Path | None:
    if place is not None and not os.access(place if place.exists() else place.parent, os.W_OK):
        raise click.BadParameter(f"{place} cannot be written. Give a place in a folder that exists.")
    return place
