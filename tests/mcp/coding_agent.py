"""A coding agent: the official client, talking to `whet mcp` as a process of its own."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent, TextResourceContents
from tests.cli.command_line import WHET, environment

# The machine may be busy with other things.
SOON_SECONDS = 60.0


class CodingAgent:
    """Calls tools from any thread; every call is a request of its own on the one connection."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal, self.client = portal, client

    def call(self, tool: str, /, **arguments: Any) -> CallToolResult:
        result: CallToolResult = self.portal.call(self.client.call_tool, tool, arguments)
        return result

    def ask(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content
        answer: dict[str, Any] = result.structured_content
        [content] = result.content  # for clients that know no structure
        assert isinstance(content, TextContent)
        assert json.loads(content.text) == answer
        return answer

    def refused(self, tool: str, /, **arguments: Any) -> str:
        result = self.call(tool, **arguments)
        assert result.is_error, result.structured_content
        [content] = result.content
        assert isinstance(content, TextContent)
        assert "Traceback" not in content.text
        assert 'File "' not in content.text
        return content.text

    def read(self, uri: str) -> dict[str, Any]:
        [content] = self.portal.call(self.client.read_resource, uri).contents
        assert isinstance(content, TextResourceContents)
        read: dict[str, Any] = json.loads(content.text)
        return read


def server_of(root: Path) -> StdioServerParameters:
    return StdioServerParameters(command=str(WHET), args=["mcp", "-C", str(root)], env=environment(), cwd="/")


@contextmanager
def coding_agent(root: Path) -> Iterator[CodingAgent]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(stdio_client(server_of(root)))) as client,
    ):
        yield CodingAgent(portal, client)


def git(root: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def at_work_in(root: Path) -> list[int]:
    """Processes that stand in the project or carry its path on their command line, but for this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                named = os.fsencode(root) in (entry / "cmdline").read_bytes()
                if named or (entry / "cwd").readlink().is_relative_to(root):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def soon(true: Callable[[], bool]) -> bool:
    until = time.monotonic() + SOON_SECONDS
    while not true():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
