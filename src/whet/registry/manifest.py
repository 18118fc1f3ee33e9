"""What an artefact consists of, as one canonical document. The digest is of its bytes, and so is the signature."""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NoReturn

from pydantic import Field, ValidationError

from whet.core.errors import RefusedInput
from whet.core.records import Record
from whet.core.registries import ALIASES, Facts
from whet.core.text import printable
from whet.registry.trees import Entry, Unfit, require_paths

MANIFEST, SIGNATURE, FILES, PICTURES = "manifest.json", "signature", "files", "pictures"
LARGEST_MANIFEST = 1 << 22
LARGEST_PICTURE = 10 << 20
MOST_PICTURES = 50
# An agent's name is part of the name of a file and of an MLflow model.
_AGENT = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Manifest(Record):
    version: Literal[1] = 1
    agent: str
    kind: Annotated[str, Field(min_length=1, max_length=100)]
    config: dict[str, Any]
    metrics: dict[str, float]
    lineage: dict[str, Any]
    entries: tuple[tuple[str, Annotated[int, Field(ge=0)], _Sha256], ...]

    @property
    def files(self) -> list[Entry]:
        return [Entry(*each) for each in self.entries]

    @property
    def size(self) -> int:
        return sum(each.size for each in self.files)


def manifest_bytes(facts: Facts, entries: Sequence[Entry]) -> bytes:
    """The same facts and files give the same bytes, whatever their order was."""
    document = {
        "version": 1,
        "agent": require_agent(facts.agent),
        "kind": facts.kind,
        "config": dict(facts.config),
        "metrics": {name: _finite(name, value) for name, value in facts.metrics.items()},
        "lineage": dict(facts.lineage),
        "entries": sorted(entries),
    }
    data = _canonical(document)
    if len(data) > LARGEST_MANIFEST:
        _refuse(f"they have {len(data):,} bytes, of which {LARGEST_MANIFEST:,} are allowed")
    read_manifest(data)
    return data


def read_manifest(data: bytes) -> Manifest:
    try:
        manifest = Manifest.model_validate_json(data)
        require_paths([each.path for each in manifest.files])
    except (ValidationError, Unfit) as error:
        _refuse(printable(str(error), 400))
    return manifest


def digest_of(manifest: bytes) -> str:
    return hashlib.sha256(manifest).hexdigest()


def require_agent(agent: str) -> str:
    if not _AGENT.fullmatch(agent):
        raise RefusedInput(
            f"{printable(repr(agent), 120)} cannot be the name of an agent in a registry.",
            "Use small letters, digits, '-' and '_', beginning with a letter or digit, 100 at most.",
        )
    return agent


def require_digest(digest: str) -> str:
    if not _DIGEST.fullmatch(digest):
        raise RefusedInput(
            f"{printable(repr(digest), 120)} is no digest of an artefact.", "A digest has 64 hexadecimal digits."
        )
    return digest


def require_alias(alias: str) -> None:
    if alias not in ALIASES:
        raise RefusedInput(f"{printable(repr(alias), 120)} is no alias.", f"Choose one of {', '.join(ALIASES)}.")


def require_pictures(pictures: Mapping[str, bytes]) -> None:
    if len(pictures) > MOST_PICTURES:
        _refuse(f"there are {len(pictures)} pictures, of which {MOST_PICTURES} are allowed")
    for name, picture in pictures.items():
        if not name.endswith((".svg", ".png")) or "/" in name:
            _refuse(f"the picture {printable(repr(name), 120)} is not named like curve.svg or curve.png")
        if len(picture) > LARGEST_PICTURE:
            _refuse(f"the picture {name} has {len(picture):,} bytes, of which {LARGEST_PICTURE:,} are allowed")


def _finite(name: str, value: float) -> float:
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        _refuse(f"the metric {printable(repr(name), 120)} is {printable(repr(value), 60)}, not a finite number")
    return number


def _canonical(document: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        _refuse(f"they are not a JSON document of finite numbers ({printable(str(error), 120)})")


def _refuse(problem: str) -> NoReturn:
    raise RefusedInput(
        f"These facts about a policy cannot be kept: {problem}.",
        "Leave out what is unknown; give the rest as plain JSON.",
    )
