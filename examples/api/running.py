"""The service in a process of its own, for tests: `with running("all", supervised=True) as service: service.url`."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[2]
STOP_SECONDS = 10


@dataclass(frozen=True)
class Running:
    url: str
    process: subprocess.Popen[str]

    @property
    def document(self) -> str:
        return f"{self.url}/openapi.json"


@contextmanager
def running(
    faults: str = "none", *, breaking: bool = False, supervised: bool = False, log: Path | None = None
) -> Iterator[Running]:
    """Ready when it is handed out, gone when the block ends. `log` gets what it writes: tracebacks, mostly."""
    switches = [*(["--breaking"] if breaking else []), *(["--supervised"] if supervised else [])]
    command = [sys.executable, "-m", "examples.api.serve", "--port", "0", "--faults", faults, *switches]
    with (log or Path("/dev/null")).open("a") as written:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=written, text=True)
    try:
        yield Running(_ready_url(process), process)
    finally:
        _stop(process)


def _ready_url(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    url = process.stdout.readline().strip()
    if not url:
        raise RuntimeError(f"The service ended with status {process.wait()} before it was ready.")
    with urlopen(f"{url}/health", timeout=STOP_SECONDS):  # noqa: S310 - the loopback address it printed
        return url


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
