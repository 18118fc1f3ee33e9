"""whet serve: REST, pages and metrics over this project's store.

Nothing heavy is imported before the command has begun, so that Ctrl-C ends it in good order from its first moment.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whet.cli.options import project_option

if TYPE_CHECKING:
    from whet.bootstrap.site import Site
    from whet.store.sql_store import SqlStore

# As shells count a program ended by Ctrl-C.
_INTERRUPTED = 130
_NEEDED = ("fastapi", "uvicorn", "jwt", "multipart", "prometheus_client")


@click.command()
@click.option("--host", help="The address to listen at.  [default: settings, 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="0: any that is free.  [default: settings, 8321]")
@project_option()
def serve(host: str | None, port: int | None, project: Path) -> None:
    """See and steer the fleet in a browser; the same for programs.

    \b
    The first start makes an admin key and shows it once. More of them:
      whet keys add "QA lead" --role reviewer
    It ends with Ctrl-C. Settings: [tool.whet.service], see docs/service.md.
    """
    try:
        _serve(host, port, project)
    except KeyboardInterrupt:  # before it could take requests; later it is how one ends it
        sys.exit(_INTERRUPTED)


def _serve(host: str | None, port: int | None, project: Path) -> None:
    require_service()
    from whet.bootstrap.site import open_site
    from whet.cli.output import say
    from whet.service.app import create_app
    from whet.service.listening import address, bound
    from whet.service.listening import serve as listen
    from whet.service.tracing import begin_tracing

    begin_tracing()
    site = open_site(project)
    at = host or site.settings.service.host
    with bound(at, site.settings.service.port if port is None else port) as taken, site.store() as store:
        app = create_app(site, store, host=at)
        say(f"Whet serves {site.project.name} at {address(taken)}")
        _tell_reach(at)
        _tell_first_key(site, store)
        listen(app, taken)
    say("Ended.")


def require_service() -> None:
    from whet.core.errors import MissingTool

    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise MissingTool(f"The service needs {', '.join(missing)}.", "Run pip install 'whet[service]'.")


def _tell_reach(host: str) -> None:
    from whet.cli.output import say
    from whet.service.listening import is_loopback

    if is_loopback(host):
        say("It listens on this machine only; others do not reach it.")
    else:
        say(
            f"It listens at {host}: whoever reaches this machine reaches it, and keys travel unencrypted.\n"
            "Put a proxy with TLS in front, and name its host in [tool.whet.service] allowed_hosts."
        )


def _tell_first_key(site: "Site", store: "SqlStore") -> None:
    from whet.cli.output import say
    from whet.cli.person import user
    from whet.core.people import Role
    from whet.core.records import now
    from whet.service.keys import mint, service_secret

    minted = mint(service_secret(site), f"{user()[:90]} (first)", Role.ADMIN)
    if store.people.add_first(minted.kept, user(), now()) is not None:
        say(f"First start. This admin key is shown once; keep it:\n\n    {minted.text}\n")
