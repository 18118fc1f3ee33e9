"""A service is there while it is needed, and nothing of it afterwards."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from urllib.request import urlopen

import pytest

from whet.core.errors import WhetError
from whet.core.services import NotServed
from whet.tools.process import Limits
from whet.tools.served import Command, free_port, served

Living = Callable[[], list[int]]

# Answers its process id; /die ends it; a child in a session of its own stays behind, if nobody ends it.
SERVICE = """
    import http.server, os, subprocess, sys
    pids, port = sys.argv[1], int(sys.argv[2])
    class Answering(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/die":
                os._exit(3)
            body = str(os.getpid()).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        def log_message(self, *_):
            pass
    child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(300)"], start_new_session=True)
    for pid in (os.getpid(), child.pid):
        open(os.path.join(pids, str(pid)), "w").close()
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Answering).serve_forever()
"""


def command(tmp_path: Path, code: str = SERVICE, url: str = "http://127.0.0.1:{port}", ready: float = 20.0) -> Command:
    file = tmp_path / "service.py"
    file.write_text(dedent(code))
    words = [sys.executable, "-S", str(file), str(tmp_path / "pids"), "{port}"]
    return Command(words, url, tmp_path, Limits(timeout_seconds=60.0), ready_seconds=ready)


def answer(address: str, path: str = "/") -> str:
    with urlopen(address + path, timeout=10) as response:  # noqa: S310 - the loopback address of our own service
        return str(response.read().decode())


def gone(survivors: Living) -> bool:
    deadline = time.monotonic() + 15
    while survivors() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not survivors()


def test_it_answers_inside_the_block_and_is_gone_with_its_children_afterwards(
    tmp_path: Path, survivors: Living
) -> None:
    with served(command(tmp_path)) as service:
        assert int(answer(service.address)) in survivors()
        assert len(survivors()) == 2
        assert service.deaths == 0
    assert survivors() == []


@pytest.mark.parametrize("trouble", [KeyboardInterrupt, ValueError])
def test_whatever_leaves_the_block_ends_it(tmp_path: Path, survivors: Living, trouble: type[BaseException]) -> None:
    with pytest.raises(trouble), served(command(tmp_path)):
        raise trouble
    assert survivors() == []


def test_one_that_dies_is_started_again_at_the_same_address(tmp_path: Path, survivors: Living) -> None:
    with served(command(tmp_path)) as service:
        before = answer(service.address)
        os.kill(int(before), signal.SIGKILL)
        deadline = time.monotonic() + 20
        after = before
        while after == before and time.monotonic() < deadline:
            try:
                after = answer(service.address)
            except OSError:
                time.sleep(0.05)
        assert after != before
        assert service.deaths == 1
    assert gone(survivors)


def test_when_whet_is_killed_nothing_of_it_stays(tmp_path: Path, survivors: Living) -> None:
    made = command(tmp_path)
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom whet.tools.process import Limits\n"
        "from whet.tools.served import Command, served\n"
        f"made = Command({list(made.words)!r}, {made.url!r}, Path({str(tmp_path)!r}), Limits(timeout_seconds=60.0))\n"
        "with served(made):\n    print('up', flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as whet:
        assert whet.stdout is not None
        assert whet.stdout.readline() == "up\n"
        assert len(survivors()) == 2
        whet.kill()
    assert gone(survivors)


def test_one_that_does_not_start_is_told_with_its_last_words(tmp_path: Path, survivors: Living) -> None:
    with (
        pytest.raises(NotServed) as caught,
        served(command(tmp_path, "print('no database at all')\nraise SystemExit(4)")),
    ):
        raise AssertionError
    assert "ended with code 4 before it answered" in str(caught.value)
    assert "no database at all" in str(caught.value)
    assert "foreground" in str(caught.value)
    assert survivors() == []


def test_one_that_never_answers_is_told_and_ended(tmp_path: Path, survivors: Living) -> None:
    silent = """
        import os, sys, time
        open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
        print("still loading", flush=True)
        time.sleep(300)
    """
    with (
        pytest.raises(NotServed, match=r"did not answer at .* within 0\.5 s"),
        served(command(tmp_path, silent, ready=0.5)),
    ):
        raise AssertionError
    assert survivors() == []


def test_a_command_that_does_not_exist_is_a_sentence(tmp_path: Path) -> None:
    missing = Command(["no-such-service"], "http://127.0.0.1:{port}", tmp_path, Limits(timeout_seconds=5.0))
    with pytest.raises(WhetError, match=r"could not be started.*no-such-service"), served(missing):
        raise AssertionError


def test_what_answers_already_is_not_taken_for_it(tmp_path: Path, survivors: Living) -> None:
    with served(command(tmp_path)) as other:
        port = other.address.rpartition(":")[2]
        with (
            pytest.raises(NotServed, match="before the service was started"),
            served(command(tmp_path, url=f"http://127.0.0.1:{port}")),
        ):
            raise AssertionError
        assert len(survivors()) == 2


def test_a_free_port_is_free() -> None:
    assert 0 < free_port() < 65536
