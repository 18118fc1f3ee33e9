"""Whatever ends a run ends everything it started: a cancellation, a coding agent that goes away or is killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import anyio
import pytest
from tests.cli.command_line import project_in
from tests.mcp.coding_agent import CodingAgent, at_work_in, coding_agent, server_of, soon

from whet.bootstrap.site import open_site
from whet.core.errors import Busy, WhetError
from whet.mcp.errands import Errand
from whet.mcp.visit import visit
from whet.tools.lock import exclusive

HANGING = """
    import subprocess
    import time
    from pathlib import Path


    def test_hangs():
        subprocess.Popen(["sleep", "300"], start_new_session=True)
        Path("hanging").touch()
        time.sleep(300)
    """


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project_in(tmp_path, {"test_hang.py": HANGING}, "[tool.whet]\nlearning = true\n")


def hangs(root: Path) -> bool:
    return (root / "hanging").exists()


def status_of_the_run(root: Path) -> str:
    with open_site(root).store() as store:
        [run] = store.runs.recent()
        return run.status


async def cancelled_once_it_hangs(agent: CodingAgent, root: Path) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(agent.client.call_tool, "run_agent", {"agent": "test-executor"})
        while not hangs(root):
            await anyio.sleep(0.05)
        group.cancel_scope.cancel()


def test_a_cancelled_run_leaves_no_process_and_is_marked(root: Path) -> None:
    with coding_agent(root) as agent:
        agent.portal.call(cancelled_once_it_hangs, agent, root)
        assert soon(lambda: len(at_work_in(root)) == 1)  # the server
        assert soon(lambda: status_of_the_run(root) == "interrupted")
        assert agent.ask("findings")["findings"] == []  # it goes on answering
    assert at_work_in(root) == []


# Speaks just enough of the protocol to begin a run, and waits.
CLIENT = """
    import json, subprocess, sys

    server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


    def send(method, **message):
        print(json.dumps({"jsonrpc": "2.0", "method": method, **message}), file=server.stdin, flush=True)


    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    send("initialize", id=1, params=about)
    server.stdout.readline()
    send("notifications/initialized")
    send("tools/call", id=2, params={"name": "run_agent", "arguments": {"agent": "test-executor"}})
    print(server.stdout.readline())
    """


@pytest.fixture
def client(root: Path) -> Iterator["subprocess.Popen[bytes]"]:
    parameters = server_of(root)
    command = [sys.executable, "-I", "-S", "-c", dedent(CLIENT), parameters.command, *parameters.args]
    started = subprocess.Popen(command, cwd="/", env=parameters.env)
    yield started
    started.kill()
    started.wait()


def test_a_killed_coding_agent_takes_server_and_run_with_it(root: Path, client: "subprocess.Popen[bytes]") -> None:
    assert soon(lambda: hangs(root))
    assert len(at_work_in(root)) > 4  # the client, the server, the errand, pytest and what it started
    os.kill(client.pid, signal.SIGKILL)
    client.wait()
    assert soon(lambda: at_work_in(root) == [])
    assert status_of_the_run(root) == "interrupted"


def test_nothing_but_the_protocol_leaves_through_standard_output(root: Path) -> None:
    """What is no message is answered or ignored; the end of the input is the end of the server."""
    parameters = server_of(root)
    done = subprocess.run(
        [parameters.command, *parameters.args],
        env=parameters.env,
        input=b'no json\n{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n\xff\xfe\n',
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert all(line.startswith(b'{"jsonrpc":"2.0"') for line in done.stdout.splitlines())
    assert b"Traceback" not in done.stderr


def test_what_does_not_end_is_ended(root: Path) -> None:
    """The last resort, where the budget of a run is not kept."""
    told = Errand(["collect", str(root)], root, timeout_seconds=0.3).work()
    assert told.result is None
    assert "did not end within 0.3 s and was ended" in (told.error or "")
    assert at_work_in(root) == []


def test_agents_that_cannot_or_shall_not_work_are_not_sent(root: Path) -> None:
    with pytest.raises(WhetError, match="There is no service to test: name its OpenAPI document"):
        visit(root, "api-contract-validator", 1.0, _unheard, _unheard)
    project_in(root, {}, '[tool.whet]\nagents = ["test-executor"]\n')
    with pytest.raises(WhetError, match=r"settings leave coverage-analyzer out\. Choose among: test-executor"):
        visit(root, "coverage-analyzer", 1.0, _unheard, _unheard)
    assert not hangs(root)


def test_a_project_has_one_run_at_a_time(root: Path) -> None:
    with (
        exclusive(root / ".whet" / "run.lock"),
        pytest.raises(Busy, match=f"Another whet is at work in this project .process {os.getpid()}"),
    ):
        visit(root, "test-executor", 1.0, _unheard, _unheard)


def _unheard(_told: str) -> None:
    pass
