"""whet init: a commented [tool.whet] for those who want to set something."""

from pathlib import Path

import click

from whet.cli.output import say
from whet.core.errors import WhetError
from whet.settings.importing import parse_s2
from whet.settings.template import write_into
from whet.tools.project import find_project


@click.command()
@click.argument("project", type=click.Path(path_type=Path), default=Path())
@click.option("--import", "source", type=click.Path(path_type=Path), help="Take values from a camelCase learning.json.")
def init(project: Path, source: Path | None) -> None:
    """Write every setting, commented, with its default into pyproject.toml (or whet.toml).

    Nothing needs to be set; this is for those who want to. An existing learning.json
    (camelCase keys such as learningRate) is taken over with --import.
    """
    values = None if source is None else parse_s2(_read(source))
    written = write_into(find_project(project).root / "pyproject.toml", values)
    say(f"Wrote {'the imported values and ' if values else ''}all settings to {written}.")


def _read(source: Path) -> str:
    try:
        return source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WhetError(f"{source} cannot be read: {error}.", "Give a JSON file.") from error
