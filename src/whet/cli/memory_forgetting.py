"""whet memory forget, pin, unpin: what goes, and what stays whatever happens."""

from datetime import UTC, datetime
from pathlib import Path

import click

from whet.bootstrap.remembering import FleetMemory, fleet_memory
from whet.bootstrap.site import open_site
from whet.cli.memory_choosing import number_of, one_memory, require_memory, short
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say
from whet.cli.person import user
from whet.core.errors import WhetError
from whet.core.text import printable
from whet.memory.forgetting import older_than


@click.command(short_help="Forget for good: some, old ones, or all.")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="All memories of this project, pinned ones too.")
@click.option(
    "--older-than", "days", type=click.IntRange(0, 36500), metavar="DAYS", help="Older ones; pinned ones stay."
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@project_option()
@format_option()
def forget(ids: tuple[str, ...], everything: bool, days: int | None, yes: bool, project: Path, form: str) -> None:
    """Forget for good: of a memory no trace stays in the store; the audit trail keeps the ids alone.

    \b
      whet memory forget 3f9a 77c0
      whet memory forget --older-than 90
      whet memory forget --all --yes
    Findings and messages of tests, which memories are made from, stay, masked as memories are.
    What was exported to a file is yours to delete.
    """
    if bool(ids) + everything + (days is not None) != 1:
        raise WhetError("Say what to forget, in one way.", "Give ids, or --older-than DAYS, or --all.")
    site = open_site(project)
    for prefix in ids[:1]:
        require_memory(site, prefix)
    require_visit(site, empty={"forgotten": 0} if form == "json" else None)
    with site.store() as store:
        memory = fleet_memory(site, store)
        chosen = _chosen(memory, ids, days)
        if not ids and chosen and not yes:
            click.confirm(f"Forget {number_of(len(chosen))} of {memory.project} for good?", abort=True)
        why = f"asked for by {user()}"
        gone = memory.memories.forget(chosen, why)
    if form == "json":
        dump({"forgotten": gone})
    else:
        say(f"Forgot {number_of(gone)}.")


def _chosen(memory: FleetMemory, ids: tuple[str, ...], days: int | None) -> list[str]:
    if ids:
        return sorted({one_memory(memory, prefix).id for prefix in ids})
    outlines = memory.memories.outlines(memory.project)
    return [each.id for each in outlines] if days is None else older_than(outlines, datetime.now(UTC), days)


@click.command(short_help="Keep one, whatever happens.")
@click.argument("memory_id", metavar="ID")
@project_option()
def pin(memory_id: str, project: Path) -> None:
    """Keep ID: it is never forgotten by itself, however old, and whatever speaks against it."""
    _pin(memory_id, project, True)


@click.command()
@click.argument("memory_id", metavar="ID")
@project_option()
def unpin(memory_id: str, project: Path) -> None:
    """Let ID be forgotten like any other."""
    _pin(memory_id, project, False)


def _pin(prefix: str, project: Path, pinned: bool) -> None:
    site = open_site(project)
    require_memory(site, prefix)
    with site.store() as store:
        found = one_memory(fleet_memory(site, store), prefix)
        store.memories.pin(found.id, pinned)
    standing = "pinned" if pinned else "no longer pinned"
    say(f"{short(found)} is {standing}: {printable(' '.join(found.text.split()), 100)}")
