"""Commands end within their limits, and nothing of them stays."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from whet.core.errors import WhetError
from whet.tools.process import KEPT_BYTES, Limits, default_memory_mb, run

Living = Callable[[], list[int]]

# Leaves a grandchild in a session of its own, whose parent is gone: neither its group nor its parent lead to it.
DAEMON = """
    import os, sys, time
    def daemon(pids):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                open(os.path.join(pids, str(os.getpid())), "w").close()
                time.sleep(300)
            os._exit(0)
        os.wait()
        while not os.listdir(pids):
            time.sleep(0.01)
    daemon(sys.argv[1])
"""


def script(tmp_path: Path, *parts: str) -> list[str]:
    file = tmp_path / "script.py"
    file.write_text("\n".join(dedent(part) for part in parts))
    return [sys.executable, "-S", str(file), str(tmp_path / "pids")]


def pids_written(tmp_path: Path, count: int) -> None:
    deadline = time.monotonic() + 20
    while len(list((tmp_path / "pids").iterdir())) < count:
        assert time.monotonic() < deadline, "the processes did not start"
        time.sleep(0.02)


def gone(survivors: Living) -> bool:
    deadline = time.monotonic() + 15
    while survivors() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not survivors()


def test_output_and_exit_code_are_reported(tmp_path: Path, limits: Limits) -> None:
    code = (
        "import sys; print('out'); sys.stdout.flush(); print('err', file=sys.stderr); print(sys.stdin.read()); exit(3)"
    )
    done = run([sys.executable, "-c", code], cwd=tmp_path, env={"A": "1"}, limits=limits)
    assert (done.exit_code, done.signal, done.timed_out, done.memory_exceeded) == (3, None, False, False)
    assert done.output == "out\nerr\n\n"
    assert done.output_bytes == 9


def test_standard_error_can_be_left_out(tmp_path: Path, limits: Limits) -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr)"
    done = run([sys.executable, "-c", code], cwd=tmp_path, limits=limits, with_errors=False)
    assert done.output == "out\n"


def test_a_signal_is_no_exit_code(tmp_path: Path, limits: Limits) -> None:
    done = run([sys.executable, "-c", "import os; os.kill(os.getpid(), 11)"], cwd=tmp_path, limits=limits)
    assert (done.exit_code, done.signal) == (None, signal.SIGSEGV)


def test_a_daemon_is_ended_when_the_command_ends(tmp_path: Path, limits: Limits, survivors: Living) -> None:
    done = run(script(tmp_path, DAEMON), cwd=tmp_path, limits=limits)
    assert done.exit_code == 0, done.output
    assert survivors() == []


def test_a_timeout_ends_the_whole_tree(tmp_path: Path, survivors: Living) -> None:
    hang = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
    done = run(script(tmp_path, DAEMON, hang), cwd=tmp_path, limits=Limits(timeout_seconds=1.5))
    assert done.timed_out
    assert done.exit_code is None
    assert 1.4 < done.duration_seconds < 12
    assert len(list((tmp_path / "pids").iterdir())) == 1
    assert survivors() == []


def test_memory_of_the_whole_tree_is_limited(tmp_path: Path) -> None:
    hog = """
        import os, time
        os.fork()
        held = bytearray(os.urandom(1)) * 80_000_000
        time.sleep(300)
    """
    done = run(script(tmp_path, hog), cwd=tmp_path, limits=Limits(timeout_seconds=60, memory_mb=120))
    assert done.memory_exceeded
    assert not done.timed_out
    assert done.peak_memory_mb is not None
    assert done.peak_memory_mb > 120


def test_shared_pages_count_once(tmp_path: Path) -> None:
    forks = """
        import os, time
        held = bytearray(os.urandom(1)) * 60_000_000
        for _ in range(4):
            if os.fork() == 0:
                time.sleep(0.6)
                os._exit(0)
        time.sleep(0.7)
    """
    done = run(script(tmp_path, forks), cwd=tmp_path, limits=Limits(timeout_seconds=60, memory_mb=150))
    assert done.exit_code == 0, done


def test_the_peak_is_measured(tmp_path: Path, limits: Limits) -> None:
    done = run([sys.executable, "-c", "held = b'x' * 90_000_000"], cwd=tmp_path, limits=limits)
    assert done.peak_memory_mb is not None
    assert 85 < done.peak_memory_mb < 150


def test_endless_output_neither_blocks_nor_fills_memory(tmp_path: Path, limits: Limits) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code = "import os\nos.write(1, b'first')\nfor _ in range(200): os.write(1, b'y' * 1_000_000)\nos.write(1, b'last')"
    done = run([sys.executable, "-c", code], cwd=tmp_path, limits=limits)
    assert done.exit_code == 0
    assert done.output_bytes == 200_000_009
    assert done.output.startswith("first")
    assert done.output.endswith("last")
    assert f"… {200_000_009 - 2 * KEPT_BYTES} bytes left out …" in done.output
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000


def test_output_that_is_no_text_is_replaced(tmp_path: Path, limits: Limits) -> None:
    done = run([sys.executable, "-c", "import os; os.write(1, b'a\\xff\\x00b')"], cwd=tmp_path, limits=limits)
    assert done.output == "a\ufffd\x00b"


def test_an_interrupt_ends_the_tree(tmp_path: Path, limits: Limits, survivors: Living) -> None:
    def interrupt() -> None:
        if any((tmp_path / "pids").iterdir()):
            raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(script(tmp_path, DAEMON, "time.sleep(300)"), cwd=tmp_path, limits=limits, on_tick=interrupt)
    assert survivors() == []
    assert time.monotonic() - began < 15


def test_a_killed_whet_leaves_nothing(tmp_path: Path, survivors: Living) -> None:
    command = script(
        tmp_path, DAEMON, 'open(os.path.join(sys.argv[1], str(os.getpid())), "w").close(); time.sleep(300)'
    )
    caller = (
        "import sys; from pathlib import Path; from whet.tools.process import Limits, run; "
        "run(sys.argv[1:], cwd=Path.cwd(), limits=Limits(timeout_seconds=200))"
    )
    whet = subprocess.Popen([sys.executable, "-c", caller, *command], cwd=tmp_path)
    pids_written(tmp_path, 2)
    whet.kill()
    whet.wait()
    assert gone(survivors)


@pytest.mark.parametrize("ancestor", ["os.getppid()", "int(open(f'/proc/{os.getppid()}/stat').read().split()[3])"])
def test_killing_the_guards_leaves_nothing(tmp_path: Path, limits: Limits, survivors: Living, ancestor: str) -> None:
    done = run(script(tmp_path, DAEMON, f"os.kill({ancestor}, 9); time.sleep(0.5)"), cwd=tmp_path, limits=limits)
    assert survivors() == []
    assert done.exit_code == 0 if ancestor == "os.getppid()" else done.signal == signal.SIGKILL


def test_load_runs_beside_and_ends(tmp_path: Path, limits: Limits) -> None:
    code = """
        import os, time
        time.sleep(0.3)
        top = int(open(f"/proc/{os.getppid()}/stat").read().split()[3])
        for name in os.listdir("/proc"):
            if name.isdigit():
                fields = open(f"/proc/{name}/stat").read().split()
                if int(fields[3]) == top and int(name) != os.getppid():
                    print(name, int(fields[13]))
    """
    done = run(script(tmp_path, code), cwd=tmp_path, limits=limits, load_processes=2)
    burners = [line.split() for line in done.output.splitlines()]
    assert len(burners) == 2
    assert any(int(ticks) > 0 for _, ticks in burners)
    assert not any(Path(f"/proc/{pid}").exists() for pid, _ in burners)


def test_what_cannot_be_started_is_said(tmp_path: Path, limits: Limits) -> None:
    with pytest.raises(WhetError, match=r"no-such-command.*could not be started"):
        run(["no-such-command"], cwd=tmp_path, limits=limits)
    with pytest.raises(WhetError, match=r"could not be started in .*nowhere"):
        run(["true"], cwd=tmp_path / "nowhere", limits=limits)


def test_no_descriptors_are_left_open(tmp_path: Path, limits: Limits) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - counting, not walking
    run(["true"], cwd=tmp_path, limits=limits)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - as above


def test_the_default_memory_limit_leaves_some() -> None:
    limit = default_memory_mb()
    assert limit is not None
    assert 0 < limit < 0.9 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
