"""One project, opened: its settings, its store, its interpreter."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from whet.core.errors import WhetError
from whet.settings.load import load_settings
from whet.settings.model import Settings
from whet.store.sql_store import SqlStore, open_store
from whet.tools.project import Project, find_project
from whet.tools.python import Python, find_python

STATE_DIR = ".whet"


@dataclass
class Site:
    project: Project
    settings: Settings

    @property
    def state_dir(self) -> Path:
        return self.project.root / STATE_DIR

    @cached_property
    def python(self) -> Python:
        return find_python(self.project.root, self.settings.python)

    @property
    def embedded(self) -> bool:
        return self.settings.database_url is None

    @property
    def database_url(self) -> str:
        return self.settings.database_url or f"sqlite:///{(self.state_dir / 'whet.db').resolve()}"

    @property
    def visited(self) -> bool:
        """Whether there is anything to read yet."""
        return not self.embedded or (self.state_dir / "whet.db").exists()

    @contextmanager
    def store(self) -> Iterator[SqlStore]:
        make_state_dir(self.state_dir)
        store = open_store(self.database_url, self._audit_key())
        try:
            yield store
        finally:
            store.close()

    def _audit_key(self) -> bytes | None:
        if self.settings.audit_key is not None:
            return self.settings.audit_key.get_secret_value().encode()
        return file_key(self.state_dir / "audit.key") if self.embedded else None


def open_site(start: Path, **overrides: object) -> Site:
    """The project around `start`; overrides that are not None replace settings."""
    if not start.is_dir():
        raise WhetError(f"{start} is not a directory.", "Give the directory of a Python project.")
    project = find_project(start)
    settings = load_settings(project.root, os.environ)
    given = {name: value for name, value in overrides.items() if value is not None}
    return Site(project, Settings.model_validate({**settings.model_dump(exclude_unset=True), **given}))


def make_state_dir(path: Path) -> None:
    """Whet's own directory; it ignores itself in git, so that nobody commits it by accident."""
    path.mkdir(parents=True, exist_ok=True)
    ignore = path / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")


def file_key(path: Path) -> bytes:
    """The project's audit key; made once, readable by its owner only."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return path.read_bytes()
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_hex(32).encode())
    return path.read_bytes()
