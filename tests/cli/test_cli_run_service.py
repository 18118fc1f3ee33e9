"""`whet run` in a project that has a service: it is started, tested, reported and ended."""

import json
import signal
import subprocess
import time
from pathlib import Path

from tests.agents.services import KEY, project, serving
from tests.cli.command_line import WHET, environment, processes_with, whet

FAULTS = "copies-in-words,coverless-page,open-export,member-stays,name-lost,any-status"


def marked(start: str, tmp_path: Path) -> str:
    """So that its supervisor can be told from others by its command line."""
    return start.replace("env ", f"env RUN={tmp_path} ", 1)


def gone(token: str) -> bool:
    deadline = time.monotonic() + 15
    while processes_with(token) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not processes_with(token)


def test_the_service_is_tested_too_and_nothing_of_it_stays(tmp_path: Path) -> None:
    root = project(tmp_path / "shop", marked(serving(FAULTS), tmp_path), requests=60)
    done = whet("run", root, "--format", "json", LIBRARY_KEY=KEY)
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    sent = [step["agent"] for step in report["steps"]]
    assert "api-contract-validator" in sent
    found = [finding for finding in report["findings"] if finding["kind"] == "api-fault"]
    assert found
    assert all(finding["new"] and finding["cause"] for finding in found)
    assert all("127.0.0.1:8000" in finding["reproduce"] for finding in found)
    assert KEY not in done.stdout
    assert KEY.encode() not in b"".join(file.read_bytes() for file in (root / ".whet").iterdir() if file.is_file())
    assert "Library" in (root / ".whet" / "api.html").read_text()
    assert gone(str(tmp_path))


def test_ctrl_c_ends_the_service_too(tmp_path: Path) -> None:
    root = project(tmp_path / "shop", marked(serving(), tmp_path), requests=100_000)
    command = [str(WHET), "run", str(root)]
    with subprocess.Popen(command, env=environment(LIBRARY_KEY=KEY), stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        for line in run.stderr:
            if "api-contract-validator →" in line:
                break
        time.sleep(1.0)
        run.send_signal(signal.SIGINT)
        run.stderr.read()
    assert run.returncode == 130
    assert gone(str(tmp_path))
