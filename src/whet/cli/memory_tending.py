"""whet memory consolidate and status: what memory makes of what happened, and how it stands."""

from pathlib import Path
from typing import Any, get_args

import click

from whet.bootstrap.remembering import FleetMemory, Tended, fleet_memory
from whet.bootstrap.site import open_site
from whet.cli.memory_choosing import number_of, short
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say, table
from whet.core.memories import Kind, Topic, Wanted
from whet.core.text import printable


@click.command(short_help="Make facts and procedures; re-check them; forget.")
@project_option()
@format_option()
def consolidate(project: Path, form: str) -> None:
    """Make facts and procedures of what happened; re-check those there are; forget what is over the bound.

    A visit does so by itself now and then. Doing it twice changes nothing.
    """
    site = open_site(project)
    require_visit(site)
    with site.store() as store:
        done = fleet_memory(site, store).tend(at_once=True)
    if form == "json":
        dump(_as_json(done))
        return
    facts = done.consolidated
    say(f"{number_of(done.remembered)} new, {sum(map(len, done.forgotten)):,} forgotten.")
    if facts is None:
        return
    for made in facts.made:
        say(f"  new         {short(made)}  {printable(made.text, 300)}")
    for gone in facts.let_go:
        say(f"  let go      {short(gone.memory)}  {printable(gone.memory.text, 300)} No longer so: {gone.why}.")
    for kept in facts.doubted:
        say(f"  doubted     {short(kept)}  {printable(kept.text, 300)} It is pinned, so it stays.")
    counts = f"{len(facts.made):,} new, {len(facts.confirmed):,} confirmed, {len(facts.let_go):,} let go"
    unchecked = f", {len(facts.unchecked):,} that nothing remembered tells about" if facts.unchecked else ""
    say(f"Facts and procedures: {counts}{unchecked}.")


def _as_json(done: Tended) -> dict[str, Any]:
    facts = done.consolidated
    outdated, crowded_out = done.forgotten
    return {
        "remembered": done.remembered,
        "forgotten": {"outdated": len(outdated), "crowded_out": len(crowded_out)},
        "made": [] if facts is None else [each.id for each in facts.made],
        "confirmed": [] if facts is None else [each.id for each in facts.confirmed],
        "let_go": [] if facts is None else [{"id": each.memory.id, "why": each.why} for each in facts.let_go],
        "doubted": [] if facts is None else [each.id for each in facts.doubted],
        "unchecked": [] if facts is None else [each.id for each in facts.unchecked],
    }


@click.command(short_help="How much is remembered, and of what.")
@project_option()
@format_option()
def status(project: Path, form: str) -> None:
    """How much is remembered, of what, and how likeness is measured."""
    site = open_site(project)
    require_visit(site)
    with site.store() as store:
        told = _status(fleet_memory(site, store))
    if form == "json":
        dump(told)
        return
    table(f"Memories of {told['project']}", ("topic", "how many"), list(told["topics"].items()))
    say(f"\n{told['memories']:,} of at most {told['keep']:,}, for {told['keep_days']:g} days without use.")
    for model, count in told["models"].items():
        using = ", in use" if model == told["embedding"] else ""
        say(f"Placed by {model}: {count:,}{using}.")
    say("Remembering is on." if told["enabled"] else "Remembering is off: [tool.whet.memory] enabled = false.")


def _status(memory: FleetMemory) -> dict[str, Any]:
    def count(**of: Any) -> int:
        return memory.memories.count(Wanted(project=memory.project, **of))

    return {
        "project": memory.project,
        "enabled": memory.settings.enabled,
        "memories": count(),
        "topics": {topic: count(topics=(topic,)) for topic in get_args(Topic)},
        "kinds": {kind.value: count(kinds=(kind,)) for kind in Kind},
        "keep": memory.settings.keep,
        "keep_days": memory.settings.keep_days,
        "embedding": memory.embedder.name,
        "models": memory.memories.models(memory.project),
    }
