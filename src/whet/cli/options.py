"""Options that several commands share."""

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
