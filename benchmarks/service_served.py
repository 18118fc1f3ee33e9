"""`whet serve` over a project of its own, on a core of its own where there are two."""

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import jwt

from whet.bootstrap.site import open_site
from whet.core.people import Role
from whet.core.records import now
from whet.service.keys import mint, service_secret

SETTINGS = """\
[project]
name = "bench"
[tool.whet.service]
training_minutes = 0.02
requests_per_minute = 1000000
attempts_per_minute = 1000000
jwt_algorithm = "HS256"
jwt_key = "env:BENCHMARK_JWT_KEY"
jwt_audience = "bench"
"""
_JWT_KEY = secrets.token_hex(32)
_JWT_SECONDS = 6 * 3600


@dataclass(frozen=True)
class Served:
    folder: Path
    port: int
    key: str
    pid: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        """An admin whom nobody can take out: whoever tries everything also revokes keys, and its own among them."""
        told = {"sub": "fuzz", "role": "admin", "aud": "bench", "exp": int(time.time()) + _JWT_SECONDS}
        return jwt.encode(told, _JWT_KEY, "HS256")

    def resident_mb(self) -> float:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def processor_seconds(self) -> float:
        """That the server has used, whoever else is at work on the machine."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def statuses(self) -> list[int]:
        """Of every request that was answered, from the log."""
        return [int(found) for found in re.findall(r'"status": (\d+)', (self.folder / "log").read_text())]


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    folder.mkdir()
    (folder / "pyproject.toml").write_text(SETTINGS)
    with serving(folder) as at:
        yield at


@contextmanager
def serving(folder: Path) -> Iterator[Served]:
    """The same over a project that is there already."""
    site = open_site(folder)
    with site.store() as store:
        minted = mint(service_secret(site), "bench", Role.ADMIN)
        store.people.add(minted.kept, "bench", now())
    whet = shutil.which("whet", path=str(Path(sys.executable).parent)) or "whet"
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [whet, "serve", "--port", "0", "-C", str(folder)],
            env={**os.environ, "BENCHMARK_JWT_KEY": _JWT_KEY},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise SystemExit(f"whet serve did not start: {(folder / 'log').read_text()[-2000:]}")
        _separate(process.pid)
        yield Served(folder, int(line.rsplit(":", 1)[1]), minted.text, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    if process.returncode != 0:
        raise SystemExit(f"whet serve ended with {process.returncode}")


def _separate(server: int) -> None:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        os.sched_setaffinity(server, cores[:1])
        os.sched_setaffinity(0, cores[1:])
