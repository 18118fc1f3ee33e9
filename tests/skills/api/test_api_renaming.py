"""Another name still fits where the first one fitted."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.skills.api.library_contract import contract, post

from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft
from whet.skills.api.oracles.replaying import names, renamed
from whet.skills.api.renaming import other_name


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("9780141439518", r"97801\d{8}"),
        ("le5", r"[a-z]{2}\d"),
        ("+177598", r"\+[1-9][0-9]{5,14}"),
        ("kim@example.org", r"[a-z]{3}@example\.org"),
        ("deadbeef", r"[0-9a-f]{8}"),
        ("A Long Title", r"A Lo[a-z]{2} [A-Z][a-z]{4}"),
    ],
)
def test_letters_stay_letters_and_digits_digits(text: str, pattern: str) -> None:
    others = {other_name(text, random.Random(seed)) for seed in range(20)}
    assert all(re.fullmatch(pattern, other) for other in others), others
    assert len(others) > 15


@given(st.text(), st.integers())
def test_any_text_keeps_its_length(text: str, seed: int) -> None:
    assert len(other_name(text, random.Random(seed))) == len(text)


def test_what_the_contract_lists_or_formats_keeps_its_value() -> None:
    library = contract()
    body = {
        "title": "Emma", "kind": "novel", "isbn": "978-1234-AB", "printed": "1815-12-23", "pages": 12,
        "author": {"email": "jane@example.org", "name": "Jane"},
    }  # fmt: skip
    draft, schemas = Draft(post(library), body=body, media="application/json"), Schemas(library)
    assert {place[-1] for place in names(schemas, draft)} == {"title", "isbn", "email", "name"}
    other = renamed(schemas, draft, "1", fixed=[("body", "author", "name")]).body
    assert isinstance(other, dict)
    assert {name for name in body if other[name] != body[name]} == {"title", "isbn", "author"}
    assert other["author"]["name"] == "Jane"
    assert renamed(schemas, draft, "2").body != other, "another time, another name"
