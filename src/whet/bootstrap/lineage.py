"""Which experiences and which code a candidate comes from, so that both can be checked years later."""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import whet


def keys_digest(keys: Iterable[str]) -> str:
    """The same for the same experiences, in whatever order they were read."""
    return hashlib.sha256("".join(f"{key}\n" for key in sorted(keys)).encode("utf-8", "surrogatepass")).hexdigest()


@cache
def code_digest() -> str:
    """Of Whet's own sources: a version number stays the same while they are worked on."""
    root, told = Path(whet.__file__).parent, hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        told.update(f"{path.relative_to(root).as_posix()}\n{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return told.hexdigest()
