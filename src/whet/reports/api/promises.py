"""What the contract promises of an operation's answers, cut out of it, so that a test can check it on its own."""

from collections.abc import Iterator, Mapping

from whet.reports.api.model import Json, Promise
from whet.skills.api.contract.directions import HOME, Directed
from whet.skills.api.contract.model import Contract, Operation
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.faults import Kind


def promise_of(operation: Operation, contract: Contract, kind: Kind) -> Promise:
    if kind is not Kind.SCHEMA_VIOLATION:
        return Promise({answer.status: dict.fromkeys(answer.contents) for answer in operation.answers})
    schemas = Schemas(contract)
    directed = Directed(contract.dialect, "response", schemas.resolve, schemas.merged)

    def as_answered(schema: Json) -> Json:
        """The same schema that answers are judged by: without what only requests have."""
        return None if schema is None else _at_home(directed.schema(schema))

    answers = {one.status: {media: as_answered(s) for media, s in one.contents.items()} for one in operation.answers}
    headers = {one.status: {name: as_answered(s) for name, s in one.headers.items()} for one in operation.answers}
    definitions: dict[str, Json] = {}
    waiting = [*_references(answers), *_references(headers)]
    while waiting:
        reference = waiting.pop()
        if reference not in definitions:
            definitions[reference] = as_answered(schemas.resolve({"$ref": reference}))
            waiting.extend(_references(definitions[reference]))
    return Promise(answers, headers, definitions)


def _at_home(schema: Json) -> Json:
    """References within the document, which the test carries itself."""
    if isinstance(schema, Mapping):
        made = {key: _at_home(value) for key, value in schema.items()}
        if isinstance(reference := schema.get("$ref"), str):
            made["$ref"] = reference.removeprefix(HOME)
        return made
    return [_at_home(item) for item in schema] if isinstance(schema, list | tuple) else schema


def _references(document: Json) -> Iterator[str]:
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            if isinstance(reference := value.get("$ref"), str):
                yield reference
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
