"""Find, read and check the settings of a project."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from whet.core.errors import WhetError
from whet.settings.keys import ENVIRONMENT_ONLY
from whet.settings.model import Settings
from whet.settings.problems import refusal

ENVIRONMENT: Final = {
    "WHET_DATABASE_URL": "database_url",
    "WHET_AUDIT_KEY": "audit_key",
    "WHET_PYTHON": "python",
}


def load_settings(root: Path, env: Mapping[str, str]) -> Settings:
    """The settings of the project in `root`: defaults, then its file, then the environment."""
    file, values = _find(root)
    _refuse_misplaced(file, values)
    try:
        return Settings.model_validate({**values, **_from_environment(env)})
    except ValidationError as error:
        raise refusal(error, lambda table: _heading(file, table)) from error


def _find(root: Path) -> tuple[Path, dict[str, Any]]:
    """The file that has the settings, and what it says; without one, pyproject.toml and nothing."""
    pyproject, own = root / "pyproject.toml", root / "whet.toml"
    table = whet_table(pyproject) if pyproject.is_file() else None
    if not own.is_file():
        return pyproject, table or {}
    if table is not None:
        raise WhetError(
            f"Settings stand in two places, whet.toml and [tool.whet] of pyproject.toml, both in {root}.",
            "Keep one of them.",
        )
    return own, read_toml(own)


def whet_table(pyproject: Path) -> dict[str, Any] | None:
    """What pyproject.toml says under [tool.whet]; None when it has no such table."""
    tool = read_toml(pyproject).get("tool", {})
    if not isinstance(tool, dict) or "whet" not in tool:
        return None
    table = tool["whet"]
    if not isinstance(table, dict):
        raise WhetError(f"{pyproject.name}: tool.whet is {table!r}.", "It must be a table: write [tool.whet].")
    return table


def read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise WhetError(f"{file} is not valid TOML: {error}.", "Correct that line and try again.") from error
    except UnicodeDecodeError as error:
        raise WhetError(
            f"{file} is not UTF-8 text (byte {error.start}).", "Save it with the encoding UTF-8 and try again."
        ) from error
    except OSError as error:
        raise WhetError(f"{file} cannot be read: {error.strerror}.", "Check its permissions.") from error


def _heading(file: Path, table: str) -> str:
    """How a table is headed in that file; whet.toml needs no prefix."""
    prefix = "tool.whet" if file.name == "pyproject.toml" else ""
    heading = ".".join(part for part in (prefix, table) if part)
    return f"{file}, [{heading}]" if heading else str(file)


def _refuse_misplaced(file: Path, values: Mapping[str, Any]) -> None:
    if ENVIRONMENT_ONLY in values:
        raise WhetError(
            f"{_heading(file, '')}: {ENVIRONMENT_ONLY} must not stand in a file that is committed.",
            "Take it out and set the environment variable WHET_AUDIT_KEY.",
        )
    if "tool" in values and file.name == "whet.toml":
        raise WhetError(
            f"{file}: the tables of this file need no tool.whet in front.",
            "Write [q_learning], not [tool.whet.q_learning].",
        )


def _from_environment(env: Mapping[str, str]) -> dict[str, str]:
    """What the environment sets; an empty variable counts as not set."""
    return {key: env[variable] for variable, key in ENVIRONMENT.items() if env.get(variable)}
