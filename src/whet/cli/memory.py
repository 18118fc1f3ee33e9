"""whet memory: what the fleet remembers."""

from pathlib import Path

import click

from whet.bootstrap.remembering import fleet_memory
from whet.bootstrap.site import open_site
from whet.cli.memory_choosing import choosing, named_in, one_memory, require_memory, wanted
from whet.cli.memory_files import export, import_
from whet.cli.memory_forgetting import forget, pin, unpin
from whet.cli.memory_same_cause import same_cause
from whet.cli.memory_tending import consolidate, status
from whet.cli.memory_words import in_full, lines_of, nothing, outlined, told
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say
from whet.core.memories import Question
from whet.core.records import now


@click.group()
def memory() -> None:
    """What happened, what is true, and how things are done.

    \b
    Kept on this machine or in your own database, for each project apart:
      whet memory search "checkout times out"   what is like this, and why
      whet memory same-cause TEST               failures that have its cause
      whet memory list --topic fact             what was found to be so
      whet memory show 3f9a                     everything known of one
      whet memory forget 3f9a                   for good
    An id may be given by its beginning.
    Settings: [tool.whet.memory], see docs/memory.md.
    """


@memory.command(short_help="Find what is like a text.")
@click.argument("text")
@choosing
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1, 100), help="How many at most.")
@project_option()
@format_option()
def search(
    text: str, topic: tuple[str, ...], kind: tuple[str, ...], agent: str | None, limit: int, project: Path, form: str
) -> None:
    """Find what is like TEXT: a sentence, an error message, the name of a test or a file.

    \b
    Recent, similar and relevant memories, best first, each with why it was found:
      whet memory search "checkout times out"
      whet memory search "KeyError: 'price'" --topic failure
    """
    if not text.strip():
        raise click.UsageError('There is nothing to search for. For example: whet memory search "KeyError"')
    site = open_site(project)
    require_visit(site, empty=[] if form == "json" else None)
    with site.store() as store:
        memory = fleet_memory(site, store)
        if site.settings.memory.enabled:
            memory.catch_up()
        question = Question(wanted=wanted(memory, topic, kind, agent), text=text, subjects=named_in(text))
        found = memory.recall.recall(question, limit)
        memory.memories.note_use([each.memory.id for each in found], now())
        lost = "" if found else nothing(memory, "Nothing like that is remembered.")
    if form == "json":
        dump([{**in_full(each.memory), "likeness": each.score, "why": each.why} for each in found])
    elif not found:
        say(lost)
    for each in found if form == "text" else ():
        told(each)


@memory.command(name="list")
@choosing
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many at most.")
@project_option()
@format_option()
def list_(
    topic: tuple[str, ...], kind: tuple[str, ...], agent: str | None, limit: int, project: Path, form: str
) -> None:
    """The newest memories.

    \b
      whet memory list --topic fact --topic procedure
      whet memory list --agent test-executor --limit 50
    """
    site = open_site(project)
    require_visit(site, empty=[] if form == "json" else None)
    with site.store() as store:
        memory = fleet_memory(site, store)
        asked = wanted(memory, topic, kind, agent)
        found, there = memory.memories.newest(asked, limit), memory.memories.count(asked)
        lost = "" if found else nothing(memory, "Nothing of that kind is remembered.")
    if form == "json":
        dump([in_full(each) for each in found])
    elif not found:
        say(lost)
    else:
        outlined(f"The newest {len(found):,} of {there:,}" if there > len(found) else "What is remembered", found)
        say("\nMore about one: whet memory show ID")


@memory.command()
@click.argument("memory_id", metavar="ID")
@project_option()
@format_option()
def show(memory_id: str, project: Path, form: str) -> None:
    """Everything known of one memory. ID may be the beginning of an id, as long as only one begins so."""
    site = open_site(project)
    require_memory(site, memory_id)
    with site.store() as store:
        found = one_memory(fleet_memory(site, store), memory_id)
    if form == "json":
        dump(in_full(found))
        return
    for line in lines_of(found):
        say(line)


for command in (same_cause, export, import_, forget, pin, unpin, consolidate, status):
    memory.add_command(command)
