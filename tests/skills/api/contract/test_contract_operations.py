"""Parameters, bodies, answers, links, servers and security of each dialect, in one form."""

from typing import Any

import pytest
from tests.skills.api.contract.made_contracts import answering, only, openapi, swagger

from whet.skills.api.contract.model import Body, Contract, Operation, Parameter, SecurityScheme
from whet.skills.api.contract.reading import read_contract

Json = Any
TEXT = {"type": "string"}


def with_parameters(*given: Json, path: str = "/thing", item: Json = (), old: bool = False) -> Contract:
    paths = {path: {"parameters": list(item), "get": {"parameters": list(given), "responses": {"200": {}}}}}
    return read_contract(swagger(paths) if old else openapi(paths))


def parameter(given: Json, *, old: bool = False) -> Parameter:
    (made,) = only(with_parameters(given, old=old)).parameters
    return made


def test_the_operation_overrides_the_path() -> None:
    item = [{"in": "query", "name": "a", "schema": TEXT}, {"in": "header", "name": "a", "schema": TEXT}]
    mine = {"in": "query", "name": "a", "required": True, "schema": {"type": "integer"}}
    made = only(with_parameters(mine, item=item)).parameters
    assert [(one.where, one.required, one.schema["type"]) for one in made] == [
        ("query", True, "integer"),
        ("header", False, "string"),
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"in": "query"}, ("form", True)),
        ({"in": "query", "explode": False}, ("form", False)),
        ({"in": "query", "style": "deepObject"}, ("deepObject", False)),
        ({"in": "query", "style": "matrix"}, ("form", True)),
        ({"in": "header"}, ("simple", False)),
        ({"in": "cookie"}, ("form", True)),
    ],
)
def test_styles(given: Json, expected: Json) -> None:
    made = parameter({"name": "a", "schema": TEXT, **given})
    assert (made.style, made.explode) == expected


@pytest.mark.parametrize(
    ("collection", "expected"),
    [("csv", ("form", False)), ("multi", ("form", True)), ("ssv", ("spaceDelimited", False)),
     ("pipes", ("pipeDelimited", False)), (None, ("form", False)), (7, ("form", False))],
)  # fmt: skip
def test_collection_formats(collection: Json, expected: Json) -> None:
    given = {"in": "query", "name": "a", "type": "array", "items": TEXT, "collectionFormat": collection}
    made = parameter(given, old=True)
    assert (made.style, made.explode) == expected
    assert made.schema == {"type": "array", "items": TEXT}


def test_a_parameter_written_in_a_media_type() -> None:
    content = {"application/json": {"schema": {"type": "object"}, "example": {"a": 1}}}
    made = parameter({"in": "query", "name": "a", "content": content})
    assert (made.media, made.schema, made.examples) == ("application/json", {"type": "object"}, ({"a": 1},))


def test_examples_are_gathered_once_each() -> None:
    several = {"one": {"value": 1}, "two": {"value": 2}, "far": {"externalValue": "http://x"}}
    assert parameter({"in": "query", "name": "a", "schema": TEXT, "example": 1, "examples": several}).examples == (1, 2)


def test_the_path_template_decides() -> None:
    gone = {"in": "path", "name": "gone", "schema": TEXT}
    contract = with_parameters(gone, {"name": "b", "schema": {"type": "integer"}}, path="/x/{a}/y/{b}")
    made = {one.name: one for one in only(contract).parameters}
    assert made["a"] == Parameter("a", "path", True, TEXT, "simple", False)
    assert (made["b"].where, made["b"].required, made["b"].schema) == ("path", True, {"type": "integer"})
    assert set(made) == {"a", "b"}
    assert len(contract.notes) == 2


@pytest.mark.parametrize("broken", [3, None, {}, {"name": "a", "in": "moon"}, {"name": 3, "in": "query"}, {"in": []}])
def test_a_broken_parameter_is_left_out_alone(broken: Json) -> None:
    contract = with_parameters(broken, {"in": "query", "name": "ok", "schema": TEXT})
    assert [one.name for one in only(contract).parameters] == ["ok"]
    assert contract.notes


def test_media_types_are_no_parameters() -> None:
    assert only(with_parameters({"in": "header", "name": "Accept", "schema": TEXT})).parameters == ()


def swagger_bodies(*given: Json, **more: Json) -> tuple[Body, ...]:
    return only(read_contract(swagger({"/a": {"post": {"parameters": list(given), **more, "responses": {}}}}))).bodies


def test_swagger_bodies() -> None:
    body = {"in": "body", "name": "x", "required": True, "schema": {"type": "integer"}}
    assert swagger_bodies(body) == (Body("application/json", {"type": "integer"}, True),)
    both = swagger_bodies(body, consumes=["application/xml", "text/json"])
    assert [one.media for one in both] == ["application/xml", "text/json"]


def test_swagger_forms() -> None:
    field = {"in": "formData", "name": "f", "type": "array", "items": TEXT, "collectionFormat": "multi"}
    (form,) = swagger_bodies(field, {"in": "formData", "name": "n", "type": "integer", "required": True})
    assert (form.media, form.required) == ("application/x-www-form-urlencoded", True)
    assert form.schema["properties"] == {"f": {"type": "array", "items": TEXT}, "n": {"type": "integer"}}
    assert form.schema["required"] == ["n"]
    assert form.encoding == {"f": {"style": "form", "explode": True}}
    (upload,) = swagger_bodies({"in": "formData", "name": "f", "type": "file"})
    assert upload.media == "multipart/form-data"
    assert upload.schema["properties"]["f"] == {"type": "string", "format": "binary"}


def test_bodies_by_media_type() -> None:
    encoding = {"photo": {"contentType": "image/png"}}
    content = {"application/json": {"schema": TEXT, "example": "a"}, "multipart/form-data": {"encoding": encoding}}
    paths = {"/a": {"post": {"requestBody": {"content": content}, "responses": {}}}}
    assert only(read_contract(openapi(paths))).bodies == (
        Body("application/json", TEXT, False, ("a",)),
        Body("multipart/form-data", {}, False, (), encoding),
    )


def test_answers() -> None:
    answers = {"200": {"description": ""}, "4xx": {}, "DEFAULT": {}, "x-more": {}, "teapot": {}, "99": {}}
    contract = read_contract(openapi({"/a": {"get": {"responses": answers}}}))
    assert [one.status for one in only(contract).answers] == ["200", "4XX", "default"]
    assert len(contract.notes) == 2
    operation = only(contract)
    assert operation.answer(404) is operation.answers[1]
    assert operation.answer(500) is operation.answers[2]


def test_answers_of_swagger() -> None:
    answers = {"200": {"schema": TEXT, "headers": {"X-Left": {"type": "integer"}}}, "204": {"description": "gone"}}
    paths = {"/a": {"get": {"produces": ["text/plain"], "responses": answers}}, "/b": {"get": {"responses": answers}}}
    first, second = read_contract(swagger(paths)).operations
    assert first.answers[0].contents == {"text/plain": TEXT}
    assert first.answers[0].headers == {"X-Left": {"type": "integer"}}
    assert first.answers[1].contents == {}
    assert second.answers[0].contents == {"*/*": TEXT}


def test_no_answers_is_noted() -> None:
    contract = read_contract(openapi({"/a": {"get": {}}}))
    assert only(contract).answers == ()
    assert contract.notes == ("GET /a: it names no answers; any is taken to be allowed.",)


def test_links_find_their_operation() -> None:
    links = {
        "byName": {"operationId": "show", "parameters": {"id": "$response.body#/id"}},
        "byPlace": {"operationRef": "#/paths/~1things~1{id}/get", "parameters": {"path.id": 3}},
        "lost": {"operationId": "nobody"},
    }
    create = {"responses": {"201": {"description": "", "links": links}}}
    show = {"operationId": "show", "responses": {"200": {}}}
    contract = read_contract(openapi({"/things": {"post": create}, "/things/{id}": {"get": show}}))
    made = contract.operations[0].answers[0].links
    assert [(one.name, one.operation, dict(one.parameters)) for one in made] == [
        ("byName", "GET /things/{id}", {"id": "$response.body#/id"}),
        ("byPlace", "GET /things/{id}", {"path.id": 3}),
    ]


@pytest.mark.parametrize(
    ("servers", "base"),
    [
        ([{"url": "https://x.example/v1/"}], "/v1"), ([{"url": "/api"}, {"url": "/b"}], "/api"),
        ([{"url": "api"}], "/api"),
        ([{"url": "https://x/{v}", "variables": {"v": {"default": "v2"}}}], "/v2"), ([{"url": "/"}], ""), ([], ""),
        ([{"url": "http://[::1/x"}], ""), ("nonsense", ""), ([3, {"url": "/c"}], "/c"), ([{}], ""),
    ],
)  # fmt: skip
def test_base_path(servers: Json, base: str) -> None:
    assert read_contract(openapi(answering({}), servers=servers)).base_path == base


def test_base_path_of_swagger_and_own_servers() -> None:
    assert read_contract(swagger(answering({}), basePath="/v3/", host="elsewhere")).base_path == "/v3"
    contract = read_contract(openapi(answering({}, servers=[{"url": "/other"}]), servers=[{"url": "/v1"}]))
    assert contract.base_path == "/v1"
    assert "its own server with the path '/other' was ignored" in contract.notes[0]


def secured(wanted: Json, schemes: Json, **more: Json) -> Operation:
    return only(read_contract(openapi(answering({}, **wanted), components={"securitySchemes": schemes}, **more)))


def test_security() -> None:
    known = {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}, "basic": {"type": "http", "scheme": "Basic"}}
    both: Json = [{"key": [], "basic": []}, {}]
    assert secured({}, known, security=both).security == (frozenset({"key", "basic"}), frozenset())
    assert secured({"security": []}, known, security=both).security == ()
    assert secured({"security": [{"nobody": []}, {"key": []}]}, known).security == (frozenset({"key"}),)


def test_security_schemes() -> None:
    flows = {"password": {"tokenUrl": "/t", "scopes": {"read": "", "write": ""}}, "implicit": {"scopes": {"admin": ""}}}
    given = {
        "key": {"type": "apiKey", "in": "cookie", "name": "sid"},
        "bearer": {"type": "http", "scheme": "bearer"},
        "oauth": {"type": "oauth2", "flows": flows},
        "other": {"type": "openIdConnect"},
        "broken": 3,
    }
    made = read_contract(openapi(answering({}), components={"securitySchemes": given})).security_schemes
    assert made == {
        "key": SecurityScheme("key", "api-key", "cookie", "sid"),
        "bearer": SecurityScheme("bearer", "bearer"),
        "oauth": SecurityScheme("oauth", "oauth2", token_url="/t", scopes=("read", "write", "admin")),  # noqa: S106
        "other": SecurityScheme("other", "other"),
    }
    old = {"type": "oauth2", "flow": "application", "tokenUrl": "/t", "scopes": {"a": ""}}
    (scheme,) = read_contract(swagger(answering({}), securityDefinitions={"o": old})).security_schemes.values()
    assert (scheme.token_url, scheme.scopes) == ("/t", ("a",))


def test_what_the_service_sends_by_itself_is_ignored_with_a_note() -> None:
    document = openapi(answering({}, callbacks={"done": {}}), version="3.1.0", webhooks={"new": {}})
    assert [note for note in read_contract(document).notes if "the service makes" in note] != []
    assert len(read_contract(document).notes) == 2


def test_one_bad_operation_does_not_lose_the_others() -> None:
    paths = {"/a": {"get": "nonsense", "post": {"responses": {}}}, "/b": 3, "c": {"GET": {"operationId": []}}}
    contract = read_contract(openapi(paths))
    assert [one.id for one in contract.operations] == ["POST /a", "GET /c"]


def test_operation_ids_may_come_twice() -> None:
    paths = {"/a": {"get": {"operationId": "x", "responses": {}}, "post": {"operationId": "x", "responses": {}}}}
    contract = read_contract(openapi(paths))
    assert [one.name for one in contract.operations] == ["x", "x"]
    assert any("is that of GET /a too" in note for note in contract.notes)


@pytest.mark.parametrize(
    ("version", "dialect"),
    [({"openapi": "3.0.4"}, "openapi-3.0"), ({"openapi": 3.1}, "openapi-3.1"), ({"openapi": "3.2.0"}, "openapi-3.1"),
     ({"swagger": 2.0}, "swagger-2.0"), ({"swagger": "2.0"}, "swagger-2.0")],
)  # fmt: skip
def test_dialects(version: Json, dialect: str) -> None:
    assert read_contract({**version, "paths": answering({})}).dialect == dialect
