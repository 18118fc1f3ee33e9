"""Where in one file a change is felt: the lines themselves, the functions around them, or everywhere."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from whet.tools.outline import Definition, outline

_BOUND = re.compile(rb"^[ \t]*(?:(?:from[ \t]+[.\w]+[ \t]+)?import[ \t]+)?([A-Za-z_]\w*)[ \t]*(?:[:=,]|$)")


class Places(NamedTuple):
    """`changed`: lines that run when something is called, and that changed or stand for what did. `around`: the other
    lines of those functions. `loose`: some of it stands outside functions. `everywhere`: and what it does there, any
    part of the file may feel."""

    changed: frozenset[int]
    around: frozenset[int]
    loose: bool
    everywhere: bool
    names: frozenset[str]  # of the functions and classes that changed


def places(content: bytes, lines: Collection[int]) -> Places:
    """Documentation and comments are no change."""
    definitions = outline(content)
    if definitions is None:
        return Places(frozenset(lines), frozenset(), loose=True, everywhere=True, names=frozenset())
    text = content.splitlines()
    owners = _owners(definitions, [n for n in lines if n <= len(text) and _says_something(text[n - 1])])
    told = {n: owner for n, owner in owners.items() if owner is None or not owner.header < n < owner.body}
    loose = [n for n, owner in told.items() if owner is None or (owner.is_class and n > owner.header)]
    used, unbound = _uses(text, definitions, loose)
    classes = {told[n] for n in unbound} | {d for n, d in told.items() if d and d.is_class and n <= d.header}
    called = {n if n >= d.body else d.body for n, d in told.items() if d and not d.is_class}
    functions = {d for d in told.values() if d and not d.is_class}
    return Places(
        changed=frozenset(called | used | _methods(definitions, classes)),
        around=frozenset(n for d in functions for n in range(d.body, d.end + 1)),
        loose=bool(loose),
        everywhere=None in classes,
        names=frozenset(d.name for d in told.values() if d),
    )


def _says_something(line: bytes) -> bool:
    stripped = line.strip()
    return bool(stripped) and not stripped.startswith(b"#")


def _owners(definitions: Sequence[Definition], lines: Collection[int]) -> dict[int, Definition | None]:
    """By line, the innermost definition it belongs to: outer ones come first and are painted over."""
    owners: dict[int, Definition | None] = dict.fromkeys(lines)
    for definition in definitions:
        owners.update((n, definition) for n in range(definition.start, definition.end + 1) if n in owners)
    return owners


def _uses(
    text: Sequence[bytes], definitions: Sequence[Definition], loose: Collection[int]
) -> tuple[set[int], set[int]]:
    """The lines of functions that use a name bound by these lines, which ran when the module was imported; and those
    of these lines that bind none, or one that no function uses."""
    bound = {n: found[1] for n in loose if (found := _BOUND.match(text[n - 1]))}
    bodies = {n for d in definitions if not d.is_class for n in range(d.body, d.end + 1)} if bound else set()
    users = {name: _mentioning(name, text, bodies) for name in set(bound.values())}
    return set().union(*users.values()), {n for n in loose if not users.get(bound.get(n, b""))}


def _mentioning(name: bytes, text: Sequence[bytes], lines: Collection[int]) -> set[int]:
    word = re.compile(rb"\b" + name + rb"\b")
    return {n for n in lines if name in text[n - 1] and word.search(text[n - 1])}


def _methods(definitions: Sequence[Definition], classes: Collection[Definition | None]) -> set[int]:
    """The first line of every method of these classes: whoever calls one is reached."""
    within = [(d.start, d.end) for d in classes if d]
    return {d.body for d in definitions if not d.is_class and any(a <= d.start <= b for a, b in within)}
