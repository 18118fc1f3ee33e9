"""What every route may answer besides what it is asked for."""

from typing import Any, Final

from whet.service.problems import MEDIA_TYPE

_CONTENT: Final = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
_TOLD: Final = {
    401: "No credentials, or wrong ones.",
    403: "The key has not the role for this.",
    404: "There is no such thing.",
    409: "That is not possible as things stand.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "What was sent is not what is asked for.",
    429: "Too many requests.",
    503: "The store is busy.",
}
PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"description": told, "content": _CONTENT} for status, told in _TOLD.items()
}
