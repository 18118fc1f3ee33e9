"""Where trained policies are kept, and which of them are in use. The store's candidates are the record; a registry
keeps the files, proves that they are ours, and shows them to people and other programs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

Alias = Literal["production", "canary", "candidate"]
ALIASES: Sequence[Alias] = ("production", "canary", "candidate")


class Facts(NamedTuple):
    """What is kept beside the files: JSON documents, and pictures as bytes by file name (SVG, PNG)."""

    agent: str
    kind: str
    config: Mapping[str, Any]
    metrics: Mapping[str, float]
    lineage: Mapping[str, Any]
    pictures: Mapping[str, bytes]


class Kept(NamedTuple):
    digest: str  # of all files with their names, and of the facts: sha256, hexadecimal
    facts: Facts
    folder: Path  # with the files of the policy, as they were given, checked


class Registry(Protocol):
    """Whatever it hands out was signed with the project's key and is unchanged since; anything else is refused by name
    (RefusedInput). Files are written under their digest, once, whole or not at all."""

    def keep(self, files: Path, facts: Facts) -> str:
        """Keep all regular files below `files`; the digest. The same again changes nothing."""

    def open(self, digest: str) -> Kept: ...

    def name(self, agent: str, alias: Alias, digest: str | None) -> None:
        """Point the alias there, or nowhere."""

    def named(self, agent: str) -> Mapping[Alias, str]:
        """What each alias points to."""

    def digests(self) -> list[str]:
        """Everything kept, sorted."""

    def close(self) -> None:
        """Folders that it handed out may be gone afterwards; so may the oldest when many were opened."""
