"""The path that all operations share. Hosts are not taken from a document: requests go where the user says."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from whet.skills.api.contract.model import Json
from whet.skills.api.contract.source import Source, entries, listed, worded

Node = Mapping[str, Json]
_VARIABLE = re.compile(r"\{([^{}]+)\}")


def base_path(source: Source) -> str:
    if source.is_swagger:
        return _as_base(worded(source.document, "basePath"))
    return _first_server(source, source.document) or ""


def note_own_servers(source: Source, node: Node, base: str, where: str) -> None:
    own = _first_server(source, node)
    if own is not None and own != base and not source.is_swagger:
        source.note(where, f"its own server with the path {own or '/'!r} was ignored; {base or '/'!r} is used.")


def _first_server(source: Source, node: Node) -> str | None:
    server = next((one for one in listed(node, "servers") if isinstance(one, dict)), None)
    if server is None:
        return None
    url = _filled(worded(server, "url"), dict(entries(server, "variables")))
    try:
        return _as_base(urlsplit(url).path)
    except ValueError:
        source.note("servers", f"{url!r} is no address and was ignored.")
        return ""


def _filled(url: str, variables: Mapping[str, Json]) -> str:
    def value(found: re.Match[str]) -> str:
        variable = variables.get(found.group(1))
        default = variable.get("default") if isinstance(variable, dict) else None
        return found.group(0) if default is None else str(default)

    return _VARIABLE.sub(value, url)


def _as_base(path: str) -> str:
    inner = path.strip().strip("/")
    return f"/{inner}" if inner else ""
