"""Whether a draft says something that the contract does not know.

A schema that lists properties and is silent about others allows them all, by the letter; few authors mean that. So a
service that refuses unknown ones contradicts nothing, and one that takes them does no harm. Where a contract says
itself that more may come (`additionalProperties`, an object without listed properties), it is meant.
"""

from collections.abc import Mapping

from whet.skills.api.contract.model import Json, Schema
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import NO_BODY, Draft
from whet.skills.api.oracles.alternatives import TOGETHER, branches

_DEEPEST = 8
_OPEN = frozenset(
    {"additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames", "if", "dependentSchemas"}
)


def undeclared(schemas: Schemas, draft: Draft) -> bool:
    """A query parameter or a property of the body that nobody declared."""
    parameters = {one.name for one in draft.operation.parameters if one.where == "query"}
    if not draft.query.keys() <= parameters:
        return True
    bodies = draft.operation.bodies
    body = next((one for one in bodies if one.media == draft.media), bodies[0] if bodies else None)
    return body is not None and draft.body is not NO_BODY and _unknown(schemas, [body.schema], draft.body, 0)


def _unknown(schemas: Schemas, schema: list[Json], value: Json, depth: int) -> bool:
    """`schema`: all that may describe the value, of which alternatives count together."""
    known = [branch for one in schema for branch in branches(schemas, one)]
    if depth > _DEEPEST or not known:
        return False
    if isinstance(value, list):
        items = [one["items"] for one in known if isinstance(one.get("items"), Mapping)]
        return any(_unknown(schemas, items, entry, depth + 1) for entry in value)
    if not isinstance(value, dict):
        return False
    named = [one["properties"] for one in known if isinstance(one.get("properties"), Mapping)]
    if not any(map(_open, known)) and not all(any(name in properties for properties in named) for name in value):
        return True
    return any(
        _unknown(schemas, [properties[name] for properties in named if name in properties], inner, depth + 1)
        for name, inner in value.items()
    )


def _open(branch: Schema) -> bool:
    """More may come: the contract says so, or lists nothing of an object."""
    if any(branch.get(key, False) is not False for key in _OPEN):
        return True
    kinds = branch.get("type", "object")
    return "object" in kinds and not any(key in branch for key in ("properties", *TOGETHER))
