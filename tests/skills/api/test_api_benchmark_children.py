"""The benchmark ends what it started, whatever ends the benchmark."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from whet.tools.supervisor import processes

ROOT = Path(__file__).parents[3]
# As the yardstick does: a service in a session of its own, which ends only when its starter is interrupted.
STARTER = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
open(sys.argv[1] + ".new", "w").write(str(child.pid))
import os; os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(600)
"""
# What is started in the background ignores SIGINT, and so would this.
BENCHMARK = """
import os, signal, sys
from benchmarks.api import measured
signal.signal(signal.SIGINT, signal.default_int_handler)
measured(sys.argv[1:], dict(os.environ))
"""


def lives(pid: int) -> bool:
    return pid in processes()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_service_in_a_session_of_its_own_ends_too(tmp_path: Path, how: signal.Signals) -> None:
    told = tmp_path / "pid"
    command = [sys.executable, "-c", BENCHMARK, sys.executable, "-c", STARTER, str(told)]
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.DEVNULL
    ) as run:
        while not told.exists():
            assert run.poll() is None
            time.sleep(0.05)
        service = int(told.read_text())
        assert lives(service)
        run.send_signal(how)
        assert run.wait(60) != 0
    ended = time.monotonic() + 30  # its supervisor notices that we are gone, and ends it
    while lives(service) and time.monotonic() < ended:
        time.sleep(0.05)
    assert not lives(service)
