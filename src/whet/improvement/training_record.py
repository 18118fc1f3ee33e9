"""What training keeps in its folder: what it was asked for, the learner, and what was measured on the way.

`training.json` · `checkpoint/STEPS/` (the last two chapters, each whole or not there) · `learner/` (the artefact that
policies use, written when training is done) · `kept/` (what it must not forget when it goes on elsewhere) ·
`held_out.json` (what it is worth on test cases it never saw) · `measures.jsonl` · `tensorboard/` · `curves.html`
"""

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, ValidationError

from whet.core.errors import WhetError
from whet.core.records import Count, Record
from whet.improvement.curriculum import visits_in
from whet.improvement.training_learners import Device, Policy
from whet.policies.deep.layout import MOST_MEMORIES

if TYPE_CHECKING:  # it imports torch
    from whet.policies.deep.ewc import Consolidation

ORDER, MEASURES, CURVES, CURRICULUM = "training.json", "measures.jsonl", "curves.html", "curriculum.json"
HELD_OUT = "held_out.json"
CHECKPOINT, LEARNER, KEPT, TENSORBOARD = "checkpoint", "learner", "kept", "tensorboard"
Row = Mapping[str, float]


class Order(Record):
    """What is trained, on what, and how long. Equal orders give equal weights."""

    schema_version: Literal[1] = 1
    agent: str
    policy: Policy
    seed: Count
    steps: Annotated[int, Field(ge=1)]
    environments: Annotated[int, Field(ge=1, le=1024)] = 8
    checkpoint_steps: Annotated[int, Field(ge=1)] = 2000
    discount: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.95
    source: str = Field(description="world, history, or the name of a file")
    sources: tuple[str, ...] = Field(description="what was found there")
    digest: str = Field(description="of every state and outcome that is trained on")
    curriculum: bool = Field(False, description="worlds are chosen by learning progress")
    keep: bool = Field(False, description="begins with what was learned before, and holds on to it")
    share: bool = Field(False, description="agents of a category learn from each other's steps")
    memories: Annotated[int, Field(ge=0, le=MOST_MEMORIES)] = Field(0, description="that the network has room for")
    device: Device = "cpu"
    together: tuple[str, ...] = Field((), description="agents whose networks improve as one computation")


class TrainingFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoint, self.learner, self.tensorboard = path / CHECKPOINT, path / LEARNER, path / TENSORBOARD

    @property
    def begun(self) -> bool:
        return (self.path / ORDER).exists()

    def clear(self) -> None:
        """Of an earlier training; what it made stays in use until this one is done."""
        (self.path / ORDER).unlink(missing_ok=True)  # first: without it nothing here is gone on with
        (self.path / MEASURES).unlink(missing_ok=True)
        for folder in (self.checkpoint, self.tensorboard):
            if folder.exists():
                shutil.rmtree(folder)

    @contextmanager
    def saving(self, steps: int) -> Iterator[Path]:
        """A place for one chapter, which counts when all of it is there. The chapter before it stays: of agents that
        are trained side by side, another one may not have come further."""
        whole = self.checkpoint / str(steps)
        place = whole.with_name(f"{steps}.part")
        for old in (place, whole):
            shutil.rmtree(old, ignore_errors=True)
        place.mkdir(parents=True)
        yield place
        place.replace(whole)
        for earlier in sorted(self.chapters())[:-2]:
            shutil.rmtree(self.checkpoint / str(earlier))

    def saved(self, steps: int) -> Path:
        return self.checkpoint / str(steps)

    def chapters(self) -> set[int]:
        """The steps after which everything was saved."""
        return {int(path.name) for path in self.checkpoint.glob("*") if path.name.isdigit()}

    def practised(self) -> Mapping[str, int]:
        """How often a curriculum chose each world, until the last save; empty where there was none."""
        chapters = self.chapters()
        path = self.saved(max(chapters)) / CURRICULUM if chapters else None
        return visits_in(path) if path is not None and path.exists() else {}

    def keep(self, memory: "Consolidation") -> None:
        memory.save(self.path / KEPT)

    def kept(self) -> "Consolidation":
        from whet.policies.deep.ewc import Consolidation

        return Consolidation.open(self.path / KEPT)

    def begin(self, order: Order) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        _replace(self.path / ORDER, order.model_dump_json(indent=1) + "\n")

    def order(self) -> Order:
        try:
            return Order.model_validate_json((self.path / ORDER).read_bytes())
        except FileNotFoundError as error:
            raise WhetError(f"No training has begun in {self.path}.", "Leave out --resume.") from error
        except ValidationError as error:
            first = error.errors()[0]
            raise WhetError(
                f"{self.path / ORDER} is no training's: {first['loc']}: {first['msg']}.", "Train again."
            ) from error

    def tell_held_out(self, told: Mapping[str, float | None]) -> None:
        """Of the learner that is there; both stay until another training is done."""
        _replace(self.path / HELD_OUT, json.dumps(told, indent=1, allow_nan=False) + "\n")

    def rows(self) -> list[Row]:
        path = self.path / MEASURES
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def append(self, rows: Iterable[Row]) -> None:
        """Before the learner is saved: what is here beyond its steps is dropped when training goes on."""
        with (self.path / MEASURES).open("a") as file:
            file.writelines(json.dumps(row, allow_nan=False) + "\n" for row in rows)

    def keep_rows_until(self, step: int) -> None:
        kept = [row for row in self._whole_rows() if row["step"] <= step]
        _replace(self.path / MEASURES, "".join(json.dumps(row) + "\n" for row in kept))

    def _whole_rows(self) -> Iterable[Row]:
        """The last line may have been cut by whatever ended the process."""
        path = self.path / MEASURES
        for line in path.read_text().splitlines() if path.exists() else ():
            try:
                yield json.loads(line)
            except ValueError:
                return


def _replace(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
