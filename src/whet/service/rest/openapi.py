"""GET /openapi.json: what there is to ask for, with examples."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.openapi.utils import get_openapi

from whet.core.people import Person, Role
from whet.service.access import require
from whet.service.problems import Problem
from whet.service.rest.bodies import BODIES

router = APIRouter(include_in_schema=False)


@router.get("/openapi.json")
def described(request: Request, _person: Annotated[Person, Depends(require(Role.VIEWER))]) -> dict[str, Any]:
    return description(request.app)


def description(app: FastAPI) -> dict[str, Any]:
    """Made once. Bodies are read by ourselves, so they are described by ourselves."""
    if app.openapi_schema is None:
        bodies = [body.description() for body in BODIES]
        made = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes, tags=TAGS)
        for operation in (operation for item in made["paths"].values() for operation in item.values()):
            if "requestBody" in operation:
                operation["requestBody"] = bodies[int(operation["requestBody"]["$ref"])][0]
        components = made.setdefault("components", {})
        components["schemas"] = {name: schema for _, found in bodies for name, schema in found.items()} | {
            "Problem": Problem.model_json_schema(),
            **components.get("schemas", {}),
        }
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"key": []}]
        app.openapi_schema = made
    return app.openapi_schema


TAGS = [
    {"name": "deciding", "description": "What would the fleet do here?"},
    {"name": "learning", "description": "What came of it, and what is made of that."},
    {"name": "models", "description": "Who decides."},
    {"name": "memory", "description": "What is remembered."},
    {"name": "rewards", "description": "What outcomes are worth."},
    {"name": "lists", "description": "What happened, newest first."},
]
