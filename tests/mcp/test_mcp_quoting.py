"""Whatever a project says can be told: on the wire as text, without control characters, marked as data."""

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from whet.mcp.quoting import LONGEST_NAME, LONGEST_QUOTE, named, quoted, sentence

ANYTHING = st.text(st.characters(exclude_categories=()), max_size=200)  # lone surrogates and NUL too


@given(ANYTHING)
def test_nothing_unsafe_is_told(text: str) -> None:
    told = quoted(text)
    assert json.loads(told.model_dump_json()) == {"untrusted": True, "text": told.text}
    for each in (told.text.replace("\n", ""), named(text), sentence(text).replace("\n", "")):
        assert not {unicodedata.category(character) for character in each} & {"Cc", "Cf", "Cs"}


def test_long_texts_are_cut() -> None:
    assert len(quoted("long words " * 10_000).text) <= LONGEST_QUOTE + 1
    assert len(named("long words " * 10_000)) <= LONGEST_NAME + 1


def test_names_stay_as_they_are_unless_they_hold_a_secret() -> None:
    usual = "tests/test_täglich.py::TestCart::test_total[1-a b-None]"
    assert named(usual) == usual
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    assert secret not in named(f"test_a.py::test_login[{secret}]")
    assert secret not in sentence(f"{secret} is outside of the project.")
