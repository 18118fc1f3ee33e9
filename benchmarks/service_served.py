"""`whet serve` over a project of its own, on a core of its own where there are two."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from whet.bootstrap.site import open_site
from whet.core.people import Role
from whet.core.records import now
from whet.service.keys import mint, service_secret

SETTINGS = "[project]\nname = 'bench'\n[tool.whet.service]\ntraining_minutes = 0.02\nrequests_per_minute = 1000000\n"


@dataclass(frozen=True)
class Served:
    folder: Path
    port: int
    key: str
    pid: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def resident_mb(self) -> float:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def statuses(self) -> list[int]:
        """Of every request that was answered, from the log."""
        return [int(found) for found in re.findall(r'"status": (\d+)', (self.folder / "log").read_text())]


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    folder.mkdir()
    (folder / "pyproject.toml").write_text(SETTINGS)
    site = open_site(folder)
    with site.store() as store:
        minted = mint(service_secret(site), "bench", Role.ADMIN)
        store.people.add(minted.kept, "bench", now())
    whet = shutil.which("whet", path=str(Path(sys.executable).parent)) or "whet"
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [whet, "serve", "--port", "0", "-C", str(folder)], stdout=subprocess.PIPE, stderr=log, text=True
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
