"""Who may come in: the schemes of the document, and the sets of them that an operation asks for."""

from collections.abc import Iterator, Mapping
from typing import Literal

from whet.skills.api.contract.model import Json, SecurityScheme
from whet.skills.api.contract.source import Source, entries, worded

Node = Mapping[str, Json]
Place = Literal["query", "header", "cookie"]
_PLACES: dict[str, Place] = {"query": "query", "header": "header", "cookie": "cookie"}
# The flows that a program can go through without a person at a browser, the likelier ones first.
_FLOWS = ("clientCredentials", "application", "password")


def schemes(source: Source) -> dict[str, SecurityScheme]:
    components = source.document if source.is_swagger else source.document.get("components")
    key = "securityDefinitions" if source.is_swagger else "securitySchemes"
    made: dict[str, SecurityScheme] = {}
    for name, one in entries(components, key):
        node = source.follow(one, f"security scheme {name}")
        if node is not None:
            made[name] = _scheme(name, node)
    return made


def _scheme(name: str, node: Node) -> SecurityScheme:
    kind = worded(node, "type").lower()
    if kind == "apikey" and worded(node, "in") in _PLACES and worded(node, "name"):
        return SecurityScheme(name, "api-key", _PLACES[node["in"]], node["name"])
    if kind == "basic" or (kind == "http" and worded(node, "scheme").lower() == "basic"):
        return SecurityScheme(name, "basic")
    if kind == "bearer" or (kind == "http" and worded(node, "scheme").lower() == "bearer"):
        return SecurityScheme(name, "bearer")
    return _oauth2(name, node) if kind == "oauth2" else SecurityScheme(name, "other")


def _oauth2(name: str, node: Node) -> SecurityScheme:
    flows = dict(entries(node, "flows")) or {worded(node, "flow"): node}  # Swagger has one, in place
    scopes = dict.fromkeys(scope for flow in flows.values() for scope, _ in entries(flow, "scopes"))
    addresses = (worded(flows[one], "tokenUrl") for one in _FLOWS if isinstance(flows.get(one), dict))
    token_url = next((one for one in addresses if one), None)
    return SecurityScheme(name, "oauth2", token_url=token_url, scopes=tuple(scopes))


def security(
    source: Source, operation: Node, known: Mapping[str, SecurityScheme], where: str
) -> tuple[frozenset[str], ...]:
    wanted = operation.get("security", source.document.get("security"))
    return tuple(_sets(source, wanted, known, where))


def _sets(source: Source, wanted: Json, known: Mapping[str, SecurityScheme], where: str) -> Iterator[frozenset[str]]:
    for one in wanted if isinstance(wanted, list) else []:
        if not isinstance(one, dict):
            continue
        unknown = [name for name in one if name not in known]
        if unknown:
            source.note(where, f"the security scheme {unknown[0]!r} is not declared; what asks for it was left out.")
        else:
            yield frozenset(one)
