"""whet memory consolidate and status: what memory makes of what happened, and how it stands."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import click

from whet.bootstrap.remembering import Tended, fleet_memory
from whet.bootstrap.site import Site, open_site
from whet.cli.memory_choosing import number_of, short
from whet.cli.memory_words import elsewhere
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say, table
from whet.core.memories import Kind, Topic, Wanted
from whet.core.text import printable
from whet.memory.embedding import embedder
from whet.memory.forgetting import Leaving


@click.command(short_help="Make facts and procedures; re-check them; forget.")
@project_option()
@format_option()
def consolidate(project: Path, form: str) -> None:
    """Make facts and procedures of what happened; re-check those there are; forget what is over the bound.

    A visit does so by itself now and then, and the first pytest --whet of a day. Doing it twice changes nothing.
    """
    site = open_site(project)
    require_visit(site, empty=_as_json(Tended(0, None, Leaving([], []))) if form == "json" else None)
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
    require_visit(site, empty=_status(site, _nothing, {}) if form == "json" else None)
    with site.store() as store:
        memory = fleet_memory(site, store)
        told = _status(site, memory.memories.count, memory.memories.models(memory.project))
        others = elsewhere(memory)
    if form == "json":
        dump(told)
        return
    table(f"Memories of {told['project']}", ("topic", "how many"), list(told["topics"].items()))
    say(f"\n{told['memories']:,} of at most {told['keep']:,}, for {told['keep_days']:g} days without use.")
    for model, count in told["models"].items():
        using = ", in use" if model == told["embedding"] else ""
        say(f"Placed by {model}: {count:,}{using}.")
    for line in others:
        say(line)
    say("Remembering is on." if told["enabled"] else "Remembering is off: [tool.whet.memory] enabled = false.")


def _status(site: Site, counted: Callable[[Wanted], int], models: dict[str, int]) -> dict[str, Any]:
    project, settings = site.name, site.settings.memory

    def count(**of: Any) -> int:
        return counted(Wanted(project=project, **of))

    return {
        "project": project,
        "enabled": settings.enabled,
        "memories": count(),
        "topics": {topic: count(topics=(topic,)) for topic in get_args(Topic)},
        "kinds": {kind.value: count(kinds=(kind,)) for kind in Kind},
        "keep": settings.keep,
        "keep_days": settings.keep_days,
        "embedding": embedder(settings.embedding).name,
        "models": models,
    }


def _nothing(_wanted: Wanted) -> int:
    return 0
