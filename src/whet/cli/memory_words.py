"""Memories as people read them."""

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import click

from whet.cli.memory_choosing import short
from whet.cli.output import say, table
from whet.core.memories import Memory, Recalled
from whet.core.text import printable, printable_lines

_INDENT = "  "
_NARROWEST, _WIDEST = 40, 120
_SHOWN_LINES = 4
_OUTLINE = 110


def in_full(memory: Memory) -> dict[str, Any]:
    return {"id": memory.id, **memory.model_dump(mode="json")}


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
