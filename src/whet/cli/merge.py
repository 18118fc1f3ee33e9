"""whet merge: what other stores exported."""

from pathlib import Path

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
    """Take in FILEs made by `whet export`, all of them or none.

    \b
    Order and repetition do not matter: whoever merges the same files knows the same. Runs keep their
    branches. Where two stores renamed or quarantined the same test, the newest word counts.
      whet merge history.whet
      whet merge artefacts/*.whet
    """
    site = open_site(project)
    if not site.visited:
        check_histories(files)  # a refused file begins no store
    with site.store() as store:
        merged = merge_histories(store.sheets, files)
    if form == "json":
        counts = merged._asdict()
        dump({"files": len(files), "runs": counts.pop("sheets"), **counts})
    else:
        say(told(merged, len(files)))


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
