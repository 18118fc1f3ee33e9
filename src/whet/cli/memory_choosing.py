"""Which memories a command is about."""

from collections.abc import Callable
from typing import Any, get_args

import click

from whet.bootstrap.remembering import FleetMemory
from whet.bootstrap.site import Site
from whet.core.errors import WhetError
from whet.core.memories import Kind, Memory, Topic, Wanted
from whet.core.text import printable
from whet.memory.failures import remembered_failure
from whet.memory.masking import masked
from whet.memory.remembering_texts import subjects

_SHOWN_ID = 8


def choosing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that several commands share."""
    topics, kinds = click.Choice(get_args(Topic)), click.Choice([kind.value for kind in Kind])
    agent = click.option("--agent", metavar="NAME", help="Only what this agent lived.")
    kind = click.option("--kind", multiple=True, type=kinds, help="Only of this kind; may be given several times.")
    topic = click.option("--topic", multiple=True, type=topics, help="Only of this topic; may be given several times.")
    return topic(kind(agent(command)))


def wanted(memory: FleetMemory, topic: tuple[str, ...], kind: tuple[str, ...], agent: str | None) -> Wanted:
    return Wanted.model_validate({"project": memory.project, "topics": topic, "kinds": kind, "agent": agent})


def require_memory(site: Site, prefix: str) -> None:
    """Who names one that cannot be there is told so."""
    if not site.visited:
        raise WhetError(f"There is no memory {printable(prefix, 80)!r}: nothing is remembered yet.", "Start: whet run")


def one_memory(memory: FleetMemory, prefix: str) -> Memory:
    found = memory.memories.find(memory.project, prefix.lower(), 2) if prefix else []
    if not found:
        raise WhetError(f"There is no memory {printable(prefix, 80)!r}.", "List them with: whet memory list")
    if len(found) > 1:
        raise WhetError(f"Several memories begin with {prefix!r}.", "Give more of the id.")
    return found[0]


def short(memory: Memory) -> str:
    return memory.id[:_SHOWN_ID]


def named_in(text: str) -> tuple[str, ...]:
    """Tests and files that are named, and what a pasted failure is about."""
    words = [word.strip("\"',;:()") for word in text.split()]
    tests = [f"test:{word}" for word in words if "::" in word]
    files = [f"file:{word.partition('::')[0]}" for word in words if ".py" in word]
    read = [each for each in remembered_failure("", masked(text)).subjects if not each.endswith(":")]
    return subjects(*tests, *files, *read)


def number_of(memories: int) -> str:
    return "1 memory" if memories == 1 else f"{memories:,} memories"
