"""Where the OpenAPI document is found when only the service's address is given."""

import json

import pytest
from tests.cli.api_services import DESK
from tests.skills.api.small_service import Answer, Heard, served

from whet.bootstrap.api_document import fetched
from whet.core.errors import WhetError

EMPTY = {**DESK, "paths": {}}


@pytest.mark.parametrize("elsewhere", ["<html>every path of an application in the browser</html>", EMPTY, None])
def test_a_page_or_an_empty_document_is_passed_by_for_the_one_with_operations(elsewhere: object) -> None:
    def answering(heard: Heard) -> Answer:
        if heard.path == "/api/openapi.json":
            return 200, DESK
        return (404, None) if elsewhere is None else (200, elsewhere)

    with served(answering) as small:
        text, where = fetched(small.url, 5.0)
    assert (json.loads(text), where) == (DESK, f"{small.url}/api/openapi.json")


def test_where_there_is_none_with_operations_the_first_is_told_of() -> None:
    with served(lambda heard: (200, EMPTY) if heard.path.endswith("openapi.json") else (404, None)) as small:
        assert fetched(small.url, 5.0) == (json.dumps(EMPTY).encode(), f"{small.url}/openapi.json")


def test_an_address_that_was_given_is_taken_as_it_is() -> None:
    with served(lambda _: (200, EMPTY)) as small:
        assert fetched(f"{small.url}/mine", 5.0)[1] == f"{small.url}/mine"
        assert len(small.heard) == 1


def test_a_service_without_a_document_is_told_so() -> None:
    with served(lambda _: (404, None)) as small, pytest.raises(WhetError, match="usual places"):
        fetched(small.url, 5.0)
