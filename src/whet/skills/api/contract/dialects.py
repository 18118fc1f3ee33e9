"""Which dialect a document is written in, or what else it is."""

from collections.abc import Mapping

from whet.skills.api.contract.model import Dialect, Json
from whet.skills.api.contract.notes import Notes
from whet.skills.api.contract.refusing import refuse

_OTHERS = {
    "asyncapi": "an AsyncAPI document: it describes messages, not an HTTP API",
    "arazzo": "an Arazzo document: it describes workflows; the API's own document is named in its `sourceDescriptions`",
    "swaggerVersion": "written in Swagger 1, which is not read",
    "overlay": "an OpenAPI overlay, which has to be applied to a document first",
    "discoveryVersion": "a Google discovery document",
    "__schema": "a GraphQL schema",
}
_GIVE_OTHER = "Give the OpenAPI 3 or Swagger 2 document of the service."


def dialect_of(document: Mapping[str, Json], name: str, notes: Notes) -> Dialect:
    if (version := document.get("openapi")) is not None:
        return _openapi(_as_version(version), name, notes)
    if (version := document.get("swagger")) is not None:
        return _swagger(_as_version(version), name)
    for key, what in _OTHERS.items():
        if key in document:
            raise refuse(name, f"is {what}", _GIVE_OTHER)
    if isinstance(document.get("item"), list) and isinstance(document.get("info"), dict):
        raise refuse(name, "is a Postman collection", _GIVE_OTHER)
    remedy = 'Write its version at the top, for example `openapi: "3.1.0"`, or give another document.'
    raise refuse(name, "names neither `openapi` nor `swagger` as its version", remedy)


def _as_version(value: Json) -> str:
    """`3.0` without quotes is a number, in YAML and in JSON."""
    return str(value).strip().removeprefix("v")


def _openapi(version: str, name: str, notes: Notes) -> Dialect:
    if version.startswith("3.0") or version == "3":
        return "openapi-3.0"
    if version.startswith("3.1"):
        return "openapi-3.1"
    if version.startswith("3."):
        notes.add(f"OpenAPI {version} was read as 3.1; what is new in it was not.")
        return "openapi-3.1"
    if version.startswith("2"):
        return "swagger-2.0"
    raise refuse(name, f"is written in OpenAPI {version[:40]!r}; 2.0, 3.0 and 3.1 are read", _GIVE_OTHER)


def _swagger(version: str, name: str) -> Dialect:
    if version.startswith("2"):
        return "swagger-2.0"
    if version.startswith("3"):
        return "openapi-3.0"
    raise refuse(name, f"is written in Swagger {version[:40]!r}; 2.0 is read", _GIVE_OTHER)
