"""One project, opened: its settings, its store, its interpreter."""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from whet.bootstrap.naming import own_name, shared_name
from whet.core.errors import WhetError
from whet.core.feedback import RewardRules
from whet.settings.load import load_settings
from whet.settings.model import Settings
from whet.settings.problems import refusal
from whet.settings.running import Rewards
from whet.store.engine import BUSY_SECONDS
from whet.store.sql_store import SqlStore, open_store
from whet.tools.project import Project, find_project
from whet.tools.python import Python, find_python

STATE_DIR = ".whet"


@dataclass
class Site:
    project: Project
    settings: Settings
    key: bytes | None = None

    def __post_init__(self) -> None:
        self._written = self.settings
        self.name = self.settings.project or self.project.name  # until the store says under which it is kept

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
    def store(self, wait_seconds: float = BUSY_SECONDS) -> Iterator[SqlStore]:
        """`wait_seconds`: for others who hold it locked."""
        make_state_dir(self.state_dir)
        self.key = self._audit_key()
        store = open_store(self.database_url, self.key, wait_seconds)
        try:
            self.name = self._name_in(store)
            self.obey(store.feedback.rules())
            yield store
        finally:
            store.close()

    def _name_in(self, store: SqlStore) -> str:
        named = own_name if self.embedded else shared_name
        return named(store, self.project, self.settings.project)

    def obey(self, rules: RewardRules | None) -> None:
        """What a person said of rewards holds over what is written; every process that opens the store does the same,
        so that rewards are made and judged by one rule."""
        self.settings = self._written if rules is None else _ruled(self._written, rules)

    def rescue(self, store: SqlStore) -> bool:
        """Write back what a suite deleted: the store, and the key its audit trail is sealed with."""
        rescued = store.rescue()
        if rescued and self.embedded:
            make_state_dir(self.state_dir)
        if rescued and self.embedded and self.key is not None and self.settings.audit_key is None:
            write_key(self.state_dir / "audit.key", self.key)
        return rescued

    def _audit_key(self) -> bytes | None:
        if self.settings.audit_key is not None:
            return self.settings.audit_key.get_secret_value().encode()
        return file_key(self.state_dir / "audit.key") if self.embedded else None


def _ruled(settings: Settings, rules: RewardRules) -> Settings:
    told = {"profile": rules.profile, "weights": rules.weights, "team_share": settings.rewards.team_share}
    try:
        return settings.model_copy(update={"rewards": Rewards.model_validate(told)})
    except ValidationError as error:
        raise refusal(error, lambda _: f"the reward rules that {rules.by} saved") from error


def open_site(start: Path, **overrides: object) -> Site:
    """The project around `start`; overrides that are not None replace settings."""
    if not start.is_dir():
        raise WhetError(f"{start} is not a directory.", "Give the directory of a Python project.")
    project = find_project(start)
    settings = load_settings(project.root, os.environ)
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Site(project, Settings.model_validate({**settings.model_dump(exclude_unset=True), **given}))
    except ValidationError as error:
        raise refusal(error, lambda table: table or "options") from error


def make_state_dir(path: Path) -> None:
    """Whet's own directory. It ignores itself in git, so that nobody commits it by accident, and is private when it is
    made: it holds what tests said, and what things are signed with. Who wants it otherwise may change that."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        ignore = path / ".gitignore"
        if not ignore.exists():
            _make_private(path)
            ignore.write_text("*\n")
    except OSError as error:
        raise WhetError(
            f"Whet keeps what it learns in {path}, which cannot be used: {error.strerror}.",
            "Make the directory writable, or move away what is in its place.",
        ) from error


def _make_private(path: Path) -> None:
    """To its owner; where the project's folder is a group's to write, to that group."""
    group = stat.S_IRWXG if path.parent.stat().st_mode & stat.S_IWGRP else 0
    kept = stat.S_IMODE(path.stat().st_mode) & ~(stat.S_IRWXG | stat.S_IRWXO)
    with contextlib.suppress(PermissionError):  # not ours, or on a disk without modes
        path.chmod(kept | group)


def file_key(path: Path) -> bytes:
    """The project's audit key; made once, readable by its owner only."""
    try:
        if not path.exists():
            write_key(path, secrets.token_hex(32).encode())
        return path.read_bytes()
    except PermissionError as error:
        raise WhetError(
            f"{path} is another user's, and what it seals with it.",
            "Where several people use one store, give all of them the same key: WHET_AUDIT_KEY",
        ) from error


def write_key(path: Path, key: bytes) -> None:
    """Whole or not at all; who comes second keeps what the first one wrote."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
        file.write(key)
    with contextlib.suppress(FileExistsError):
        os.link(part, path)
    part.unlink()
