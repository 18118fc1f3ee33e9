"""A world: what every action of an agent really did on a project, several times over.

Policies are replayed on worlds: each decision draws one of the recorded outcomes of the chosen
action, so that learning can be judged against actions that were not taken.
"""

import json
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from whet.agents.catalogue import agent_named
from whet.core.errors import WhetError
from whet.core.records import Outcome, Record, State


class Context(Record):
    """One state the agent was in, and the outcomes of each action allowed there."""

    label: str
    state: dict[str, Any]
    outcomes: dict[str, tuple[dict[str, Any], ...]] = Field(min_length=1)


class World(Record):
    schema_version: Literal[1] = 1
    agent: str
    project: str
    command: str = Field(description="what made this file")
    recorded_at: str
    machine: dict[str, str]
    used_for_tuning: bool = Field(
        False, description="worlds that choices in the code were made with do not count as proof"
    )
    contexts: tuple[Context, ...] = Field(min_length=1)

    @property
    def name(self) -> str:
        return f"{self.project}/{self.agent}"

    def states(self) -> list[State]:
        state_type = agent_named(self.agent).state_type
        return [state_type.model_validate(context.state) for context in self.contexts]

    def outcome(self, recorded: dict[str, Any]) -> Outcome:
        return agent_named(self.agent).outcome_type.model_validate(recorded)


def load(path: Path) -> World:
    try:
        return World.model_validate_json(path.read_bytes())
    except OSError as error:
        raise WhetError(f"{path} cannot be read: {error.strerror}.", "Give a file made by `whet record`.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise WhetError(
            f"{path} is no world: {where}: {first['msg']}.", "Give a file made by `whet record`."
        ) from error


def save(world: World, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(world.model_dump(mode="json"), indent=1) + "\n")


def shipped() -> list[World]:
    """The worlds that come with Whet."""
    folder = resources.files("whet.improvement") / "worlds"
    with resources.as_file(folder) as path:
        return load_all(sorted(path.glob("*.json")))


def load_all(paths: Iterable[Path]) -> list[World]:
    return [load(path) for path in paths]
