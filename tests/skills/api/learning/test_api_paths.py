"""Path templates as a tree."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.skills.api.learning.paths import collection_of, nameless, noun, prefix_of, prefixes, spoken

SEGMENTS = st.lists(
    st.from_regex(r"[a-z]{1,6}", fullmatch=True) | st.from_regex(r"\{[a-z]{1,6}\}", fullmatch=True), max_size=6
)
PATHS = SEGMENTS.map(lambda parts: "/" + "/".join(parts))


def test_prefixes_have_no_names_in_them() -> None:
    assert prefixes("/orders/{id}/lines/{line}") == (("/orders/{}", "id"), ("/orders/{}/lines/{}", "line"))
    assert prefixes("/orders/{order_id}")[0][0] == prefixes("/orders/{id}/lines")[0][0]
    assert prefixes("/health") == ()


@pytest.mark.parametrize(
    ("path", "collection", "called"),
    [
        ("/orders/{id}", "/orders", "orders"),
        ("/orders/{id}/", "/orders", "orders"),
        ("/orders/{id}/lines", "/orders/{}/lines", "lines"),
        ("/orders/{id}/lines/{line}", "/orders/{}/lines", "lines"),
        ("/flows/name/{name}", "/flows/name", "flows"),
        ("/users/by-email/{email}", "/users/by-email", "users"),
        ("/owners/{id}/keys/{key}", "/owners/{}/keys", "keys"),
        ("/{tenant}", "/", ""),
        ("/", "/", ""),
        ("/files/{name}.json", "/files/{}.json", "files"),
    ],
)
def test_collections_and_nouns(path: str, collection: str, called: str) -> None:
    assert collection_of(path) == collection
    if ".json" not in path:
        assert noun(path) == called


def test_a_parameter_leads_to_its_prefix() -> None:
    assert prefix_of("/orders/{id}/lines/{line}", "id") == "/orders/{}"
    assert prefix_of("/orders/{id}/lines/{line}", "absent") == "/orders/{}/lines/{}"
    assert "{" not in spoken("/orders/{id}/lines/{line}")


@given(PATHS)
def test_every_parameter_has_a_prefix_from_the_left(path: str) -> None:
    found = prefixes(path)
    assert [name for _, name in found] == re.findall(r"\{(\w+)\}", path)
    assert all(nameless(path).startswith(prefix) for prefix, _ in found)
    assert [len(prefix) for prefix, _ in found] == sorted(len(prefix) for prefix, _ in found)


@given(PATHS)
def test_a_collection_is_above_its_path_and_names_do_not_matter(path: str) -> None:
    assert (nameless(path) or "/").startswith(collection_of(path).rstrip("/"))
    assert collection_of(re.sub(r"\{\w+\}", "{other}", path)) == collection_of(path)
