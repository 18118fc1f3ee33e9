"""Small documents for the tests of contracts."""

from typing import Any

from whet.skills.api.contract.model import Contract, Operation
from whet.skills.api.contract.reading import read_contract

Json = Any


def openapi(paths: Json, *, version: str = "3.0.3", **more: Json) -> dict[str, Json]:
    return {"openapi": version, "info": {"title": "Shop", "version": "1"}, "paths": paths, **more}


def swagger(paths: Json, **more: Json) -> dict[str, Json]:
    return {"swagger": "2.0", "info": {"title": "Shop", "version": "1"}, "paths": paths, **more}


def answering(schema: Json, **more: Json) -> Json:
    """One GET /thing whose 200 has this schema."""
    content = {"application/json": {"schema": schema}}
    return {"/thing": {"get": {"responses": {"200": {"description": "", "content": content}}, **more}}}


def taking(schema: Json) -> Json:
    """One POST /thing whose body has this schema."""
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return {"/thing": {"post": {"requestBody": body, "responses": {"200": {"description": ""}}}}}


def only(contract: Contract) -> Operation:
    (operation,) = contract.operations
    return operation


def answer_schema(document: Json) -> Json:
    """The schema of the one answer, normalised."""
    return only(read_contract(document)).answers[0].contents["application/json"]
