"""JSON bodies: exactly what their schema says. Numbers are not made of text, and there is no NaN."""

from typing import Any, Final, Generic, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from whet.service.problems import Refused

T = TypeVar("T")
REFERENCE: Final = "#/components/schemas/{model}"
_EXACT: Final = 2**53
# Every body there is; what describes a route names its own by its place here.
BODIES: Final[list["Body[Any]"]] = []


class Body(Generic[T]):
    """A dependency that reads a body, and what /openapi.json says of it::

    _STARTED = Body(Start, {"agent": "test-executor"})

    @router.post("/start", openapi_extra=_STARTED.described)
    def start(asked: Annotated[Start, Depends(_STARTED)]) -> Started: ...
    """

    def __init__(self, shape: Any, example: dict[str, Any]) -> None:
        self._adapter: TypeAdapter[T] = TypeAdapter(shape)
        self._example = example
        self.described: dict[str, Any] = {"requestBody": {"$ref": str(len(BODIES))}}
        BODIES.append(self)

    async def __call__(self, request: Request) -> T:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refused(415, "A body is JSON here.", "Send it with the header Content-Type: application/json.")
        sent = await request.body()
        try:
            return self._validated(sent)
        except ValidationError as error:
            raise RequestValidationError(error.errors(include_url=False, include_input=False)) from None

    def _validated(self, sent: bytes) -> T:
        try:
            return self._adapter.validate_json(sent, strict=True)
        except ValidationError as error:
            if not any(each["type"] == "int_type" for each in error.errors(include_url=False, include_input=False)):
                raise
            return self._adapter.validate_json(to_json(_with_whole_numbers(from_json(sent))), strict=True)

    def description(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What stands where `described` refers to, and the schemas that it refers to in turn."""
        schema = self._adapter.json_schema(ref_template=REFERENCE)
        found: dict[str, Any] = schema.pop("$defs", {})
        content = {"application/json": {"schema": schema, "example": self._example}}
        return {"required": True, "content": content}, found


def _with_whole_numbers(value: Any) -> Any:
    """JSON knows one kind of number: 5.0 is whole, whoever wrote it."""
    match value:
        case float() if value.is_integer() and abs(value) < _EXACT:
            return int(value)
        case list():
            return [_with_whole_numbers(each) for each in value]
        case dict():
            return {name: _with_whole_numbers(each) for name, each in value.items()}
    return value
