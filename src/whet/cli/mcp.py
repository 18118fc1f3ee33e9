"""whet mcp: the fleet for coding agents, over standard input and output."""

import signal
from importlib.util import find_spec
from pathlib import Path

import click

from whet.bootstrap.site import open_site
from whet.cli.options import project_option
from whet.core.errors import MissingTool


@click.command()
@project_option()
def mcp(project: Path) -> None:
    """Serve this project to a coding agent that speaks the Model Context Protocol.

    The agent starts this command itself; docs/mcp.md has the lines for its configuration. Standard output carries the
    protocol alone. It ends when the agent closes its standard input.
    """
    root = open_site(project).project.root
    if find_spec("mcp") is None:
        raise MissingTool("whet mcp needs mcp, which is not installed.", "Run pip install 'whet[mcp]'.")
    from whet.mcp.server import server

    # Ctrl-C ends it at once, and with it whatever runs: politely, it would wait for its standard input to close.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    server(root).run("stdio")
