"""Memories as people read them."""

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import click

from whet.bootstrap.remembering import FleetMemory
from whet.cli.memory_choosing import short
from whet.cli.output import say, table
from whet.core.memories import Memory, Recalled, Wanted
from whet.core.text import printable, printable_lines

_INDENT = "  "
_NARROWEST, _WIDEST = 40, 120
_SHOWN_LINES = 4
_OUTLINE = 110
_SHOWN_PROJECTS = 5


def in_full(memory: Memory) -> dict[str, Any]:
    return {"id": memory.id, **memory.model_dump(mode="json")}


def nothing(memory: FleetMemory, said: str) -> str:
    """What is said where nothing was found; where nothing is known under this name, what else the store has."""
    own = memory.memories.count(Wanted(project=memory.project))
    return "\n".join((f"{said} Memories come from: whet run, pytest --whet", *(() if own else elsewhere(memory))))


def elsewhere(memory: FleetMemory) -> tuple[str, ...]:
    """A project that has got another name must not take its memories for lost."""
    counts = {name: memory.memories.count(Wanted(project=name)) for name in memory.memories.projects()}
    others = [f"{printable(name, 100)} ({count:,})" for name, count in counts.items() if name != memory.project]
    if not others:
        return ()
    named = ", ".join(others[:_SHOWN_PROJECTS]) + (", …" if len(others) > _SHOWN_PROJECTS else "")
    known = f"This project is {printable(memory.project, 100)} here; the store also has memories of: {named}."
    return (known, 'Is one of them this project under an earlier name? Say so: [tool.whet] project = "…"')


def told(recalled: Recalled) -> None:
    """What it is, how well it answers, what it says, and why it was found."""
    memory = recalled.memory
    heading = (short(memory), f"{recalled.score:.2f}", _sort(memory), f"{memory.at:%Y-%m-%d %H:%M}", _counts(memory))
    click.secho("  ".join(heading), bold=True)
    lines = _wrapped(memory.text)
    for line in lines[:_SHOWN_LINES]:
        say(line)
    more = len(lines) - _SHOWN_LINES
    if more > 0:
        say(f"{_INDENT}… {more} more {'line' if more == 1 else 'lines'}: whet memory show {short(memory)}")
    say(f"{_INDENT}Why: {printable(recalled.why, 300)}\n")


def outlined(title: str, memories: Sequence[Memory]) -> None:
    rows = [(short(m), f"{m.at:%m-%d %H:%M}", _sort(m), _counts(m), _first_words(m)) for m in memories]
    table(title, ("id", "when (UTC)", "what", "held", "text"), rows)


def lines_of(memory: Memory) -> Iterator[str]:
    """Every line of it fits behind its name."""
    named = {
        "id": memory.id,
        "what": f"{memory.topic} ({memory.kind.value}){f', by {memory.agent}' if memory.agent else ''}",
        "when": f"{memory.at:%Y-%m-%d %H:%M} UTC",
        "held": f"{memory.support:,} times, {memory.against:,} against",
        "importance": f"{memory.importance:.2f}{', pinned: it is never forgotten by itself' if memory.pinned else ''}",
        "used": f"{memory.used:,} times"
        + (f", last {memory.last_used:%Y-%m-%d %H:%M} UTC" if memory.last_used else ""),
        "source": memory.source,
        "subjects": ", ".join(memory.subjects) or "none",
        "about": ", ".join(f"{name}={value}" for name, value in sorted(memory.about.items())) or "nothing more",
    }
    for name, value in named.items():
        yield f"{name:<12}{printable(value, 2000)}"
    yield ""
    yield printable_lines(memory.text)
    if memory.cue is not None:
        yield f"\nFound by:\n{printable_lines(memory.cue)}"


def _sort(memory: Memory) -> str:
    return f"{memory.topic}{', pinned' if memory.pinned else ''}"


def _counts(memory: Memory) -> str:
    """Of what, for facts and procedures; how often it was met, for others."""
    asserted = memory.topic in ("fact", "procedure")
    return f"{memory.support:,}/{memory.support + memory.against:,}" if asserted else f"{memory.support:,}×"


def _first_words(memory: Memory) -> str:
    return printable(memory.text.partition("\n")[0], _OUTLINE)


def _wrapped(text: str) -> list[str]:
    width = min(_WIDEST, max(_NARROWEST, shutil.get_terminal_size().columns)) - len(_INDENT)
    shown = [
        piece for line in printable_lines(text).split("\n") for piece in textwrap.wrap(line, width) if line.strip()
    ]
    return [f"{_INDENT}{line}" for line in shown]
